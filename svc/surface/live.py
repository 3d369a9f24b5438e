"""``/ws``: live updates from the outbox, with resume (contract 4).

Theory. The outbox's sequence only grows. A session knows the position up to which it has gone through the live rows.
A ``subscribe`` with ``after`` first replays the kept rows between ``after`` and that position, for the topics new
to the session, and then adds them; later rows come live. Both happen under one lock, so nothing is missed and nothing
repeated. When ``after`` is older than what is kept (or from another life of the database), a ``reset`` tells the client
to fetch anew. A session that falls too far behind is closed: its client reconnects and resumes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final

import msgspec
import trio

from svc.identity import CLOSE_SIGNED_OUT, IDENTITY_TOPIC
from svc.nursery import open_task_group
from svc.principal import Principal
from svc.protocol import Request, Socket
from svc.store import OutboxRow, Overflowed, Store, Subscription, oldest_kept, rows_after
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
CLOSE_TRY_AGAIN: Final = 1013


class _Subscribe(msgspec.Struct, tag="subscribe", tag_field="type"):
    topics: Annotated[tuple[str, ...], msgspec.Meta(max_length=MAX_TOPICS)]
    after: Annotated[int, msgspec.Meta(ge=0)] | None = None


class _Unsubscribe(msgspec.Struct, tag="unsubscribe", tag_field="type"):
    topics: Annotated[tuple[str, ...], msgspec.Meta(max_length=MAX_TOPICS)]


class _Ping(msgspec.Struct, tag="ping", tag_field="type"):
    pass


_decode = msgspec.json.Decoder(_Subscribe | _Unsubscribe | _Ping).decode


async def live(context: RequestContext, request: Request, socket: Socket) -> None:
    """Serve one client until it goes."""
    await socket.accept()
    store = context.workspace.store
    topics = CONTRACT_TOPICS.union(*(feature.topics for feature in context.workspace.features))
    with store.outbox.subscribe(limit=MAX_FRAMES_BEHIND, limit_bytes=MAX_BYTES_BEHIND) as subscription:
        session = _Session(
            socket=socket, store=store, principal=context.principal, known_topics=topics, position=subscription.since
        )
        await socket.send(_frame(type="ready", seq=subscription.since))
        async with open_task_group() as nursery:
            nursery.start_soon(session.pump, subscription)
            await session.listen()
            nursery.cancel_scope.cancel()


@dataclass(kw_only=True)
class _Session:
    socket: Socket
    store: Store
    principal: Principal
    known_topics: frozenset[str]
    position: int
    topics: set[str] = field(default_factory=set)
    _turn: trio.Lock = field(default_factory=trio.Lock)

    async def listen(self) -> None:
        """Answer what the client says, until it goes."""
        while (message := await self.socket.receive()) is not None:
            try:
                wanted = _decode(message)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                await self._complain(f"The frame is not one that this socket takes: {error}")
                continue
            async with self._turn:
                match wanted:
                    case _Subscribe():
                        await self._subscribe(wanted)
                    case _Unsubscribe():
                        self.topics.difference_update(wanted.topics)
                    case _Ping():
                        await self.socket.send(_frame(type="pong"))

    async def pump(self, subscription: Subscription) -> None:
        """Pass on what is published."""
        while True:
            try:
                rows = await subscription.receive()
            except Overflowed:
                await self.socket.close(CLOSE_TRY_AGAIN, "too far behind")
                return
            if any(self._ends(row) for row in rows):
                await self.socket.close(CLOSE_SIGNED_OUT, "signed out")
                return
            async with self._turn:
                for row in rows:
                    await self._pass_on(row, self.topics)
                self.position = rows[-1].seq

    async def _subscribe(self, wanted: _Subscribe) -> None:
        unknown = sorted(set(wanted.topics) - self.known_topics)
        if unknown:
            await self._complain(f"There is no topic {unknown[0]!r}.")
        new = (set(wanted.topics) & self.known_topics) - self.topics
        if wanted.after is not None and new:
            await self._replay(wanted.after, new)
        self.topics |= new

    async def _replay(self, after: int, topics: set[str]) -> None:
        oldest = await self.store.read(oldest_kept)
        if after > self.position or after + 1 < oldest:
            await self.socket.send(_frame(type="reset", seq=self.position))
            return
        while after < self.position:
            rows = await self.store.read(rows_after, after, REPLAY_PAGE, upto=self.position)
            if not rows:
                return
            for row in rows:
                await self._pass_on(row, topics)
            after = rows[-1].seq

    def _ends(self, row: OutboxRow) -> bool:
        """The device or session this socket was opened with is no longer good."""
        return row.topic == IDENTITY_TOPIC and row.id == self.principal.device_id

    async def _pass_on(self, row: OutboxRow, topics: set[str]) -> None:
        if row.topic in topics and row.visible_to(self.principal):
            await self.socket.send(_event(row))

    async def _complain(self, message: str) -> None:
        await self.socket.send(_frame(type="error", code="invalid", message=message[:500]))


def _frame(**fields: object) -> str:
    return msgspec.json.encode(fields).decode()


def _event(row: OutboxRow) -> str:
    return _frame(
        type="event", seq=row.seq, topic=row.topic, kind=row.kind, id=row.id, payload=msgspec.Raw(row.payload)
    )
