"""Refuses a WebSocket message by the lengths that its frames announce, before their content arrives (RFC 6455, 5.2).

wsproto asks each extension about the head of each frame. This one negotiates nothing and changes nothing. Owns the size
of one connection's current message, and the words to a client that sent too much.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from wsproto import ConnectionType
from wsproto.connection import Connection, ConnectionState
from wsproto.events import CloseConnection, Event
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


def too_big(most: int) -> str:
    """The reason of a Close with code 1009."""
    return f"A message may have at most {most} bytes."


class BoundConnection(Connection):
    """A server's connection for a front that answers only a Close of its client: a fault of the client's looks like
    one, so that the client gets its code."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._is_faulty = False
        super().__init__(ConnectionType.SERVER, [MessageBound(most)])

    @property
    def state(self) -> ConnectionState:
        state = super().state
        return ConnectionState.REMOTE_CLOSING if self._is_faulty and state is ConnectionState.OPEN else state

    def events(self) -> Generator[Event, None, None]:
        for event in super().events():
            if isinstance(event, CloseConnection) and super().state is ConnectionState.OPEN:
                self._is_faulty = True
                if event.code == CloseReason.MESSAGE_TOO_BIG:
                    event = CloseConnection(code=event.code, reason=too_big(self._most))
            yield event
