"""Live updates from the outbox, with resume (contract 4): ``/ws``, and the same frames as the subscription
``events.live``.

Theory. The outbox's sequence only grows. Each listener has a position: it has been sent all rows of its topics up to
there. A subscribe with ``after`` first replays the kept rows between ``after`` and the position for the topics that are
new, and then adds these topics; later rows are sent live. One task does both, so no row is missed or sent twice. When
``after`` is older than what is kept (or is greater than the newest number, because the database is another one), a
``reset`` tells the client to fetch anew. A listener that falls too far behind is disconnected: its client reconnects
and resumes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Annotated, Final

import msgspec
import trio

from svc.errors import Invalid, Unauthenticated, Unavailable
from svc.identity import CLOSE_SIGNED_OUT, ends
from svc.protocol import Feed, Nudge, Request, Socket, Tell, Wire, encode_text_frame
from svc.store import OutboxRow, Overflowed, Subscription, oldest_kept, rows_after
from svc.workspace import RequestContext

MAX_FRAMES_BEHIND: Final = 1_000
"""Events that wait for one slow socket. Beyond: closed with 1013; a client that comes back with `after` misses
nothing."""
MAX_BYTES_BEHIND: Final = 4 * 1024 * 1024
"""Payloads of the events that wait for one slow socket, together. Beyond: closed with 1013."""
REPLAY_PAGE: Final = 500
"""Kept events that a resume reads at a time. Beyond: they are read page by page."""
MAX_TOPICS: Final = 32
"""Topics of one `subscribe` or `unsubscribe`. Beyond: an `error` frame; nothing changes."""
CONTRACT_TOPICS: Final = frozenset({"mail", "accounts", "pages", "files", "tasks", "runs", "notifications"})
"""Every client may subscribe to these, even while no feature publishes on one of them."""
MAX_COMPLAINT: Final = 500
"""Characters of the message of an `error` frame. Beyond: it is cut."""
MAX_DIGITS: Final = 18
"""Digits of the id of an event that is resumed from. Beyond: 400 `BAD_REQUEST`."""
TOLD_AT_ONCE: Final = 500
"""Sockets that an event is sent to before other tasks have their turn. Beyond: the next ones come after that."""
CLOSE_TRY_AGAIN: Final = 1013


Topics = Annotated[tuple[str, ...], msgspec.Meta(max_length=MAX_TOPICS)]
Position = Annotated[int, msgspec.Meta(ge=0)]


class Ready(Wire, frozen=True, tag="ready", tag_field="type"):
    """The first frame. seq: the newest update before the client connected."""

    seq: int


class Event(Wire, frozen=True, tag="event", tag_field="type"):
    """One update."""

    seq: int
    topic: str
    kind: str
    id: str
    payload: msgspec.Raw


class Reset(Wire, frozen=True, tag="reset", tag_field="type"):
    """The requested updates are no longer kept: fetch anew, and go on from ``seq``."""

    seq: int


class _Pong(Wire, frozen=True, tag="pong", tag_field="type"):
    pass


class _Complaint(Wire, frozen=True, tag="error", tag_field="type"):
    code: str
    message: str


Frame = Ready | Event | Reset


class Listening(Wire, frozen=True):
    """The topics to listen to, and the position to start from.

    ``after``: the last update that the client knows; the kept updates after it are sent first. ``last_event_id`` means
    the same, after a lost connection.
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
    """The listening device or session is no longer valid."""


async def live(context: RequestContext, request: Request, socket: Socket) -> None:
    """Serve one client of ``/ws`` until it disconnects."""
    await _Client(context, socket).serve()


async def live_feed(context: RequestContext, wanted: Listening) -> Feed:
    """The same as a subscription. The id of a frame is the client's position after it, from which it can resume."""
    unknown = sorted(set(wanted.topics) - _known_topics(context))
    if unknown:
        raise Invalid(f"There is no topic {unknown[0]!r} - at `$.topics`")
    after = wanted.after if wanted.last_event_id is None else _position(wanted.last_event_id)

    async def feed(tell: Tell) -> None:
        with _subscribed(context) as subscription:
            told = subscription.since if after is None else min(after, subscription.since)

            async def send(frame: Frame) -> None:
                await tell(frame, id=str(told if isinstance(frame, Ready) else frame.seq))

            listener = _Reader(context, send, position=subscription.since)
            await send(Ready(seq=subscription.since))
            await listener.add(wanted.topics, after=after)
            try:
                while True:
                    await listener.pass_on(await subscription.receive())
            except Overflowed:
                raise Unavailable("Too far behind.") from None
            except SignedOut:
                raise Unauthenticated("Signed out.") from None

    return feed


