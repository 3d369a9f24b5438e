"""What can go wrong with the store as a whole, and how the error numbers of SQLite and the system map to it.

Owns the exceptions an operator sees at boot (:class:`CannotOpen` and its subclasses), the fatal :class:`StoreBroken`,
and the mapping of errors to faults. It never decides about the failure of a single action: its caller does.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from svc.errors import Refusal, Unavailable

Fault = Literal["full", "locked", "lost", "broken"]

_PRIMARY_CODE_MASK: Final = 0xFF  # SQLite keeps the primary code in the low byte of an extended one
_FATAL_CODES: Final = frozenset(
    {
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
    }
)
_FULL_ERRNOS: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


class CannotOpen(Exception):
    """The home or its database can't be used. The message tells the operator what is wrong and what to do."""


class HomeBusy(CannotOpen):
    """Another process holds the home. ``pid`` is ``None`` for the moment before that process has written its own;
    ``port`` is the port it listens on, if any."""

    def __init__(self, home: Path, pid: int | None, *, port: int | None = None) -> None:
        holder = "another process" if pid is None else f"process {pid}"
        super().__init__(f"{home} is in use by {holder}; stop it, or set SVC_HOME to another directory")
        self.pid = pid
        self.port = port


class HomeNotWritable(CannotOpen):
    """The home can't be created or written."""


class CorruptDatabase(CannotOpen):
    """The file is a damaged database or not a database. It is not changed."""


class NewerDatabase(CannotOpen):
    """A newer version of the program has migrated this database."""


class OlderDatabase(CannotOpen):
    """The database lacks this version's migrations, and only a start of the service applies them."""


class KeyRefused(CannotOpen):
    """The master key is missing, readable by others, or not a valid key."""


class StoreBroken(Exception):
    """The disk failed under the store. Nothing is acknowledged any more; the process must end.

    After a failed fsync the kernel may have dropped the pages it could not write, so that a second fsync succeeds over
    lost data. Only a restart, which reads what the disk really holds, gives a truthful answer.
    """


def fault_of(error: BaseException | None) -> Fault | None:
    """The fault behind an exception, or ``None`` when the error concerns only the action that raised it."""
    if isinstance(error, StoreBroken):
        return "broken"
    code = getattr(error, "sqlite_errorcode", None) if isinstance(error, sqlite3.Error) else None
    if code is None:
        return None
    if code & _PRIMARY_CODE_MASK == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE:
        return "full"  # the shared-memory file, which grows on the same disk
    if code & _PRIMARY_CODE_MASK in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return "locked"
    if code & _PRIMARY_CODE_MASK in _FATAL_CODES:
        return "broken"
    return None


def exception_for(fault: Fault, cause: BaseException | None) -> Exception:
    """A fresh exception for one caller: several tasks must not raise the same object."""
    if fault == "full":
        return disk_full()
    if fault == "locked":
        return Unavailable("Another program holds the database; try again.")
    if fault == "lost":
        return Unavailable("The transaction was lost; try again.")
    return StoreBroken(f"the database failed: {cause}")


def disk_full() -> Refusal:
    return Refusal("The disk is full; nothing was saved.", code="insufficient_storage")


@contextmanager
def disk_faults() -> Iterator[None]:
    """Translate a full disk into its refusal and a failing one into :class:`StoreBroken`."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL_ERRNOS:
            raise disk_full() from error
        if error.errno == errno.EIO:
            raise StoreBroken(f"the disk failed: {error}") from error
        raise
