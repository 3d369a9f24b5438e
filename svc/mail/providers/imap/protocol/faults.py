"""The error after which a connection to a server can't go on."""

from __future__ import annotations


class ProtocolFault(Exception):
    """The server broke the protocol, or sent too much. ``detail`` completes the sentence "The mail server …"."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail
