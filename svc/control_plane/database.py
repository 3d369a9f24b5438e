"""Access to PostgreSQL: transactions run in threads, on a pool of connections, each with a deadline.

Theory. psycopg blocks, so each transaction runs in a worker thread; there are as many threads as connections. A thread
can't be stopped, and an abandoned thread keeps its connection busy. So for a cancelled transaction another thread
cancels the statement at the server; if even that does not end it, the connection is closed under it. The thread is
always awaited, and the connection goes back to the pool or is discarded.

The pool checks no connection before it lends it: that check has no timeout where the server hangs, and costs each call
a round trip. Instead the first statement of a transaction is the check: if the connection is dead, nothing has been
done yet, so all idle connections are replaced and the transaction starts again on a new one.

A pooler in transaction mode may stand in between, so nothing lasts longer than a transaction: no prepared statements,
no session settings, no session locks.
"""

from __future__ import annotations

import logging
import math
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os import dup
from threading import Lock
from time import monotonic, sleep
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
"""The longest wait of a call for a connection of the pool."""
RECONNECT_S: Final = 3.0
"""How long the pool goes on with one attempt to connect. The next call starts another attempt, so the service works
again as soon as the server is back, even after hours; one attempt with longer and longer pauses would sleep on."""
RENEW_EVERY_S: Final = 1.0
"""The shortest time between two replacements of all idle connections."""
AGAIN_S: Final = 0.25
"""The pause between two tries of one call, where a new connection is dead too."""
FRESH_S: Final = 2.0
"""How long the database counts as available after its last answer."""
CANCEL_S: Final = 2.0
CLOSE_S: Final = 5.0
DETAIL_CHARS: Final = 300
RETRY_AFTER_S: Final = 2

_BEGIN: Final = "begin; set local statement_timeout = {0:d}; set local lock_timeout = {0:d}"
_FAULTS: Final = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, PoolClosed, TooManyRequests)
_READ_ONLY: Final = psycopg.errors.ReadOnlySqlTransaction
_SENT_AWAY: Final = (psycopg.errors.AdminShutdown, psycopg.errors.CrashShutdown, psycopg.errors.CannotConnectNow)
NoRight = psycopg.errors.InsufficientPrivilege
"""The database role of the service lacks a right."""


class Database:
    """The pool, as an async context manager. ``ssl`` is the ``sslmode`` of libpq; it wins over what the URL says."""

    def __init__(self, url: str, *, ssl: str, pool_size: int, log: Log) -> None:
        self._log = log
        self._threads = ThreadPool(limit=pool_size, name="database")
        self._helpers = ThreadPool(limit=pool_size, name="database-helpers")
        self._heard = _Heard(log)
        self._pool: ConnectionPool[_Connection] = ConnectionPool(
            url,
            connection_class=_Connection,
            kwargs=_arguments(url, ssl),
            min_size=2,
            max_size=pool_size,
            open=False,
            name="escrow",
            timeout=CALL_S,
            max_waiting=MAX_WAITING,
            reconnect_timeout=RECONNECT_S,
        )
        self._renewing = Lock()
        self._renewed_at = -math.inf
        self._refused = False
        self._back_at = -math.inf
        self._answered_at = -math.inf

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

    @property
    def last_heard(self) -> str:
        """The last error that kept the pool from connecting. Empty if there was none."""
        return self._heard.last

    async def look(self) -> None:
        """Raises :class:`Unavailable` unless the database can serve a call now. A recent successful call is enough:
        under load another query would only wait in the queue."""
        if trio.current_time() - self._answered_at > FRESH_S:
            await self.run(_see_that_it_writes, deadline_s=FRESH_S)

    async def run(self, work: Work[T], *, deadline_s: float = CALL_S, statement_ms: int = STATEMENT_MS) -> T:
        """Runs ``work`` in a transaction, which is committed when this returns.

        Raises :class:`Unavailable` if the database does not do it in time. Whether it was committed is unknown only if
        the connection broke at that very moment.
        """
        if self.waiting >= MAX_WAITING:
            raise self._unavailable("too many wait")
        call = _Call()
        with trio.move_on_after(deadline_s):
            try:
                done = await self._watched(call, work, min(CONNECTION_S, deadline_s), statement_ms)
            except (*_FAULTS, _READ_ONLY) as error:
                self._answered_at = -math.inf
                raise self._unavailable(_worded(error)) from None
            self._answered_at = trio.current_time()
            return done
        raise self._unavailable(f"no answer within {deadline_s:g} s")

    async def _watched(self, call: _Call, work: Work[T], timeout_s: float, statement_ms: int) -> T:
        fault: Exception | None = None
        result: T
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._cut_short, call)
            try:
                result = await self._threads.run(self._transaction, call, work, timeout_s, statement_ms)
            except Exception as error:
                fault = error  # raised below, outside of the nursery that is cancelled
            finally:
                call.ended.set()
                nursery.cancel_scope.cancel()
        if fault is not None:
            raise fault
        return result

    def _transaction(self, call: _Call, work: Work[T], timeout_s: float, statement_ms: int) -> T:
        """Runs in a thread. Tries again on a new connection if nothing can have been done on the old one: it was dead,
        or its server became a standby and the next one may be the new primary."""
        give_up = monotonic() + timeout_s
        while True:
            connection = self._pool.getconn(timeout=max(give_up - monotonic(), 0.0))
            tried = _Tried()
            try:
                with call.using(connection):
                    done = _try(connection, work, statement_ms, tried)
                self._note_done(connection)
                return done
            except _READ_ONLY:
                if monotonic() >= give_up:
                    raise
                if connection.good_at >= self._back_at:
                    self._refused = True
                    if not self._renew() and connection.good_at >= self._renewed_at:
                        raise
                connection.close()  # from before all were replaced, or before another one wrote again
            except psycopg.OperationalError as error:
                is_dead = connection.broken or isinstance(error, _SENT_AWAY)
                if tried.begun or not is_dead or call.unwanted or monotonic() >= give_up:
                    raise
                if not self._renew():
                    sleep(AGAIN_S)  # a new one is dead too: a pooler whose server is away answers so at once
            finally:
                self._pool.putconn(connection)

    def _note_done(self, connection: _Connection) -> None:
        now = monotonic()
        if self._refused:
            self._refused, self._back_at = False, now
        connection.good_at = now

    def _renew(self) -> bool:
        """Replaces all connections, those in use when they come back: one failure probably affects all. Returns False
        if this was done a moment ago. Runs in a thread."""
        with self._renewing:
            if monotonic() - self._renewed_at < RENEW_EVERY_S:
                return False
            self._renewed_at = monotonic()
        self._pool.drain()
        return True

    async def _cut_short(self, call: _Call) -> None:
        """If the call is cancelled: cancels its statement at the server, and if that does not end it, closes the
        connection."""
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
                        await self._helpers.run(self._renew)

    def _unavailable(self, why: str) -> Unavailable:
        self._log.warning("database.unavailable", why=why, waiting=self.waiting)
        return Unavailable(
            "The database does not answer just now. Try again.", headers={"Retry-After": str(RETRY_AFTER_S)}
        )


