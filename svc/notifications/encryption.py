"""Encrypts a push message for one browser: RFC 8291 over RFC 8188 (``aes128gcm``), one record.

These are thirty lines over ``cryptography``, which is installed anyway. The existing libraries use the same calls:
``http_ece`` adds the older drafts, and ``pywebpush`` brings two HTTP clients that we may not use, since outgoing
requests go through the pinned egress. The tests decrypt the result with ``http_ece``, and check the example of RFC
8291.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, Final

from svc.errors import Invalid

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

MAX_PLAIN_BYTES: Final = 3_993
"""The size that every push service accepts (RFC 8291, section 4)."""

_RECORD_BYTES: Final = 4_096
_SALT_BYTES: Final = 16
_LAST_RECORD: Final = b"\x02"


def encrypt(
    plain: bytes,
    *,
    public_key: bytes,
    secret: bytes,
    salt: bytes | None = None,
    own_key: EllipticCurvePrivateKey | None = None,
) -> bytes:
    """The body of the request. ``public_key`` (an uncompressed point) and ``secret`` are the browser's.

    ``salt`` and ``own_key`` are new for each message; only tests pass them. Raises :class:`Invalid` for a key that is
    not a point of the curve.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if len(plain) > MAX_PLAIN_BYTES:
        raise ValueError(f"a push message has at most {MAX_PLAIN_BYTES} bytes")
    try:
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public_key)
    except ValueError as error:
        raise Invalid("This is not the key of a push subscription.") from error
    mine = own_key or ec.generate_private_key(ec.SECP256R1())
    salt = salt or os.urandom(_SALT_BYTES)
    point = mine.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    shared = mine.exchange(ec.ECDH(), theirs)
    keying = _derived(shared, salt=secret, info=b"WebPush: info\0" + public_key + point, length=32)
    key = _derived(keying, salt=salt, info=b"Content-Encoding: aes128gcm\0", length=16)
    nonce = _derived(keying, salt=salt, info=b"Content-Encoding: nonce\0", length=12)
    head = salt + struct.pack(">IB", _RECORD_BYTES, len(point)) + point
    return head + AESGCM(key).encrypt(nonce, plain + _LAST_RECORD, None)


def _derived(material: bytes, *, salt: bytes, info: bytes, length: int) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(material)
