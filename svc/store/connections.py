"""Connections to the database: how they are opened, what each may do, and what is checked before the first query.

Owns the pragmas. The writer is the only connection that may change anything; a reader is opened read-only, and a pragma
says so again. A file that is not a healthy database is refused and never changed.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

from svc.store.faults import CannotOpen, CorruptDatabase

LOCK_WAIT_S: Final = 20.0  # how long SQLite waits for another program's lock before it says busy
CACHED_STATEMENTS: Final = 512
WRITER_CACHE_KIB: Final = 16 * 1024
READER_CACHE_KIB: Final = 8 * 1024
CHECKPOINT_PAGES: Final = 4_000  # 16 MiB of log between checkpoints: fewer fsyncs of the main file
LOG_LIMIT_BYTES: Final = 64 * 1024 * 1024  # a log that grew beyond this is cut back after a checkpoint
ANALYSED_ROWS: Final = 400  # a sample of each index, so that the statistics of a large home take milliseconds
QUICK_CHECK_BYTES: Final = 64 * 1024 * 1024  # larger files are checked by `svc fsck`, not at each boot

# SQLite makes a file of shared memory beside the database, also to read it; on a full disk it calls that an I/O error.
_FULL_CODES: Final = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE})
_MAGIC: Final = b"SQLite format 3\0"
_COMMON_PRAGMAS: Final = (
    "foreign_keys = on",
    "trusted_schema = off",
    "cell_size_check = on",
    "temp_store = memory",
    "mmap_size = 0",  # a failing disk would answer a mapped read with SIGBUS instead of an error
)


def open_writer(path: Path) -> sqlite3.Connection:
    """The one connection that writes. Raises :class:`CorruptDatabase`; creates a database only where no file exists."""
    _refuse_foreign_file(path)
    connection = _connect(path, mode="rwc")
    try:
        _configure(connection, WRITER_CACHE_KIB)
        _refuse_damage(connection, path)
        _use_write_ahead_log(connection, path)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise explained(error, path) from error
    except CannotOpen:
        connection.close()
        raise
    return connection


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that can only read, each time from its own snapshot."""
    connection = _connect(path, mode="ro")
    try:
        _configure(connection, READER_CACHE_KIB)
        connection.execute("pragma query_only = on")
        connection.execute("select count(*) from sqlite_schema").fetchone()
    except sqlite3.DatabaseError as error:
        connection.close()
        raise explained(error, path) from error
    return connection


def close_writer(connection: sqlite3.Connection, *, keeps_log: bool = False) -> None:
    """Fold the log into the database, unless it is to be kept, and close. On a full disk the log simply stays for the
    next boot."""
    try:
        if not keeps_log:  # an archiver would miss what is written now
            connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    except sqlite3.OperationalError:
        pass  # nothing is lost: what is committed is in the log, and the next open reads it
    finally:
        connection.close()


def explained(error: sqlite3.DatabaseError, path: Path) -> CannotOpen:
    """The exception with a sentence for the operator about SQLite's error."""
    if error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return _corrupt(path, str(error))
    if error.sqlite_errorcode in _FULL_CODES:
        return CannotOpen(f"{path} can't be opened: the disk is full; make room on it, and try again")
    if path.exists() and not os.access(path.parent, os.W_OK):
        return CannotOpen(
            f"{path} can't be opened: its folder must be writable, also to read it; make it so, or copy the home to a "
            "disk that is, and set SVC_HOME to the copy"
        )
    return CannotOpen(f"{path} can't be opened: {error}")


def _connect(path: Path, *, mode: str) -> sqlite3.Connection:
    try:
        return sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=LOCK_WAIT_S,
            isolation_level=None,  # only this package begins and ends transactions
            check_same_thread=False,  # one thread at a time, but not always the same one
            cached_statements=CACHED_STATEMENTS,
        )
    except sqlite3.OperationalError as error:
        raise explained(error, path) from error


def _configure(connection: sqlite3.Connection, cache_kib: int) -> None:
    for pragma in _COMMON_PRAGMAS:
        connection.execute(f"pragma {pragma}")
    connection.execute(f"pragma cache_size = -{cache_kib}")


def _use_write_ahead_log(connection: sqlite3.Connection, path: Path) -> None:
    (mode,) = connection.execute("pragma journal_mode = wal").fetchone()
    if mode != "wal":
        raise CannotOpen(f"{path} can't use a write-ahead log here ({mode}); put SVC_HOME on a local disk")
    connection.execute("pragma synchronous = full")
    connection.execute(f"pragma wal_autocheckpoint = {CHECKPOINT_PAGES}")
    connection.execute(f"pragma journal_size_limit = {LOG_LIMIT_BYTES}")
    connection.execute(f"pragma analysis_limit = {ANALYSED_ROWS}")


def _refuse_foreign_file(path: Path) -> None:
    """Refuse an empty file: SQLite would take it for a new database, and drop the log of the database that was there
    before."""
    if not path.exists():
        return
    with path.open("rb") as file:
        start = file.read(len(_MAGIC))
    log = path.with_name(path.name + "-wal")
    if not start and log.exists() and log.stat().st_size > 0:
        raise _corrupt(path, "it is empty, but has a write-ahead log")
    if start and start != _MAGIC:
        raise _corrupt(path, "it is not a SQLite database")


def _refuse_damage(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("select count(*) from sqlite_schema").fetchone()
    if path.stat().st_size <= QUICK_CHECK_BYTES:
        (verdict,) = connection.execute("pragma quick_check(1)").fetchone()
        if verdict != "ok":
            raise _corrupt(path, str(verdict))


def _corrupt(path: Path, why: str) -> CorruptDatabase:
    return CorruptDatabase(
        f"{path} is damaged: {why}. Nothing was changed; move it away and put the newest good backup in its place"
    )
