"""Small reads on the event loop itself: those that take less time than the hop to a thread and back.

Theory. A query of one account's row takes 0.05 ms, the hop to a reader's thread and back 0.15. So the loop has a
connection of its own. A budget of SQLite steps for each transaction keeps the loop free: a query that needs more is
interrupted, and its caller runs it again in a thread.

After a change many clients run the same query (every open window of a person asks for the same list). They get the
result of the first one, until anything is committed, which SQLite reports (``pragma data_version``). Such a query may
not use the time, and no caller may change the result.

Owns that connection and the kept results. It waits for no lock. Opening it reads files, so it is opened in a thread.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar, cast

from svc.clock import Millis
from svc.store.connections import open_reader
from svc.store.transaction import ReadTx

T = TypeVar("T")

STEPS_MAX: Final = 20_000
"""Steps of SQLite's virtual machine in one read on the loop, about a millisecond."""
KEPT_RESULTS: Final = 32  # some 100 KB each at most
_STEPS_A_LOOK: Final = 1_000
_TO_A_THREAD: Final = frozenset({sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class TooLong(Exception):
    """The query must run in a thread."""


class LoopReader:
    """One connection, for one caller at a time. ``open`` and ``close`` block."""

    def __init__(self) -> None:
        self._connection: sqlite3.Connection | None = None
        self._looks_left = 0
        self._kept: dict[Hashable, object] = {}
        self._kept_at: object = None

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    def open(self, path: Path) -> None:
        self.close()
        connection = open_reader(path)
        connection.execute("pragma busy_timeout = 0")
        connection.set_progress_handler(self._is_used_up, _STEPS_A_LOOK)
        self._connection = connection  # at last: from now on the loop uses it

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._kept.clear()

    def query_kept(self, query: Callable[[ReadTx], T], key: Hashable) -> T:
        """The kept result of :meth:`query` under this key if nothing was committed since, else a new one. Raises as
        that does."""
        if self._connection is None:
            raise TooLong
        self._looks_left = STEPS_MAX // _STEPS_A_LOOK
        at = self._connection.execute("pragma data_version").fetchone()
        if at != self._kept_at:
            self._kept.clear()
            self._kept_at = at
        elif key in self._kept:
            return cast(T, self._kept[key])
        result = self.query(partial(_without_time, query), 0)
        if len(self._kept) >= KEPT_RESULTS:
            del self._kept[next(iter(self._kept))]
        # If a commit came between the look at the version and the query, the next look finds another version.
        self._kept[key] = result
        return result

    def query(self, query: Callable[[ReadTx], T], now: Millis) -> T:
        """Run one read transaction. Raises :class:`TooLong`, and what the query raises."""
        connection = self._connection
        if connection is None:
            raise TooLong  # another caller's query failed after this one found it open
        self._looks_left = STEPS_MAX // _STEPS_A_LOOK
        tx = ReadTx(connection, now=now)
        try:
            connection.execute("begin")
            result = query(tx)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in _TO_A_THREAD:
                raise TooLong from error
            self.close()  # its state is unknown
            raise
        finally:
            tx.close()
            self._looks_left = 1  # the rollback must not be interrupted
            if self.is_open and connection.in_transaction:
                connection.execute("rollback")
        return result

    def _is_used_up(self) -> bool:
        self._looks_left -= 1
        return self._looks_left < 0


def _without_time(query: Callable[[ReadTx], T], tx: ReadTx) -> T:
    """Run ``query`` without a time, because a kept result would hold an old one: a query that uses it fails at once."""
    del tx.now
    return query(tx)
