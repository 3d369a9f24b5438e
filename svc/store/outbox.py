"""The outbox: the one source of live updates. Rows are written with the change itself and published after its commit.

Owns the table's queries, the head (the newest published ``seq``) and the subscriptions. A row reaches subscribers in
the order of ``seq``, and never before it is durable. Publishing never waits: a subscriber that can't keep up is marked
overflowed.

To follow without gap or repeat: subscribe first, then read the rows after the last known one up to
``subscription.since``, then take what the subscription received.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Final, NoReturn

import trio

from svc.clock import Millis

if TYPE_CHECKING:
    from svc.principal import Principal
    from svc.store.transaction import ReadTx, Tx

EVERYONE: Final = "*"
ADMINS: Final = "*admins"  # no user id begins so
MAX_WAITING_ROWS: Final = 10_000  # of one subscription; a page of backfill emits a few hundred at once
MAX_WAITING_BYTES: Final = 4 * 1024 * 1024  # their payloads
PRUNE_ROWS: Final = 10_000  # removed by one call at most, so that the writer is not blocked


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One update. ``payload`` is encoded JSON; ``audience`` as in :meth:`Tx.emit`."""

    seq: int
    at: Millis
    topic: str
    kind: str
    id: str
    payload: bytes
    audience: str | None
    device_id: str | None

    def visible_to(self, principal: Principal) -> bool:
        if self.audience == EVERYONE or principal.sees_everything:
            return True
        if self.audience == ADMINS:
            return principal.is_admin
        return self.audience is not None and self.audience == principal.user_id


class Overflowed(Exception):
    """The subscriber was too slow; the rows it has not taken are dropped. It may subscribe again and resume from the
    table."""


class Subscription:
    """The rows published since it was made that are not taken yet. A context manager: leaving it unsubscribes.

    ``notify`` is called whenever rows can be taken; a caller that sets it need not wait in :meth:`receive`.
    """

    __slots__ = (
        "_arrived",
        "_limit",
        "_limit_bytes",
        "_notify",
        "_outbox",
        "_waiting",
        "_waiting_bytes",
        "overflowed",
        "since",
    )

    def __init__(
        self, outbox: Outbox, *, since: int, limit: int, limit_bytes: int, notify: Callable[[], None] | None
    ) -> None:
        self._outbox = outbox
        self._limit = limit
        self._limit_bytes = limit_bytes
        self._notify = notify
        self._waiting: list[OutboxRow] = []
        self._waiting_bytes = 0
        self._arrived: trio.Event | None = None
        self.since = since
        """The newest row published before; the subscription gets every later one."""
        self.overflowed = False

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    async def receive(self) -> list[OutboxRow]:
        """All rows that wait, oldest first; waits for the first. Raises :class:`Overflowed`."""
        while not self._waiting:
            if self.overflowed:
                raise Overflowed
            self._arrived = trio.Event()
            await self._arrived.wait()
            self._arrived = None
        await trio.lowlevel.checkpoint()
        return self.take()

    def take(self) -> list[OutboxRow]:
        """All rows that wait, oldest first, without waiting for any. Raises :class:`Overflowed`."""
        if self.overflowed:
            raise Overflowed
        rows, self._waiting = self._waiting, []
        self._waiting_bytes = 0
        return rows

    @property
    def waiting(self) -> Sequence[OutboxRow]:
        """The rows that wait, oldest first."""
        return self._waiting

    def drop(self, count: int) -> None:
        """Remove the ``count`` oldest rows."""
        if count >= len(self._waiting):
            self.take()
            return
        self._waiting_bytes -= sum([len(row.payload) for row in self._waiting[:count]])
        del self._waiting[:count]

    def close(self) -> None:
        self._outbox.forget(self)

    def offer(self, rows: Sequence[OutboxRow]) -> None:
        """Called by the outbox. Overflows only if a limit was reached before this call: one large commit overflows
        nobody."""
        if len(self._waiting) >= self._limit or self._waiting_bytes >= self._limit_bytes:
            self.overflowed = True
            self._waiting.clear()
            self.close()
        else:
            self._waiting.extend(rows)
            self._waiting_bytes += sum([len(row.payload) for row in rows])
        if self._arrived is not None:
            self._arrived.set()
        if self._notify is not None:
            self._notify()


