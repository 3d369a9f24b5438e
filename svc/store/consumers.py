"""Durable consumers: whoever acts on what was recorded, at its own pace, without losing or repeating anything.

Theory: an event is recorded in the transaction that made it happen. A consumer is a name and a cursor, the sequence
number of the last event it has dealt with. It is handed the next events of its types in order; only when it is done
with them the cursor moves. After a crash it is handed the same ones again: at least once. :attr:`Event.key` stays the
same then, so that an outside system can tell a repeat. Where everything a consumer does lies in the database, ``apply``
runs in the transaction that moves the cursor: exactly once.

What fails is tried again with growing pauses, alone after the first time, so that one event never takes its neighbours
with it. After :data:`MAX_ATTEMPTS` it is put on record in ``consumer_failures`` and passed over.

Owns the tables ``consumers`` and ``consumer_failures``. Never waits: the loop is in :mod:`svc.store.following`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar, cast

from svc.clock import MINUTE_MS, Millis
from svc.store.arrays import json_array
from svc.store.transaction import ReadTx, Tx

C = TypeVar("C")

MAX_ATTEMPTS: Final = 10
BATCH: Final = 100
MAX_REASON_CHARS: Final = 500
LONGEST_PAUSE_MS: Final = 15 * MINUTE_MS


@dataclass(frozen=True, kw_only=True)
class Event:
    """One recorded event. ``payload`` is JSON."""

    seq: int
    at: Millis
    type: str
    payload: bytes
    audience: str | None
    device_id: str

    @property
    def key(self) -> str:
        """The same for every delivery of this event: what an outside system tells a repeat by."""
        return f"event-{self.seq}"


@dataclass(frozen=True, kw_only=True)
class Consumer(Generic[C]):
    """One that follows events of ``types``; ``name`` is its cursor's, for good.

    Exactly one of ``apply`` (in the transaction that moves the cursor) and ``handle`` (before it; at least once).
    """

    name: str
    types: frozenset[str]
    summary: str
    apply: Callable[[Tx, Sequence[Event]], None] | None = None
    handle: Callable[[C, Sequence[Event]], Awaitable[None]] | None = None

    def __post_init__(self) -> None:
        if (self.apply is None) == (self.handle is None):
            raise ValueError(f"the consumer {self.name} needs either apply or handle")


@dataclass(frozen=True, kw_only=True)
class Cursor:
    """``seq``: the last event dealt with. ``failures``: of the next one, so far. ``retry_at``: not before then."""

    name: str
    seq: int
    failures: int
    retry_at: Millis
    problem: str | None


@dataclass(frozen=True, kw_only=True)
class Lag:
    """How far a consumer is behind. ``passed_over``: events it could not deal with."""

    name: str
    events: int
    passed_over: int
    problem: str | None


def register(tx: Tx, *, names: Sequence[str]) -> None:
    """Give each consumer that has none a cursor, at the newest event: it follows what comes, not what was."""
    for name in names:
        tx.run(
            """
            insert into consumers (name, seq, failures, retry_at, problem, updated_at)
            values (:name, coalesce((select seq from sqlite_sequence where name = 'events'), 0), 0, 0, null, :now)
            on conflict do nothing
            """,
            name=name,
            now=tx.now,
        )


def cursor_of(tx: ReadTx, name: str) -> Cursor:
    row = tx.one("select name, seq, failures, retry_at, problem from consumers where name = :name", name=name)
    if row is None:
        raise LookupError(f"the consumer {name} has no cursor")
    return Cursor(name=row[0], seq=row[1], failures=row[2], retry_at=row[3], problem=row[4])


def waiting(tx: ReadTx, consumer: Consumer[C]) -> tuple[Cursor, list[Event]]:
    """Where the consumer stands, and the events it is handed next: one alone while it fails, none before its time."""
    cursor = cursor_of(tx, consumer.name)
    if cursor.failures and tx.now < cursor.retry_at <= tx.now + LONGEST_PAUSE_MS:  # later: the clock jumped
        return cursor, []
    rows = tx.all(
        """
        select seq, at, type, payload, audience, device_id from events
        where seq > :seq and type in (select value from json_each(:types)) order by seq limit :limit
        """,
        seq=cursor.seq,
        types=json_array(sorted(consumer.types)),
        limit=1 if cursor.failures else BATCH,
    )
    events = [
        Event(seq=seq, at=at, type=type_, payload=payload.encode(), audience=audience, device_id=device_id)
        for seq, at, type_, payload, audience, device_id in rows
    ]
    return cursor, events


def apply_next(tx: Tx, consumer: Consumer[C], *, events: Sequence[Event]) -> None:
    """Deal with these events and move the cursor, all in one."""
    assert consumer.apply is not None
    consumer.apply(tx, events)
    done(tx, name=consumer.name, seq=events[-1].seq)


def done(tx: Tx, *, name: str, seq: int) -> None:
    """Everything up to ``seq`` is dealt with. The cursor never moves back."""
    tx.run(
        """
        update consumers set seq = :seq, failures = 0, retry_at = 0, problem = null, updated_at = :now
        where name = :name and seq < :seq
        """,
        name=name,
        seq=seq,
        now=tx.now,
    )


def failed(
    tx: Tx, *, name: str, events: Sequence[Event], reason: str, retry_at: Millis, may_pass_over: bool = True
) -> bool:
    """It could not deal with them. Returns whether the one that failed alone is passed over now.

    ``may_pass_over``: False where the events are not to blame (a full disk, an outside system that is away)."""
    cursor = cursor_of(tx, name)
    if may_pass_over and len(events) == 1 and cursor.failures + 1 >= MAX_ATTEMPTS:
        tx.run(
            """
            insert into consumer_failures (name, seq, type, reason, at) values (:name, :seq, :type, :reason, :now)
            on conflict do update set reason = :reason, at = :now
            """,
            name=name,
            seq=events[0].seq,
            type=events[0].type,
            reason=reason[:MAX_REASON_CHARS],
            now=tx.now,
        )
        done(tx, name=name, seq=events[0].seq)
        return True
    tx.run(
        """
        update consumers set failures = failures + 1, retry_at = :retry_at, problem = :problem, updated_at = :now
        where name = :name
        """,
        name=name,
        retry_at=retry_at,
        problem=reason[:MAX_REASON_CHARS],
        now=tx.now,
    )
    return False


def lags(tx: ReadTx, consumers: Sequence[Consumer[C]]) -> list[Lag]:
    return [_lag(tx, consumer) for consumer in consumers]


def _lag(tx: ReadTx, consumer: Consumer[C]) -> Lag:
    cursor = cursor_of(tx, consumer.name)
    behind = tx.value(
        """
        select count(*) from (
            select 1 from events where seq > :seq and type in (select value from json_each(:types)) limit 10000
        )
        """,
        seq=cursor.seq,
        types=json_array(sorted(consumer.types)),
    )
    passed_over = tx.value("select count(*) from consumer_failures where name = :name", name=consumer.name)
    return Lag(name=consumer.name, events=cast(int, behind), passed_over=cast(int, passed_over), problem=cursor.problem)
