"""A WebSocket as features see it, whichever front carries it, and its text frames as bytes (RFC 6455, 5.2).

Owns the face and the one frame that is the same for every client. It knows no connection.
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
    """There is nobody to send to any more. A handler may let it pass: it ends the handler, not the service."""


class Nudge(Enum):
    """What :meth:`Socket.listen` answers where somebody wants its handler's attention."""

    NUDGE = "nudge"


NUDGE: Final = Nudge.NUDGE


class Socket(ABC):
    """One WebSocket as a handler sees it. One task receives; any number may send.

    A handler spends its idle time in :meth:`receive` or :meth:`listen`: that is where pings are sent and answered, and
    where a dead peer shows. Who has more than messages to wait for needs no second task: whoever has news for it calls
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
        """As :meth:`receive`, or that there was a :meth:`nudge`."""

    @abstractmethod
    def nudge(self) -> None:
        """Let the :meth:`listen` that waits return, or else the next one."""

    def send_now(self, frame: bytes) -> bool:
        """Send what :func:`encode_text_frame` made, if that goes without waiting. False: nothing of it was sent.

        Only for whoever knows that the socket's handler listens.
        """
        return False

    @abstractmethod
    async def send(self, message: str | bytes) -> None:
        """Send one message and wait until the system took it. Raises :class:`SocketClosed`."""

    async def send_encoded(self, frame: bytes) -> None:
        """Send what :func:`encode_text_frame` made, so that one event to many sockets is encoded once."""
        await self.send(_text_of(frame))

    @abstractmethod
    async def close(self, code: int = NORMAL, reason: str = "") -> None:
        """Begin the closing handshake; :meth:`receive` then answers ``None``. Safe from any task, and twice."""


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
