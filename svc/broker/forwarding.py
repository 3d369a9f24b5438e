"""Passes one answer on to the run as it arrives: without delay, with the credential removed, and with its cost
recorded.

Only bytes that may be the beginning of the credential are held back. The vendor is read only as fast as the caller
reads. If the caller goes away, the rest may be read to learn its cost (:mod:`svc.broker.in_flight`). If the vendor's
answer is cut, ours is cut too: a call that has begun is never repeated, because it may already be paid for.
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
"""Long: without streaming, a model thinks before its header."""
IDLE_S: Final = 300.0
PAUSES_S: Final = (0.25, 1.0)
"""The pauses before further attempts to connect, if nothing was sent yet."""
READ_ON_S: Final = 30.0
READ_ON_BYTES: Final = 8 << 20
NOTE_S: Final = 2.0
_REDIRECTS: Final = range(300, 400)


class Streamed(Protocol):
    """An answer whose header has arrived; its body is read piece by piece."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Headers: ...

    async def receive(self) -> bytes:
        """The next piece; empty at the end. Raises ``EgressFault`` or ``PinnedFault``."""
        ...

    async def aclose(self) -> None: ...


async def pause(seconds: float) -> None:
    """Wait before a call is tried again."""
    await trio.sleep(seconds)


async def opened(send: Callable[[], Awaitable[Streamed]], *, redactor: Redactor) -> Streamed:
    """Begin a call. Tries again only if not a single byte was sent. Raises 502 and 504."""
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


class NoAnswer(Refusal):
    """``was_asked``: the request was sent, at least a part of it, so the service may have done what it asks for."""

    def __init__(self, detail: str, *, code: str, was_asked: bool) -> None:
        super().__init__(detail, code=code)
        self.was_asked = was_asked


def refuse(fault: EgressFault | PinnedFault, *, redactor: Redactor) -> NoReturn:
    """Raise a refusal that says why there is no answer."""
    code = "gateway_timeout" if fault.kind == "timeout" else "bad_gateway"
    was_asked = not isinstance(fault, EgressFault) or fault.may_have_happened
    raise NoAnswer(
        f"The service gave no answer: {redactor.text(fault.detail)}.", code=code, was_asked=was_asked
    ) from None


async def forwarded(
    send: Callable[[], Awaitable[Streamed]],
    *,
    redactor: Redactor,
    shown: tuple[str, ...],
    passing: Callable[[Streamed], Passing],
) -> Response:
    """Our answer to a call. It begins as soon as the service has answered; its body is still to come. Raises 502 and
    504.

    ``shown``: the prefixes of the header fields that are passed on.
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
    """One answer in progress, used as the body of our answer.

    ``settle`` gets the cost, once, even if the answer was cut. An answer whose cost is not counted has no ``settle``,
    and is not read further after the caller has gone.
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
        """The caller is gone."""
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
        """Read the rest only for its cost, which is recorded even if the service is about to end."""
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
