"""Live updates from the outbox, with resume (contract 4): ``/ws``, and the same frames as the subscription
``events.live``.

Theory. The outbox's sequence only grows. Who listens has a position: up to there they have been told the rows of their
topics. To begin at ``after`` the kept rows between it and the position are replayed for the topics that are new, and
these are added; later rows come live. Both happen under one lock, so nothing is missed and nothing repeated. When
``after`` is older than what is kept (or from another life of the database), a ``reset`` tells the client to fetch anew.
Who falls too far behind is let go: its client comes back and resumes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Annotated, Final

import msgspec
import trio

from svc.errors import Invalid, Unauthenticated, Unavailable
from svc.identity import CLOSE_SIGNED_OUT, IDENTITY_TOPIC
from svc.nursery import open_task_group
from svc.protocol import Feed, Request, Socket, Tell, Wire
from svc.store import OutboxRow, Overflowed, Subscription, oldest_kept, rows_after
from svc.workspace import RequestContext

MAX_FRAMES_BEHIND: Final = 1_000
"""Events that wait for one slow socket. Beyond: closed with 1013; a client that comes back with `after` misses
nothing."""
MAX_BYTES_BEHIND: Final = 4 * 1024 * 1024
"""Their payloads together. Beyond: closed with 1013."""
REPLAY_PAGE: Final = 500
"""Kept events that a resume reads at a time. Beyond: they are read page by page."""
MAX_TOPICS: Final = 32
"""Topics of one `subscribe` or `unsubscribe`. Beyond: an `error` frame; nothing changes."""
CONTRACT_TOPICS: Final = frozenset({"mail", "accounts", "pages", "files", "tasks", "runs", "notifications"})
"""What every client may subscribe to, also where no feature tells anything of it yet."""
MAX_COMPLAINT: Final = 500
"""Characters of the message of an `error` frame. Beyond: it is cut."""
MAX_DIGITS: Final = 18
"""Digits of the id of an event that is resumed from. Beyond: 400 `BAD_REQUEST`."""
CLOSE_TRY_AGAIN: Final = 1013


Topics = Annotated[tuple[str, ...], msgspec.Meta(max_length=MAX_TOPICS)]
Position = Annotated[int, msgspec.Meta(ge=0)]


class Ready(Wire, frozen=True, tag="ready", tag_field="type"):
    """The first frame: the newest update that was told to anybody before."""

    seq: int


class Event(Wire, frozen=True, tag="event", tag_field="type"):
    """One update."""

    seq: int
    topic: str
    kind: str
    id: str
    payload: msgspec.Raw


class Reset(Wire, frozen=True, tag="reset", tag_field="type"):
    """What was asked for is no longer kept: fetch anew, and go on from here."""

    seq: int


class _Pong(Wire, frozen=True, tag="pong", tag_field="type"):
    pass


class _Complaint(Wire, frozen=True, tag="error", tag_field="type"):
    code: str
    message: str


Frame = Ready | Event | Reset


class Listening(Wire, frozen=True):
    """What to listen to, and from where on.

    ``after``: the last update that is known; those behind it that are kept come first. ``last_event_id`` says the same
    where a link was lost.
    """

    topics: Topics
    after: Position | None = None
    last_event_id: str | None = None


class _Subscribe(msgspec.Struct, tag="subscribe", tag_field="type"):
    topics: Topics
    after: Position | None = None


class _Unsubscribe(msgspec.Struct, tag="unsubscribe", tag_field="type"):
    topics: Topics


class _Ping(msgspec.Struct, tag="ping", tag_field="type"):
    pass


_decode = msgspec.json.Decoder(_Subscribe | _Unsubscribe | _Ping).decode


class SignedOut(Exception):
    """The device or session that listens is no longer good."""


async def live(context: RequestContext, request: Request, socket: Socket) -> None:
    """Serve one client of ``/ws`` until it goes."""
    await socket.accept()

    async def send(frame: Frame) -> None:
        await socket.send(_text(frame))

    with _subscribed(context) as subscription:
        listener = _Listener(context=context, send=send, position=subscription.since)
        await send(Ready(seq=subscription.since))
        async with open_task_group() as nursery:
            nursery.start_soon(_pump, listener, subscription, socket)
            await _listen(listener, socket)
            nursery.cancel_scope.cancel()


async def live_feed(context: RequestContext, wanted: Listening) -> Feed:
    """The same as a subscription. A frame's id is the position that its client has with it, from which it resumes."""
    unknown = sorted(set(wanted.topics) - _known_topics(context))
    if unknown:
        raise Invalid(f"There is no topic {unknown[0]!r} - at `$.topics`")
    after = wanted.after if wanted.last_event_id is None else _position(wanted.last_event_id)

    async def feed(tell: Tell) -> None:
        with _subscribed(context) as subscription:
            told = subscription.since if after is None else min(after, subscription.since)

            async def send(frame: Frame) -> None:
                await tell(frame, id=str(told if isinstance(frame, Ready) else frame.seq))

            listener = _Listener(context=context, send=send, position=subscription.since)
            await send(Ready(seq=subscription.since))
            await listener.add(wanted.topics, after=after)
            try:
                await listener.follow(subscription)
            except Overflowed:
                raise Unavailable("Too far behind.") from None
            except SignedOut:
                raise Unauthenticated("Signed out.") from None

    return feed


