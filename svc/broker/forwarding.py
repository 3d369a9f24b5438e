"""Passing one answer on to the run as it comes: undelayed, with the credential taken out, and its cost noted.

Nothing is kept back but what may be the beginning of the credential; the caller's pace is the vendor's. Where the
caller goes away, the rest may be read on for its cost (:mod:`svc.broker.in_flight`). An answer that is cut is a cut
answer here too: what was begun is never asked for again, since it may be paid for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NoReturn, Protocol

import trio

from svc.broker import headers
from svc.broker.in_flight import InFlight, Slot
from svc.broker.redaction import Redactor
from svc.broker.usage import Usage, UsageReader
from svc.errors import Refusal
from svc.protocol import Headers, Response
from svc.protocol.egress import EgressFault
from svc.protocol.pinned import PinnedFault

HEAD_S: Final = 600.0
"""A model that does not stream thinks first."""
IDLE_S: Final = 300.0
PAUSES_S: Final = (0.25, 1.0)
"""Before each further attempt to connect, where nothing was sent yet."""
READ_ON_S: Final = 30.0
READ_ON_BYTES: Final = 8 << 20
NOTE_S: Final = 2.0
_REDIRECTS: Final = range(300, 400)


class Streamed(Protocol):
    """An answer whose head is here, and whose body is read piece by piece."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Headers: ...

    async def receive(self) -> bytes:
        """The next piece; empty at the end. Raises ``EgressFault`` or ``PinnedFault``."""
        ...

    async def aclose(self) -> None: ...


async def pause(seconds: float) -> None:
    """Before a call is tried again."""
    await trio.sleep(seconds)


async def opened(send: Callable[[], Awaitable[Streamed]], *, redactor: Redactor) -> Streamed:
    """Begin a call, again only where not a byte of it had left. Raises 502 and 504."""
    pauses_s = iter(PAUSES_S)
    while True:
        try:
            return await send()
        except (EgressFault, PinnedFault) as fault:
            pause_s = next(pauses_s, None)
            if pause_s is None or not _never_left(fault):
                refuse(fault, redactor=redactor)
        await pause(pause_s)


def _never_left(fault: EgressFault | PinnedFault) -> bool:
    return isinstance(fault, EgressFault) and fault.kind == "connect" and not fault.may_have_happened


def refuse(fault: EgressFault | PinnedFault, *, redactor: Redactor) -> NoReturn:
    """Say in words why there is no answer."""
    code = "gateway_timeout" if fault.kind == "timeout" else "bad_gateway"
    raise Refusal(f"The service gave no answer: {redactor.text(fault.detail)}.", code=code) from None


async def forwarded(
    send: Callable[[], Awaitable[Streamed]],
    *,
    redactor: Redactor,
    shown: tuple[str, ...],
    passing: Callable[[Streamed], Passing],
) -> Response:
    """Our answer to a call: begun where it was answered, with its body still to come. Raises 502 and 504.

    ``shown``: how the names of header fields begin that are handed on.
    """
    answer = await opened(send, redactor=redactor)
    if answer.status in _REDIRECTS:
        await answer.aclose()
        raise Refusal("The service answered with a redirect, which is not followed.", code="bad_gateway")
    fields = headers.of_answer(answer.headers, prefixes=shown)
    return Response(
        status=answer.status,
        headers=[("cache-control", "no-store"), *((name, redactor.text(value)) for name, value in fields)],
        body=passing(answer),
    )


@dataclass
class Passing:
    """One answer on its way, as the body of ours.

    ``settle`` is told what it cost, once, also where it was cut. An answer that nobody wants to count has none, and is
    not read on when nobody listens any more.
    """

    answer: Streamed
    redactor: Redactor
    slot: Slot
    in_flight: InFlight
    reader: UsageReader | None = None
    settle: Callable[[Usage], Awaitable[None]] | None = None
    _over: bool = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        while not self._over:
            piece = await self._received()
            if piece:
                shown = self.redactor.feed(piece)
            else:
                await self._end()
                shown = self.redactor.end()
            if shown:
                return shown
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Nobody reads on."""
        if self._over:
            return
        if self.settle is None or not self.in_flight.read_on(self._read_on):
            await self._end()

    async def _received(self) -> bytes:
        try:
            piece = await self.answer.receive()
        except (EgressFault, PinnedFault):
            await self._end()
            raise
        if self.reader is not None:
            self.reader.feed(piece)
        return piece

    async def _read_on(self) -> None:
        """For its cost alone. Noted also where the service is about to end."""
        size = 0
        try:
            with trio.move_on_after(READ_ON_S), suppress(EgressFault, PinnedFault):
                while size < READ_ON_BYTES and (piece := await self._received()):
                    size += len(piece)
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + NOTE_S):
                await self._end()

    async def _end(self) -> None:
        if self._over:
            return
        self._over = True
        self.slot.leave()
        try:
            await self.answer.aclose()
        finally:
            if self.settle is not None and self.reader is not None:
                await self.settle(self.reader.result())