def _subscribed(context: RequestContext, notify: Callable[[], None] | None = None) -> Subscription:
    outbox = context.workspace.store.outbox
    return outbox.subscribe(limit=MAX_FRAMES_BEHIND, limit_bytes=MAX_BYTES_BEHIND, notify=notify)


def _known_topics(context: RequestContext) -> frozenset[str]:
    return CONTRACT_TOPICS.union(*(feature.topics for feature in context.workspace.features))


def _position(last_event_id: str) -> int:
    if not (last_event_id.isascii() and last_event_id.isdigit() and len(last_event_id) <= MAX_DIGITS):
        raise Invalid("Expected the id of an event - at `$.lastEventId`")
    return int(last_event_id)


class _Listener(ABC):
    """A client that is sent the rows of some topics."""

    __slots__ = ("context", "position", "topics")

    def __init__(self, context: RequestContext, *, position: int) -> None:
        self.context = context
        self.position = position
        self.topics: frozenset[str] = frozenset()

    @abstractmethod
    async def tell(self, row: OutboxRow) -> None:
        """Send a row that this listener wants and may see."""

    @abstractmethod
    async def reset(self) -> None:
        """Send that the requested updates are no longer kept."""

    async def pass_on(self, rows: Sequence[OutboxRow]) -> None:
        """Send what was published. Raises :class:`SignedOut`."""
        if any(self.ends(row) for row in rows):
            raise SignedOut
        for row in rows:
            if self.wants(row, self.topics):
                await self.tell(row)
        self.position = rows[-1].seq

    async def add(self, topics: Iterable[str], *, after: int | None) -> None:
        """Listen to these topics too. With ``after``, first send all their rows after it."""
        new = frozenset(topics) - self.topics
        if after is not None and new:
            await self._replay(after, new)
        self.topics |= new

    async def _replay(self, after: int, topics: frozenset[str]) -> None:
        store = self.context.workspace.store
        oldest = await store.read(oldest_kept)
        if after > self.position or after + 1 < oldest:
            await self.reset()
            return
        while after < self.position:
            rows = await store.read(rows_after, after, REPLAY_PAGE, upto=self.position)
            if not rows:
                return
            for row in rows:
                if self.wants(row, topics):
                    await self.tell(row)
            after = rows[-1].seq

    def ends(self, row: OutboxRow) -> bool:
        """Whether this row says that the listening device or session is no longer valid."""
        return ends(row, self.context.principal)

    def wants(self, row: OutboxRow, topics: frozenset[str]) -> bool:
        return row.topic in topics and row.visible_to(self.context.principal)


class _Reader(_Listener):
    """A listener by the subscription."""

    __slots__ = ("_send",)

    def __init__(self, context: RequestContext, send: Callable[[Frame], Awaitable[None]], *, position: int) -> None:
        super().__init__(context, position=position)
        self._send = send

    async def tell(self, row: OutboxRow) -> None:
        await self._send(_event(row))

    async def reset(self) -> None:
        await self._send(Reset(seq=self.position))


