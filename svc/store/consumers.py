"""Durable consumers: code that reacts to recorded events at its own pace, without losing or repeating any.

Theory: an event is recorded in the transaction that made it happen. A consumer is a name and a cursor, the sequence
number of the last event it has processed. It gets the next events of its types in order; the cursor moves only when
they are processed. After a crash it gets the same ones again: at least once. :attr:`Event.key` is then the same, so
that an outside system can detect a repeat. Where a consumer changes only the database, ``apply`` runs in the
transaction that moves the cursor: exactly once.

A failure is retried with growing pauses; from the second time on the event is tried alone, so that it does not block
its batch. After :data:`MAX_ATTEMPTS` it is recorded in ``consumer_failures`` and skipped.

Owns the tables ``consumers`` and ``consumer_failures``. Never waits: the loop is in :mod:`svc.store.following`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar, cast

import msgspec

from svc.clock import MINUTE_MS, Millis
from svc.store.arrays import json_array
from svc.store.transaction import ReadTx, Tx

C = TypeVar("C")

MAX_ATTEMPTS: Final = 10
BATCH: Final = 100
MAX_REASON_CHARS: Final = 500
LONGEST_PAUSE_MS: Final = 15 * MINUTE_MS


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded event. ``payload`` is JSON. A struct, since each consumer makes one for each event."""

    seq: int
    at: Millis
    type: str
    payload: bytes
    audience: str | None
    device_id: str

    @property
    def key(self) -> str:
        """The same for every delivery of this event: an outside system detects a repeat by it."""
        return f"event-{self.seq}"


@dataclass(frozen=True, kw_only=True)
class Consumer(Generic[C]):
    """A consumer of events of ``types``. ``name`` names its cursor and must never change.

    It has exactly one of ``apply`` (in the transaction that moves the cursor) and ``handle`` (before it; at least
    once).
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
    """``seq``: the last processed event. ``failures``: failed attempts at the next one. ``retry_at``: the earliest next
    try."""

    name: str
    seq: int
    failures: int
    retry_at: Millis
    problem: str | None


@dataclass(frozen=True, kw_only=True)
class Lag:
    """How far a consumer is behind. ``passed_over``: the number of events it failed on and skipped."""

    name: str
    events: int
    passed_over: int
    problem: str | None


def register(tx: Tx, *, names: Sequence[str]) -> None:
    """Give each consumer without a cursor one at the newest event: it gets later events, not earlier ones."""
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
    """The consumer's cursor and its next events: only one after a failure, none before ``retry_at``."""
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
    """Process these events and move the cursor in one transaction."""
    assert consumer.apply is not None
    consumer.apply(tx, events)
    done(tx, name=consumer.name, seq=events[-1].seq)


def done(tx: Tx, *, name: str, seq: int) -> None:
    """Move the cursor: everything up to ``seq`` is processed. The cursor never moves back."""
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
    """Record that the consumer failed on these events. Returns whether the event that failed alone is now skipped.

    ``may_pass_over``: False where the events are not the cause (a full disk, an outside system that is down).
    """
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
    """How far each of them is behind. One without a cursor is left out: it begins at the newest event with the next
    start of a service, as in a home that only commands have opened yet, or that an earlier version left."""
    return [lag for consumer in consumers if (lag := _lag(tx, consumer)) is not None]


def _lag(tx: ReadTx, consumer: Consumer[C]) -> Lag | None:
    try:
        cursor = cursor_of(tx, consumer.name)
    except LookupError:
        return None
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
