"""A domain that signs its mail: its key, the record that publishes it, and the bytes that leave."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import lru_cache

import dkim
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

SELECTOR = "sel"
COVERED = ("from", "to", "subject", "list-unsubscribe", "list-unsubscribe-post")


def key_of(bits: int = 2_048) -> tuple[bytes, bytes]:
    """The private key, and the record under its name. One for each size: making them takes long."""
    return _made(bits)


@lru_cache
def _made(bits: int) -> tuple[bytes, bytes]:
    key = rsa.generate_private_key(65_537, bits)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private, b"v=DKIM1; k=rsa; p=" + base64.b64encode(public)


def name_of(domain: str) -> str:
    return f"{SELECTOR}._domainkey.{domain}"


def signed(
    raw: bytes,
    domain: str = "example.org",
    *,
    bits: int = 2_048,
    covered: Sequence[str] = COVERED,
    length: bool = False,
    algorithm: bytes = b"rsa-sha256",
) -> bytes:
    """``raw`` with the signature of ``domain`` over these fields, as far as they are there."""
    signature = dkim.DKIM(raw).sign(
        SELECTOR.encode(),
        domain.encode(),
        key_of(bits)[0],
        include_headers=[one.encode() for one in covered],
        length=length,
        signature_algorithm=algorithm,
        canonicalize=(b"relaxed", b"relaxed"),
    )
    return bytes(signature) + raw