def _subscribed(context: RequestContext) -> Subscription:
    return context.workspace.store.outbox.subscribe(limit=MAX_FRAMES_BEHIND, limit_bytes=MAX_BYTES_BEHIND)


def _known_topics(context: RequestContext) -> frozenset[str]:
    return CONTRACT_TOPICS.union(*(feature.topics for feature in context.workspace.features))


def _position(last_event_id: str) -> int:
    if not (last_event_id.isascii() and last_event_id.isdigit() and len(last_event_id) <= MAX_DIGITS):
        raise Invalid("Expected the id of an event - at `$.lastEventId`")
    return int(last_event_id)


@dataclass(kw_only=True)
class _Listener:
    """Somebody who is told the rows of some topics."""

    context: RequestContext
    send: Callable[[Frame], Awaitable[None]]
    position: int
    topics: set[str] = field(default_factory=set)
    turn: trio.Lock = field(default_factory=trio.Lock)

    async def follow(self, subscription: Subscription) -> None:
        """Pass on what is published. Raises :class:`Overflowed` and :class:`SignedOut`."""
        while True:
            rows = await subscription.receive()
            if any(self._ends(row) for row in rows):
                raise SignedOut
            async with self.turn:
                for row in rows:
                    await self._pass_on(row, self.topics)
                self.position = rows[-1].seq

    async def add(self, topics: Iterable[str], *, after: int | None) -> None:
        """Listen to these as well, of which all behind ``after`` is told."""
        async with self.turn:
            new = set(topics) - self.topics
            if after is not None and new:
                await self._replay(after, new)
            self.topics |= new

    async def _replay(self, after: int, topics: set[str]) -> None:
        store = self.context.workspace.store
        oldest = await store.read(oldest_kept)
        if after > self.position or after + 1 < oldest:
            await self.send(Reset(seq=self.position))
            return
        while after < self.position:
            rows = await store.read(rows_after, after, REPLAY_PAGE, upto=self.position)
            if not rows:
                return
            for row in rows:
                await self._pass_on(row, topics)
            after = rows[-1].seq

    def _ends(self, row: OutboxRow) -> bool:
        """The device or session that listens is no longer good."""
        return row.topic == IDENTITY_TOPIC and row.id == self.context.principal.device_id

    async def _pass_on(self, row: OutboxRow, topics: set[str]) -> None:
        if row.topic in topics and row.visible_to(self.context.principal):
            payload = msgspec.Raw(row.payload)
            await self.send(Event(seq=row.seq, topic=row.topic, kind=row.kind, id=row.id, payload=payload))


async def _pump(listener: _Listener, subscription: Subscription, socket: Socket) -> None:
    try:
        await listener.follow(subscription)
    except Overflowed:
        await socket.close(CLOSE_TRY_AGAIN, "too far behind")
    except SignedOut:
        await socket.close(CLOSE_SIGNED_OUT, "signed out")


async def _listen(listener: _Listener, socket: Socket) -> None:
    """Answer what the client says, until it goes."""
    while (message := await socket.receive()) is not None:
        try:
            wanted = _decode(message)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            await _complain(socket, f"The frame is not one that this socket takes: {error}")
            continue
        match wanted:
            case _Subscribe():
                known = _known_topics(listener.context)
                unknown = sorted(set(wanted.topics) - known)
                if unknown:
                    await _complain(socket, f"There is no topic {unknown[0]!r}.")
                await listener.add(known.intersection(wanted.topics), after=wanted.after)
            case _Unsubscribe():
                async with listener.turn:
                    listener.topics.difference_update(wanted.topics)
            case _Ping():
                async with listener.turn:
                    await socket.send(_text(_Pong()))


async def _complain(socket: Socket, message: str) -> None:
    await socket.send(_text(_Complaint(code="invalid", message=message[:MAX_COMPLAINT])))


def _text(frame: Wire) -> str:
    return msgspec.json.encode(frame).decode()
