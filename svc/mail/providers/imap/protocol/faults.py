"""What makes a dialogue with a server impossible to go on with."""

from __future__ import annotations


class ProtocolFault(Exception):
    """The server did not speak IMAP, or too much of it. ``detail`` completes "The mail server …"."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail
