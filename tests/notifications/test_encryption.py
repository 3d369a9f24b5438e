"""A push message is what RFC 8291 says, and what another implementation reads."""

from __future__ import annotations

import base64
import os

import http_ece
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from svc.errors import Invalid
from svc.notifications.encryption import MAX_PLAIN_BYTES, encrypt


def raw(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def key(text: str) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(raw(text), "big"), ec.SECP256R1())


def test_the_example_of_the_rfc_comes_out_byte_for_byte() -> None:
    """RFC 8291, section 5 and appendix A."""
    body = encrypt(
        b"When I grow up, I want to be a watermelon",
        public_key=raw("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
        secret=raw("BTBZMqHH6r4Tts7J_aSIgg"),
        salt=raw("DGv6ra1nlYgDCS1FRnbzlw"),
        own_key=key("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
    )
    assert body == raw(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml"
        "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
        "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )


@pytest.mark.parametrize("size", [0, 1, 140, MAX_PLAIN_BYTES])
def test_another_implementation_reads_what_we_wrote(size: int) -> None:
    theirs, secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
    point = theirs.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    plain = os.urandom(size)
    body = encrypt(plain, public_key=point, secret=secret)
    assert len(body) <= 4_096
    assert http_ece.decrypt(body, private_key=theirs, auth_secret=secret, version="aes128gcm") == plain


def test_what_is_no_key_or_too_long_is_refused() -> None:
    with pytest.raises(Invalid):
        encrypt(b"x", public_key=b"\x04" + bytes(64), secret=bytes(16))
    with pytest.raises(ValueError, match="3993"):
        encrypt(bytes(MAX_PLAIN_BYTES + 1), public_key=b"", secret=b"")