class Outbox:
    """Publishes committed rows to subscribers."""

    def __init__(self, *, head: int) -> None:
        self._head = head
        self._subscriptions: dict[Subscription, None] = {}

    def head(self) -> int:
        """The ``seq`` of the newest published row; 0 before the first."""
        return self._head

    @property
    def listeners(self) -> int:
        """The number of subscribers."""
        return len(self._subscriptions)

    def subscribe(
        self,
        *,
        limit: int = MAX_WAITING_ROWS,
        limit_bytes: int = MAX_WAITING_BYTES,
        notify: Callable[[], None] | None = None,
    ) -> Subscription:
        subscription = Subscription(self, since=self._head, limit=limit, limit_bytes=limit_bytes, notify=notify)
        self._subscriptions[subscription] = None
        return subscription

    async def wake_on(self, is_news: Callable[[OutboxRow], bool], wake: Callable[[], object]) -> NoReturn:
        """Call ``wake`` whenever a row for which ``is_news`` is true is published.

        It is also called at once, and after an overflow: a row that this loop did not receive may have been news.
        """
        while True:
            with self.subscribe() as subscription, suppress(Overflowed):
                wake()
                while True:
                    if any(map(is_news, await subscription.receive())):
                        wake()

    def forget(self, subscription: Subscription) -> None:
        self._subscriptions.pop(subscription, None)

    def publish(self, rows: Sequence[OutboxRow]) -> None:
        """Called by the store, in commit order, once the rows are durable."""
        if not rows:
            return
        self._head = rows[-1].seq
        for subscription in list(self._subscriptions):
            subscription.offer(rows)


def rows_after(tx: ReadTx, seq: int, limit: int, *, upto: int | None = None) -> list[OutboxRow]:
    """At most ``limit`` kept rows with ``seq < row.seq``, and ``<= upto`` if given, oldest first."""
    rows = tx.all(
        """
        select seq, at, topic, kind, ref, payload, audience, device_id
        from outbox where seq > :seq and (:upto is null or seq <= :upto) order by seq limit :limit
        """,
        seq=seq,
        upto=upto,
        limit=limit,
    )
    return [
        OutboxRow(number, at, topic, kind, ref, payload.encode(), audience, device_id)
        for number, at, topic, kind, ref, payload, audience, device_id in rows
    ]


def newest(tx: ReadTx) -> int:
    """The highest ``seq`` ever used, even when its row is pruned."""
    return int(tx.value("select seq from sqlite_sequence where name = 'outbox'") or 0)


def oldest_kept(tx: ReadTx) -> int:
    """The oldest row that can still be read; ``newest + 1`` when none can.

    A reader that knows everything up to ``after`` misses nothing if ``after >= oldest_kept - 1``.
    """
    oldest = tx.value("select min(seq) from outbox")
    return newest(tx) + 1 if oldest is None else int(oldest)


def prune(tx: Tx, *, keep_ms: int, keep_rows: int) -> int:
    """Remove the rows older than ``keep_ms``, and those beyond the newest ``keep_rows``. Returns how many were removed.

    The rest never has a gap, even if the clock jumped. Call again while it returns :data:`PRUNE_ROWS`.
    """
    first_young = tx.value("select min(seq) from outbox where at >= :oldest", oldest=tx.now - keep_ms)
    end = newest(tx)
    cutoff = max(end if first_young is None else int(first_young) - 1, end - keep_rows)
    bound = oldest_kept(tx) + PRUNE_ROWS - 1
    return tx.run("delete from outbox where seq <= :cutoff", cutoff=min(cutoff, bound))
