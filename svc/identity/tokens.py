"""Secrets that give access: made here, shown once, stored only as SHA-256 digests.

The time of a look-up by digest reveals nothing, because a caller who does not know the secret can't choose its digest.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

DEVICE_TOKEN_PREFIX: Final = "sdt_"  # noqa: S105  the spec's prefix
_TOKEN_BYTES: Final = 32
_PAIRING_ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # no look-alike characters
_PAIRING_LENGTH: Final = 10  # 50 bits, five minutes, and a rate limit
_MAX_SECRET_CHARS: Final = 512


def new_token() -> str:
    """256 bits, for cookies, invites, tickets and links."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def new_device_token() -> str:
    return DEVICE_TOKEN_PREFIX + new_token()


def new_pairing_code() -> str:
    """``7KQ2M-XW4RT``: short enough to type."""
    code = "".join(secrets.choice(_PAIRING_ALPHABET) for _ in range(_PAIRING_LENGTH))
    return f"{code[:5]}-{code[5:]}"


def normal_pairing_code(typed: str) -> str:
    """The typed code without spaces and dashes, in capitals; cut to one symbol more than a code has."""
    return "".join(symbol for symbol in typed.upper() if symbol.isalnum())[: _PAIRING_LENGTH + 1]


def digest(secret: str) -> str:
    """SHA-256, hex. An overlong secret matches nothing, and costs no more than one of the right length."""
    return hashlib.sha256(secret[:_MAX_SECRET_CHARS].encode("utf-8", "replace")).hexdigest()