class _Connection(psycopg.Connection[tuple[Any, ...]]):
    """``good_at``: when it last did a transaction; before that, when it began: whether its server takes writes was
    decided later."""

    good_at = -math.inf

    @classmethod
    def connect(cls, *args: Any, **more: Any) -> Self:
        begun_at = monotonic()
        made = super().connect(*args, **more)
        made.good_at = begun_at
        return made


@dataclass
class _Tried:
    """How far a transaction came."""

    begun: bool = False


def _try(connection: Rows, work: Work[T], statement_ms: int, tried: _Tried) -> T:
    """Everything that waits for the server, the rollback too, so that all of it can be cancelled."""
    try:
        # One round trip. The setting ends with the transaction, since a pooler gives the session to others.
        connection.execute(_BEGIN.format(statement_ms).encode())
        tried.begun = True
        result = work(connection)
        connection.commit()
    except _SENT_AWAY:
        connection.close()
        raise
    except BaseException:
        if not connection.closed:
            with suppress(psycopg.Error):
                connection.rollback()
        raise
    return result


def _see_that_it_writes(connection: Rows) -> None:
    """Raises for a standby: it answers, but it can serve no call, since each call writes a line of the audit."""
    if connection.execute("show transaction_read_only").fetchone() == ("on",):
        raise _READ_ONLY("the server takes no writes")


class _Call:
    """One transaction, shared by the thread that runs it and the code that may cancel it."""

    def __init__(self) -> None:
        self.ended = trio.Event()
        self.connection: Rows | None = None
        self.unwanted = False
        self._lock = Lock()

    @contextmanager
    def using(self, connection: Rows) -> Iterator[None]:
        """Sets the connection while the transaction uses it, so that :meth:`cancel` can't cancel another call's
        statement."""
        with self._lock:
            if self.unwanted:
                raise psycopg.OperationalError("cut short before it began")
            self.connection = connection
        try:
            yield
        finally:
            with self._lock:
                self.connection = None

    def cancel(self) -> None:
        """Asks the server to cancel the running statement; takes at most :data:`CANCEL_S`."""
        with self._lock:
            self.unwanted = True
            if self.connection is not None:
                with suppress(psycopg.Error):
                    self.connection.cancel_safe(timeout=CANCEL_S)

    def hang_up(self) -> None:
        """Shuts down the socket while the thread waits for it: to the thread it looks as if the server had gone."""
        with self._lock:
            if self.connection is not None:
                with suppress(psycopg.Error, OSError), socket.socket(fileno=dup(self.connection.fileno())) as line:
                    line.shutdown(socket.SHUT_RDWR)


class _Heard(logging.Handler):
    """Writes to our log what the pool reports of failed connections. Its threads hand the messages to the event
    loop."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self.last = ""
        self._log = log
        self._loop = trio.lowlevel.current_trio_token()

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(trio.RunFinishedError):
            kept_from = str(record.msg).startswith("error connecting")
            self._loop.run_sync_soon(self._tell, " ".join(record.getMessage().split())[:DETAIL_CHARS], kept_from)

    def _tell(self, detail: str, kept_from_connecting: bool) -> None:
        if kept_from_connecting:
            self.last = detail
        self._log.warning("database.pool", detail=detail)


def _arguments(url: str, ssl: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "autocommit": True,  # our own statements begin and end each transaction
        "prepare_threshold": None,
        "sslmode": ssl,
        "connect_timeout": CONNECT_S,
        "application_name": "svc-key-escrow",
        # Detects a server that vanished without closing: for sent data and for awaited answers.
        "tcp_user_timeout": 10_000,
        "keepalives_idle": 5,
        "keepalives_interval": 3,
        "keepalives_count": 3,
    }
    if ssl == "verify-full" and "sslrootcert" not in conninfo_to_dict(url):
        arguments["sslrootcert"] = "system"
    return arguments


def _worded(error: Exception) -> str:
    """The type and the SQLSTATE of an error. Its own text may quote what was sent."""
    code = getattr(error, "sqlstate", None)
    return f"{type(error).__name__} {code}" if code else type(error).__name__
