"""Small reads on the event loop itself: what takes less time than the way to a thread and back.

Theory. A query of one account's row takes 0.05 ms, the hop to a reader's thread and back 0.15. So the loop has a
connection of its own. What keeps the loop free is a budget of SQLite's steps for each transaction: a query that needs
more is broken off, and its caller asks it again in a thread.

Owns that connection. It waits for no lock, and reads no file while it is opened: that is done in a thread.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from svc.clock import Millis
from svc.store.connections import open_reader
from svc.store.transaction import ReadTx

T = TypeVar("T")

STEPS_MAX: Final = 20_000
"""Steps of SQLite's machine in one read on the loop, about a millisecond."""
_STEPS_A_LOOK: Final = 1_000
_TO_A_THREAD: Final = frozenset({sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class TooLong(Exception):
    """The query wants a thread."""


class LoopReader:
    """One connection, for one caller after the other. ``open`` and ``close`` block."""

    def __init__(self) -> None:
        self._connection: sqlite3.Connection | None = None
        self._looks_left = 0

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    def open(self, path: Path) -> None:
        self.close()
        self._connection = open_reader(path)
        self._connection.execute("pragma busy_timeout = 0")
        self._connection.set_progress_handler(self._is_used_up, _STEPS_A_LOOK)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def query(self, query: Callable[[ReadTx], T], now: Millis) -> T:
        """One read transaction, now. Raises :class:`TooLong`, and what the query raises."""
        connection = self._connection
        assert connection is not None, "it is open"
        self._looks_left = STEPS_MAX // _STEPS_A_LOOK
        tx = ReadTx(connection, now=now)
        try:
            connection.execute("begin")
            result = query(tx)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in _TO_A_THREAD:
                raise TooLong from error
            self.close()  # whatever state it is in
            raise
        finally:
            tx.close()
            self._looks_left = 1  # the end of the transaction is not broken off
            if self.is_open and connection.in_transaction:
                connection.execute("rollback")
        return result

    def _is_used_up(self) -> bool:
        self._looks_left -= 1
        return self._looks_left < 0
