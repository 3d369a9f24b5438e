"""Refuses a WebSocket message by the lengths that its frames announce, before their content arrives (RFC 6455, 5.2).

wsproto asks each extension about the head of each frame. This one negotiates nothing and changes nothing. Owns the
count of one connection's current message.
"""

from __future__ import annotations

from typing import Final

from wsproto.extensions import Extension
from wsproto.frame_protocol import CloseReason, FrameDecoder, FrameProtocol, Opcode, RsvBits

_NO_BITS: Final = RsvBits(False, False, False)


class MessageBound(Extension):
    """A message whose frames announce more than ``most`` bytes is a fault with code 1009."""

    name = "svc-message-bound"  # never offered to a client

    def __init__(self, most: int) -> None:
        self._most = most
        self._before = 0  # bytes of the message in its frames so far
        self._length = 0  # of the current frame; 0 for a control frame

    def enabled(self) -> bool:
        return True

    def offer(self) -> bool:
        return False

    def frame_inbound_header(
        self, proto: FrameDecoder | FrameProtocol, opcode: Opcode, rsv: RsvBits, payload_length: int
    ) -> CloseReason | RsvBits:
        """Asked again for the same frame if its head arrives in pieces, so nothing is added up here."""
        if opcode in {Opcode.TEXT, Opcode.BINARY}:
            self._before = 0
        self._length = 0 if opcode.iscontrol() else payload_length
        return CloseReason.MESSAGE_TOO_BIG if self._before + self._length > self._most else _NO_BITS

    def frame_inbound_complete(self, proto: FrameDecoder | FrameProtocol, fin: bool) -> None:
        self._before += self._length
