"""A WebSocket upgrade that passed every check of the application: what its front runs, and what the front reports.

The checks come before the handshake, but the row's own function still has the last word: it opens the socket, or it
refuses. Only then the status of the answer is known, so only then the request is counted and logged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from svc.errors import Refusal
from svc.protocol.messages import HeaderList, Response
from svc.protocol.socket import Socket


class AcceptedSocket(ABC):
    """The front runs :meth:`handle`. It calls :meth:`opened` when it sends the 101, with :meth:`headers`; if there was
    no 101 in the end, it sends the answer that :meth:`refused` makes. So it calls one of the two, once."""

    __slots__ = ()

    @abstractmethod
    def headers(self) -> HeaderList:
        """The headers of the 101, besides those of the handshake."""

    @abstractmethod
    async def handle(self, socket: Socket) -> None:
        """Open the socket and serve it, or raise a refusal."""

    @abstractmethod
    def opened(self) -> None: ...

    @abstractmethod
    def refused(self, refusal: Refusal) -> Response: ...
