"""The opening handshake of a WebSocket (RFC 6455, 4.2): what counts as one, and how anything else is refused.

Pure. It decides nothing about the identity of the client.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

from svc.errors import Invalid, Refusal
from svc.protocol.messages import Request

_VERSION: Final = "13"
_KEY_BYTES: Final = 16


def check_handshake(request: Request) -> None:
    """Refuse anything but an opening handshake (RFC 6455 section 4.2.1): 426 for another version or no upgrade, else
    400."""
    offered = {"sec-websocket-version": _VERSION, "upgrade": "websocket", "connection": "upgrade"}
    if "websocket" not in _tokens(request, "upgrade") or "upgrade" not in _tokens(request, "connection"):
        raise Refusal("This address speaks WebSocket only.", code="upgrade_required", headers=offered)
    if request.method != "GET":
        raise Invalid("A WebSocket handshake is a GET request.")
    if request.body.declared_length != 0:
        raise Invalid("A WebSocket handshake has no body.")
    versions = request.headers.all("sec-websocket-version")
    if not versions:
        raise Invalid("The header Sec-WebSocket-Version is missing.")
    if versions != [_VERSION]:
        raise Refusal("Only version 13 of WebSocket is spoken here.", code="upgrade_required", headers=offered)
    keys = request.headers.all("sec-websocket-key")
    if len(keys) != 1 or not _is_nonce(keys[0]):
        raise Invalid("The header Sec-WebSocket-Key must be the base64 text of 16 bytes, once.")


def _tokens(request: Request, name: str) -> set[str]:
    return {token.strip().lower() for value in request.headers.all(name) for token in value.split(",")}


def _is_nonce(key: str) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == _KEY_BYTES
    except (binascii.Error, ValueError):
        return False
