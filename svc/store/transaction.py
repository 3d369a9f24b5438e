"""A transaction as an action sees it: SQL with named parameters, the time, and the updates to publish afterwards.

Owns :class:`ReadTx` and :class:`Tx`. Neither begins or ends a transaction, waits, or publishes: the store does that
around them. Rows are plain tuples of None, int, float, str and bytes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import msgspec

from svc.clock import Millis
from svc.store.faults import Fault, exception_for, fault_of
from svc.store.outbox import OutboxRow

Value = None | int | float | str | bytes
Row = tuple[Any, ...]  # the edge: SQLite types its values at run time, the caller's annotation is the statement

_EMIT: Final = """
    insert into outbox (at, topic, kind, ref, payload, audience, device_id)
    values (:at, :topic, :kind, :ref, :payload, :audience, :device_id)
"""
_RECORD: Final = """
    insert into events (at, type, payload, audience, device_id)
    values (:at, :type, :payload, :audience, :device_id)
"""
_EMPTY: Final[Mapping[str, object]] = MappingProxyType({})


class ReadTx:
    """A consistent view of the database. ``now`` is the time when the caller asked for the query."""

    def __init__(self, connection: sqlite3.Connection, *, now: Millis) -> None:
        self._connection = connection
        self._open_cursors: list[sqlite3.Cursor] = []
        self.now = now

    def all(self, sql: str, /, **params: Value) -> list[Row]:
        return self._execute(sql, params).fetchall()

    def one(self, sql: str, /, **params: Value) -> Row | None:
        """The first row, or ``None``."""
        cursor = self._execute(sql, params)
        row: Row | None = cursor.fetchone()
        cursor.close()
        return row

    def value(self, sql: str, /, **params: Value) -> Any:
        """The first column of the first row, or ``None``."""
        row = self.one(sql, **params)
        return None if row is None else row[0]

    def each(self, sql: str, /, **params: Value) -> Iterator[Row]:
        """The rows one by one, for results too large for memory. Ends with the transaction at the latest."""
        if self._open_cursors:
            # A statement that is already being iterated is compiled again for each further iteration, unless its text
            # differs.
            sql = f"{sql}\n-- {len(self._open_cursors)}"
        cursor = self._execute(sql, params)
        self._open_cursors.append(cursor)
        return cursor

    def _execute(self, sql: str, params: Mapping[str, Value]) -> sqlite3.Cursor:
        return self._connection.execute(sql, params)

    def close(self) -> None:
        """Close unfinished cursors: an open one would keep the connection in its old snapshot."""
        for cursor in self._open_cursors:
            cursor.close()
        self._open_cursors.clear()


class Tx(ReadTx):
    """A transaction that may write. Its changes are not visible, and its updates not published, before the commit."""

    def __init__(self, connection: sqlite3.Connection, *, now: Millis) -> None:
        super().__init__(connection, now=now)
        self.emitted: list[OutboxRow] = []
        self.recorded = False
        self.fault: Fault | None = None
        self.cause: sqlite3.Error | None = None

    def run(self, sql: str, /, **params: Value) -> int:
        """Execute one statement. Returns how many rows it changed."""
        return self._execute(sql, params).rowcount

    def run_many(self, sql: str, rows: Iterable[Mapping[str, Value]], /) -> None:
        """Execute one statement for each row of parameters."""
        self._refuse_after_fault()
        try:
            self._connection.executemany(sql, rows)
        except sqlite3.Error as error:
            self._note(error)
            raise

    def emit(
        self,
        *,
        topic: str,
        kind: str,
        id: str,
        payload: Mapping[str, object] = _EMPTY,
        audience: str | None,
        device_id: str | None = None,
    ) -> None:
        """Add a live update: published after the commit, kept for clients that reconnect.

        ``audience`` is a user id, ``EVERYONE``, ``ADMINS``, or ``None`` for subscribers that see everything.
        """
        row = OutboxRow(0, self.now, topic, kind, id, msgspec.json.encode(dict(payload)), audience, device_id)
        seq = self._execute(_EMIT, _outbox_values(row)).lastrowid or 0
        self.emitted.append(replace(row, seq=seq))

    def emit_many(
        self,
        *,
        topic: str,
        kind: str,
        updates: Iterable[tuple[str, Mapping[str, object], str | None]],
        device_id: str | None = None,
    ) -> None:
        """Add a live update for each ``(id, payload, audience)``, in that order, by one statement. See :meth:`emit`."""
        rows = [
            OutboxRow(0, self.now, topic, kind, ref, msgspec.json.encode(dict(payload)), audience, device_id)
            for ref, payload, audience in updates
        ]
        self.run_many(_EMIT, map(_outbox_values, rows))
        seqs = self._last(len(rows))
        self.emitted.extend(replace(row, seq=seq) for seq, row in zip(seqs, rows, strict=True))

    def record(self, *, type: str, payload: Mapping[str, object], audience: str | None, device_id: str) -> int:
        """Keep a durable event record. Returns its sequence number."""
        self.recorded = True
        return self._execute(_RECORD, self._event_values(type, payload, audience, device_id)).lastrowid or 0

    def record_many(
        self, *, type: str, records: Iterable[tuple[Mapping[str, object], str | None]], device_id: str
    ) -> None:
        """Keep an event record for each ``(payload, audience)``, in that order, by one statement."""
        self.recorded = True
        self.run_many(
            _RECORD, (self._event_values(type, payload, audience, device_id) for payload, audience in records)
        )

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A part that may fail alone: if its body raises, its changes are undone and the error is raised on."""
        emitted_before = len(self.emitted)
        self._execute("savepoint part", {})
        try:
            yield
        except BaseException:
            del self.emitted[emitted_before:]
            if self.fault is None:
                self._execute("rollback to part", {})
                self._execute("release part", {})
            raise
        self._execute("release part", {})

    def _execute(self, sql: str, params: Mapping[str, Value]) -> sqlite3.Cursor:
        self._refuse_after_fault()
        try:
            return self._connection.execute(sql, params)
        except sqlite3.Error as error:
            self._note(error)
            raise

    def _event_values(
        self, type: str, payload: Mapping[str, object], audience: str | None, device_id: str
    ) -> Mapping[str, Value]:
        encoded = msgspec.json.encode(dict(payload)).decode()
        return {"at": self.now, "type": type, "payload": encoded, "audience": audience, "device_id": device_id}

    def _last(self, count: int) -> range:
        """The numbers of the ``count`` rows inserted last: nobody else writes meanwhile, so they are consecutive."""
        last = int(self.value("select last_insert_rowid()")) if count else 0
        return range(last - count + 1, last + 1)

    def _note(self, error: sqlite3.Error) -> None:
        """Note the error: some make SQLite drop the whole transaction, and an action that catches one must not go on
        writing."""
        self.fault = fault_of(error) or (None if self._connection.in_transaction else "lost")
        self.cause = error if self.fault else None

    def _refuse_after_fault(self) -> None:
        if self.fault is not None:
            raise exception_for(self.fault, self.cause)


def _outbox_values(row: OutboxRow) -> Mapping[str, Value]:
    return {
        "at": row.at,
        "topic": row.topic,
        "kind": row.kind,
        "ref": row.id,
        "payload": row.payload.decode(),
        "audience": row.audience,
        "device_id": row.device_id,
    }
