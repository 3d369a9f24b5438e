"""The data that a sign-in carries through its round trip: its invite, the page to open afterwards, and its nonce.

Theory. The invite gives access, so it must not be readable in the database. The browser that began has a key in a
cookie, of which we keep only the digest. So the data are encrypted under that key, and the nonce is derived from it: a
copy of the database reveals nothing, and the callback of another browser can't be decrypted.

Owns the encryption and the rule about the addresses a person may be sent to after a sign-in.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import re
from typing import Final
from urllib.parse import unquote

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from svc.identity.oauth_states import OAuthState

HOME: Final = "/"
MAX_NEXT_CHARS: Final = 2_000
MAX_INVITE_CHARS: Final = 512

_NONCE_BYTES: Final = 12
_DATA_KEY: Final = "luggage"
"""The label of the derived key. It stays as it is, because sign-ins that are under way are encrypted with it."""
_DECODINGS_MAX: Final = 3
_URL_SYMBOLS: Final = re.compile(r"/[A-Za-z0-9\-._~!$&'()*+,;=:@/?%#]*")
_STEERS: Final = re.compile(r"//|\\|[^\x20-\x7e\xa0-\ud7ff\ue000-\U0010ffff]|(?:^|/)\.\.?(?:/|$)")
_NOT_A_PLACE: Final = ("/auth/", "/oauth/", "/trpc/")
"""Paths where a GET ends the session or returns no page: nobody is sent there."""


class CarriedData(msgspec.Struct, frozen=True, kw_only=True):
    invite: str | None = None
    next: str = HOME


def sealed(carried: CarriedData, *, browser_key: str) -> str:
    nonce = os.urandom(_NONCE_BYTES)
    ciphertext = AESGCM(_derived(browser_key, _DATA_KEY)).encrypt(nonce, msgspec.json.encode(carried), None)
    return base64.urlsafe_b64encode(nonce + ciphertext).decode()


def opened(ended: OAuthState) -> CarriedData:
    """The decrypted data; empty where they can't be decrypted."""
    try:
        raw = base64.urlsafe_b64decode(ended.payload)
        plain = AESGCM(_derived(ended.browser_key, _DATA_KEY)).decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], None)
        return msgspec.json.decode(plain, type=CarriedData)
    except (binascii.Error, ValueError, InvalidTag, msgspec.DecodeError):
        return CarriedData()


def nonce_of(trip: OAuthState) -> str:
    """The nonce: the same at the start and the end of one round trip, different for every other."""
    return _derived(trip.browser_key, f"nonce {trip.state}").hex()


def safe_next(wanted: str) -> str:
    """``wanted`` if it is a path on this very origin and can be read as nothing else; else ``/``.

    Browsers read ``//``, ``/\\`` and a tab between slashes as the start of another host; what is written in percent
    signs may be decoded on the way, once or more often.
    """
    if len(wanted) > MAX_NEXT_CHARS or not _URL_SYMBOLS.fullmatch(wanted):
        return HOME
    path = re.split(r"[?#]", wanted, maxsplit=1)[0]
    for _ in range(_DECODINGS_MAX):
        if _STEERS.search(path) or f"{path.lower()}/".startswith(_NOT_A_PLACE):
            return HOME
        decoded = unquote(path, errors="surrogateescape")
        if decoded == path:
            return wanted
        path = decoded
    return HOME


def _derived(browser_key: str, purpose: str) -> bytes:
    return hmac.digest(browser_key.encode(), f"svc sign-in: {purpose}".encode(), "sha256")
