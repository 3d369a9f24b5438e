"""The way to PostgreSQL: transactions in threads, on a pool of connections, each with an end.

Theory. psycopg blocks, so each transaction runs in a worker thread, as many at a time as there are connections. A
thread can't be stopped, and one that is left behind keeps its connection busy: so a transaction that is cut short has
its statement cancelled at the server, from another thread; where even that brings no end, the connection is hung up.
The thread is always awaited, and the connection comes back to the pool or is thrown away.

A pooler in transaction mode may stand in between, so nothing is said for longer than a transaction: no prepared
statements, no settings of a session, no locks of a session.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import dup
from threading import Lock
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import psycopg
import trio
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from svc.errors import Unavailable
from svc.log import Log
from svc.nursery import ThreadPool

T = TypeVar("T")
Rows = psycopg.Connection[tuple[Any, ...]]
Work = Callable[[Rows], T]

CALL_S: Final = 10.0
"""A call of a cell, waiting for a connection included. Beyond: 503 `unavailable` with `Retry-After`."""
MAX_WAITING: Final = 200
"""Calls that wait for a connection to the database. Beyond: 503 `unavailable` with `Retry-After`."""
STATEMENT_MS: Final = 5_000
MIGRATION_MS: Final = 60_000
CONNECT_S: Final = 5
CONNECTION_S: Final = 5.0
"""Until the pool has a connection for a call."""
CANCEL_S: Final = 2.0
CLOSE_S: Final = 5.0
DETAIL_CHARS: Final = 300
RETRY_AFTER_S: Final = 2

_BEGIN: Final = "begin; set local statement_timeout = {0:d}; set local lock_timeout = {0:d}"
_FAULTS: Final = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, PoolClosed, TooManyRequests)
_READ_ONLY: Final = psycopg.errors.ReadOnlySqlTransaction


class Database:
    """The pool, as an async context manager. ``ssl`` is the ``sslmode`` of libpq; it wins over what the URL says."""

    def __init__(self, url: str, *, ssl: str, pool_size: int, log: Log) -> None:
        self._log = log
        self._threads = ThreadPool(limit=pool_size, name="database")
        self._helpers = ThreadPool(limit=pool_size, name="database-helpers")
        self._heard = _Heard(log)
        self._pool: ConnectionPool[Rows] = ConnectionPool(
            url,
            kwargs=_arguments(url, ssl),
            min_size=2,
            max_size=pool_size,
            open=False,
            name="escrow",
            timeout=CALL_S,
            max_waiting=MAX_WAITING,
            check=ConnectionPool.check_connection,
        )

    async def __aenter__(self) -> Self:
        logging.getLogger("psycopg.pool").addHandler(self._heard)
        await self._helpers.run(self._pool.open)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + 2 * CLOSE_S):
            await self._helpers.run(self._pool.close, CLOSE_S)
        logging.getLogger("psycopg.pool").removeHandler(self._heard)

    @property
    def waiting(self) -> int:
        """Calls that wait for a connection."""
        return self._threads.statistics().tasks_waiting

    def statistics(self) -> dict[str, int]:
        return self._pool.get_stats()

    async def run(self, work: Work[T], *, deadline_s: float = CALL_S, statement_ms: int = STATEMENT_MS) -> T:
        """``work`` in a transaction, which is committed when this returns.

        Raises :class:`Unavailable` where the database does not do it in time; whether it was committed is unknown
        only where the connection broke in that very moment.
        """
        if self.waiting >= MAX_WAITING:
            raise self._unavailable("too many wait")
        call = _Call()
        with trio.move_on_after(deadline_s):
            try:
                return await self._watched(call, work, min(CONNECTION_S, deadline_s), statement_ms)
            except _FAULTS as error:
                raise self._unavailable(_worded(error)) from None
            except _READ_ONLY as error:
                raise self._unavailable(_worded(error)) from None
        raise self._unavailable(f"no answer within {deadline_s:g} s")

    async def _watched(self, call: _Call, work: Work[T], timeout_s: float, statement_ms: int) -> T:
        fault: Exception | None = None
        result: T
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._cut_short, call)
            try:
                result = await self._threads.run(self._transaction, call, work, timeout_s, statement_ms)
            except Exception as error:
                fault = error  # raised below, where no cancellation stands beside it
            finally:
                call.ended.set()
                nursery.cancel_scope.cancel()
        if fault is not None:
            raise fault
        return result

    def _transaction(self, call: _Call, work: Work[T], timeout_s: float, statement_ms: int) -> T:
        """In a thread."""
        with self._pool.connection(timeout=timeout_s) as connection, call.using(connection):
            # One round trip, and gone with the transaction: a pooler gives the session to others.
            connection.execute(_BEGIN.format(statement_ms).encode())
            try:
                result = work(connection)
            except _READ_ONLY:
                connection.close()  # the server was made a standby: the next one may be the new primary
                raise
            connection.commit()
            return result

    async def _cut_short(self, call: _Call) -> None:
        """When the call is cancelled: an end at the server, and if that brings none, an end here."""
        try:
            await trio.sleep_forever()
        finally:
            if not call.ended.is_set():
                with trio.CancelScope(shield=True):
                    await self._helpers.run(call.cancel)
                    with trio.move_on_after(CANCEL_S):
                        await call.ended.wait()
                    if not call.ended.is_set():
                        await self._helpers.run(call.hang_up)

    def _unavailable(self, why: str) -> Unavailable:
        self._log.warning("database.unavailable", why=why, waiting=self.waiting)
        return Unavailable(
            "The database does not answer just now. Try again.", headers={"Retry-After": str(RETRY_AFTER_S)}
        )


class _Call:
    """One transaction, between the thread that runs it and who may cut it short."""

    def __init__(self) -> None:
        self.ended = trio.Event()
        self.connection: Rows | None = None
        self._unwanted = False
        self._lock = Lock()

    @contextmanager
    def using(self, connection: Rows) -> Iterator[None]:
        """While it is ours, and nobody else's statement could be cancelled in place of ours."""
        with self._lock:
            if self._unwanted:
                raise psycopg.OperationalError("cut short before it began")
            self.connection = connection
        try:
            yield
        finally:
            with self._lock:
                self.connection = None

    def cancel(self) -> None:
        """Ask the server to end the statement that runs; at most :data:`CANCEL_S`."""
        with self._lock:
            self._unwanted = True
            if self.connection is not None:
                with suppress(psycopg.Error):
                    self.connection.cancel_safe(timeout=CANCEL_S)

    def hang_up(self) -> None:
        """End the connection under the thread that waits for it: for that one it is as if the server had gone."""
        with self._lock:
            if self.connection is not None:
                with suppress(psycopg.Error, OSError), socket.socket(fileno=dup(self.connection.fileno())) as line:
                    line.shutdown(socket.SHUT_RDWR)


class _Heard(logging.Handler):
    """What the pool says of connections that it can't make, for our log. Its threads hand it to the loop."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log
        self._loop = trio.lowlevel.current_trio_token()

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(trio.RunFinishedError):
            self._loop.run_sync_soon(self._tell, " ".join(record.getMessage().split())[:DETAIL_CHARS])

    def _tell(self, detail: str) -> None:
        self._log.warning("database.pool", detail=detail)


def _arguments(url: str, ssl: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "autocommit": True,  # each transaction begins and ends by our own words
        "prepare_threshold": None,
        "sslmode": ssl,
        "connect_timeout": CONNECT_S,
        "application_name": "svc-key-escrow",
        # A server that is gone without a word is noticed: what was sent and what is awaited.
        "tcp_user_timeout": 10_000,
        "keepalives_idle": 5,
        "keepalives_interval": 3,
        "keepalives_count": 3,
    }
    if ssl == "verify-full" and "sslrootcert" not in conninfo_to_dict(url):
        arguments["sslrootcert"] = "system"
    return arguments


def _worded(error: Exception) -> str:
    """The kind and the code of a fault. Its own text may quote what was sent."""
    code = getattr(error, "sqlstate", None)
    return f"{type(error).__name__} {code}" if code else type(error).__name__
