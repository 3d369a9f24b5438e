"""A WebSocket as features see it, for any front, and its text frames as bytes (RFC 6455, 5.2).

Owns the interface, and the encoding of the frame that is the same for every client. It knows no connection.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable
from enum import Enum
from typing import Final

NORMAL: Final = 1000
GOING_AWAY: Final = 1001
MESSAGE_TOO_BIG: Final = 1009

_FIN_TEXT: Final = 0x81
_ONE_BYTE_LENGTH: Final = 125
_TWO_BYTE_MARK: Final = 126
_EIGHT_BYTE_MARK: Final = 127
_TWO_BYTE_LENGTH: Final = 0xFFFF


class SocketClosed(Exception):
    """The socket is closed, so nothing can be sent. A handler may let it pass: it ends the handler, not the service."""


class Nudge(Enum):
    """Returned by :meth:`Socket.listen` after a call of :meth:`Socket.nudge`."""

    NUDGE = "nudge"


NUDGE: Final = Nudge.NUDGE


class Socket(ABC):
    """One WebSocket as a handler sees it. One task receives; any number may send.

    A handler spends its idle time in :meth:`receive` or :meth:`listen`: there, pings are sent and answered, and a dead
    peer is noticed. A handler that also waits for other things needs no second task: the other task calls
    :meth:`nudge`.
    """

    __slots__ = ()

    @abstractmethod
    async def accept(self, *, headers: Iterable[tuple[str, str]] = ()) -> None:
        """Complete the handshake. Before it, :meth:`close` and a raised ``Refusal`` are answered over HTTP."""

    @abstractmethod
    async def receive(self) -> str | bytes | None:
        """The next whole message; ``None`` once the socket is closed or the peer is gone."""

    @abstractmethod
    async def listen(self) -> str | bytes | Nudge | None:
        """As :meth:`receive`, but also returns after a :meth:`nudge`."""

    @abstractmethod
    def nudge(self) -> None:
        """Make the waiting :meth:`listen` return; if none waits, the next one returns at once."""

    def send_now(self, frame: bytes) -> bool:
        """Send a frame of :func:`encode_text_frame` if that is possible without waiting. False: nothing of it was sent.

        Call it only while the socket's handler listens.
        """
        return False

    @abstractmethod
    async def send(self, message: str | bytes) -> None:
        """Send one message and wait until the system took it. Raises :class:`SocketClosed`."""

    async def send_encoded(self, frame: bytes) -> None:
        """Send a frame of :func:`encode_text_frame`, so that one event for many sockets is encoded once."""
        await self.send(_text_of(frame))

    @abstractmethod
    async def close(self, code: int = NORMAL, reason: str = "") -> None:
        """Begin the closing handshake; :meth:`receive` then returns ``None``. Safe from any task, and when called
        twice."""


def encode_text_frame(text: str) -> bytes:
    """One whole unmasked text frame (section 5.2): a server's frames are the same for every client."""
    payload = text.encode()
    length = len(payload)
    if length <= _ONE_BYTE_LENGTH:
        return bytes((_FIN_TEXT, length)) + payload
    if length <= _TWO_BYTE_LENGTH:
        return struct.pack("!BBH", _FIN_TEXT, _TWO_BYTE_MARK, length) + payload
    return struct.pack("!BBQ", _FIN_TEXT, _EIGHT_BYTE_MARK, length) + payload


def _text_of(frame: bytes) -> str:
    """The text in a frame of :func:`encode_text_frame`."""
    head = {_TWO_BYTE_MARK: 4, _EIGHT_BYTE_MARK: 10}.get(frame[1], 2)
    return frame[head:].decode()