class _Client(_Listener):
    """A listener by ``/ws``. There may be ten thousand: each is one task, which mostly waits for its client.

    While the task waits, :class:`FanOut` sends new rows; what cannot be sent at once is left to the task.
    """

    __slots__ = ("_fan_out", "_is_listening", "_socket", "_subscription")

    def __init__(self, context: RequestContext, socket: Socket) -> None:
        self._socket = socket
        self._fan_out = context.workspace.service(FanOut)
        self._is_listening = False
        self._subscription = _subscribed(context, self._notify)
        super().__init__(context, position=self._subscription.since)

    async def serve(self) -> None:
        with self._subscription:  # it began before the handshake, so that a revocation meanwhile is not missed
            try:
                await self._socket.accept()
                await self._socket.send(_text(Ready(seq=self.position)))
                while (said := await self._next()) is not None:
                    if isinstance(said, str | bytes):
                        await self._hear(said)
                    while self._subscription.waiting or self._subscription.overflowed:
                        await self.pass_on(self._subscription.take())
            except Overflowed:
                await self._socket.close(CLOSE_TRY_AGAIN, "too far behind")
            except SignedOut:
                await self._socket.close(CLOSE_SIGNED_OUT, "signed out")

    async def tell(self, row: OutboxRow) -> None:
        await self._socket.send_encoded(self._fan_out.frame(row))

    async def reset(self) -> None:
        await self._socket.send(_text(Reset(seq=self.position)))

    def tell_now(self) -> None:
        """Send the waiting rows as far as possible without blocking, and leave the rest to the task."""
        if not self._is_listening:
            return  # the task itself sends them before it listens again
        told = 0
        for row in self._subscription.waiting:
            if self.ends(row):
                break
            if self.wants(row, self.topics) and not self._socket.send_now(self._fan_out.frame(row)):
                break
            self.position = row.seq
            told += 1
        if told < len(self._subscription.waiting) or self._subscription.overflowed:
            self._socket.nudge()
        if told:
            self._subscription.drop(told)

    def _notify(self) -> None:
        if self._is_listening:
            self._fan_out.call(self)

    async def _next(self) -> str | bytes | Nudge | None:
        self._is_listening = True
        try:
            return await self._socket.listen()
        finally:
            self._is_listening = False

    async def _hear(self, message: str | bytes) -> None:
        """Handle one message of the client."""
        try:
            wanted = _decode(message)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            await _complain(self._socket, f"The frame is not one that this socket takes: {error}")
            return
        match wanted:
            case _Subscribe():
                known = _known_topics(self.context)
                unknown = sorted(set(wanted.topics) - known)
                if unknown:
                    await _complain(self._socket, f"There is no topic {unknown[0]!r}.")
                await self.add(known.intersection(wanted.topics), after=wanted.after)
                self.topics = self._fan_out.same(self.topics)
            case _Unsubscribe():
                self.topics = self._fan_out.same(self.topics.difference(wanted.topics))
            case _Ping():
                await self._socket.send(_text(_Pong()))


class FanOut:
    """Sends what is published to the listeners of ``/ws``: to a few at a time, so that other tasks need not wait for
    all of them. Each event is encoded once for all who get it."""

    def __init__(self) -> None:
        self._due: dict[_Client, None] = {}
        self._called = trio.Event()
        self._frames: dict[int, bytes] = {}
        self._frame_bytes = 0
        self._topics: dict[frozenset[str], frozenset[str]] = {}

    async def run(self) -> None:
        while True:
            await self._called.wait()
            self._called = trio.Event()
            while self._due:
                due, self._due = self._due, {}
                for told, client in enumerate(due, 1):
                    client.tell_now()
                    if told % TOLD_AT_ONCE == 0:
                        await trio.lowlevel.checkpoint()

    def call(self, client: _Client) -> None:
        """Note that there are new rows for ``client``."""
        self._due[client] = None
        self._called.set()

    def frame(self, row: OutboxRow) -> bytes:
        """The encoded frame of a row, the same for everybody who may see it."""
        frame = self._frames.get(row.seq)
        if frame is None:
            frame = encode_text_frame(_text(_event(row)))
            if len(self._frames) >= MAX_FRAMES_BEHIND or self._frame_bytes >= MAX_BYTES_BEHIND:
                self._frames.clear()
                self._frame_bytes = 0
            self._frames[row.seq] = frame
            self._frame_bytes += len(frame)
        return frame

    def same(self, topics: frozenset[str]) -> frozenset[str]:
        """One shared object for equal sets, to save memory: most clients listen to the same topics."""
        if len(self._topics) >= MAX_TOPICS:
            self._topics.clear()
        return self._topics.setdefault(topics, topics)


async def _complain(socket: Socket, message: str) -> None:
    await socket.send(_text(_Complaint(code="invalid", message=message[:MAX_COMPLAINT])))


def _event(row: OutboxRow) -> Event:
    return Event(seq=row.seq, topic=row.topic, kind=row.kind, id=row.id, payload=msgspec.Raw(row.payload))


def _text(frame: Wire) -> str:
    return msgspec.json.encode(frame).decode()
