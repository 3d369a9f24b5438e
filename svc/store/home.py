"""The home: the one directory of a service, and the lock that keeps a second process out.

Owns the tree (0700), the home's id and the lock file. The lock is the kernel's (``flock``): it ends with the process,
so a crash leaves nothing to clean up. It never removes anything.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

from svc.ids import new_id
from svc.store.faults import CannotOpen, HomeBusy, HomeNotWritable

PRIVATE_DIRECTORY: Final = 0o700
PRIVATE_UMASK: Final = 0o077
ROOMS: Final = ("db", "blobs", "okf", "spool", "log")

INTERNAL_TOKEN_FILE: Final = "internal.token"  # noqa: S105  a name of a file
INTERNAL_PORT_FILE: Final = "internal.port"
"""Under ``run/``: the port and the token of a running service's internal listener, for commands."""

_LOCK_NAME: Final = "lock"
_ID_NAME: Final = "home-id"
_ID_PATTERN: Final = re.compile(r"home_[0-9a-z]{20}")
_MAX_SMALL_FILE_BYTES: Final = 100


@dataclass
class Home:
    """An open home. A context manager: leaving it releases the lock."""

    path: Path
    id: str
    _lock: int | None

    @classmethod
    def open(cls, path: Path, *, exclusive: bool = True) -> Home:
        """Create what is missing and take the lock; sets the process's umask so that nothing made later is shared.

        Not ``exclusive``: an existing home beside a running service, to read only. Raises :class:`HomeBusy`,
        :class:`HomeNotWritable`, :class:`CannotOpen`.
        """
        os.umask(PRIVATE_UMASK)
        if not exclusive:
            return cls(path, _existing_id(path), None)
        lock: int | None = None
        try:
            _make_private(path)
            lock = _take_lock(path)
            for room in ROOMS:
                _make_private(path / room)
            return cls(path, _own_id(path), lock)
        except BaseException as error:
            if lock is not None:
                os.close(lock)
            if isinstance(error, OSError):
                remedy = "make it a directory you may write, or set SVC_HOME to another"
                raise HomeNotWritable(f"{path} can't be used: {error.strerror}; {remedy}") from error
            raise

    @property
    def database(self) -> Path:
        return self.database_of(self.path)

    @staticmethod
    def database_of(path: Path) -> Path:
        return path / "db" / "svc.sqlite3"

    @staticmethod
    def ledger_of(path: Path) -> Path:
        """The path of the ledger about the archive of the home at ``path``."""
        return path / "db" / "archive.sqlite3"

    @staticmethod
    def begin(path: Path, home_id: str) -> None:
        """Create an empty home at ``path`` with the id of a home that was elsewhere. Raises :class:`CannotOpen`."""
        if not _ID_PATTERN.fullmatch(home_id):
            raise CannotOpen("the archive does not say of which home it is")
        for room in ("", *ROOMS):
            _make_private(path / room)
        write_durably(path / _ID_NAME, f"{home_id}\n".encode())

    @staticmethod
    def busy(path: Path) -> HomeBusy | None:
        """The process that holds the home at ``path`` now, if any. Takes no lock and changes nothing."""
        try:
            descriptor = os.open(path / _LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _held(path, descriptor)
        finally:
            os.close(descriptor)  # this releases the lock too
        return None

    @staticmethod
    def id_of(path: Path) -> str:
        """The id of an existing home. Raises :class:`CannotOpen`."""
        return _existing_id(path)

    @staticmethod
    def exists(path: Path) -> bool:
        """Whether ``path`` is the home of a service."""
        return (path / _ID_NAME).exists()

    @staticmethod
    def last_holder(path: Path) -> int | None:
        """The process that took the lock last, whether or not it has ended since."""
        try:
            with open(path / _LOCK_NAME, "rb") as file:
                noted = file.read(_MAX_SMALL_FILE_BYTES).split()
        except OSError:
            return None
        return int(noted[0]) if noted and noted[0].isdigit() else None

    @staticmethod
    def problem_of(path: Path) -> str | None:
        """Why ``path`` can't be used or created as a home; ``None`` where it can."""
        for wanted in (path, *(path / room for room in ROOMS)):
            why = _unusable(wanted)
            if why is not None:
                return f"{wanted} can't be used: {why}"
        return None

    @property
    def blobs(self) -> Path:
        return self.path / "blobs"

    @property
    def spool(self) -> Path:
        return self.path / "spool"

    @staticmethod
    def spool_of(path: Path) -> Path:
        """The folder where a command leaves files for a running service; created if this home has never been opened."""
        _make_private(path)
        _make_private(path / "spool")
        return path / "spool"

    @staticmethod
    def tell(path: Path, name: str, value: str) -> None:
        """Write a value of this boot to a file in ``run/``, for commands beside the service; only this user can read
        it."""
        _make_private(path / "run")
        write_durably(path / "run" / name, value.encode())

    @staticmethod
    def told(path: Path, name: str) -> str | None:
        """The value that :meth:`tell` wrote last, in this boot or an earlier one."""
        try:
            return (path / "run" / name).read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None

    @property
    def log(self) -> Path:
        return self.path / "log"

    def note_port(self, port: int) -> None:
        """Note the port of this process, for commands that run beside it (:meth:`busy`)."""
        if self._lock is not None:
            os.pwrite(self._lock, b"%d\n%d\n" % (os.getpid(), port), 0)

    def close(self) -> None:
        """Release the lock. The file stays: removing it would let two processes hold two locks of one name."""
        if self._lock is not None:
            fcntl.flock(self._lock, fcntl.LOCK_UN)  # a child between fork and exec may still hold the descriptor
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Home:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def sync_directory(path: Path | str) -> None:
    """Make the file names in ``path`` durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data``: after a crash it holds the old content or the new one, whole."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def _make_private(path: Path) -> None:
    created = not path.exists()
    path.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    if created:
        sync_directory(path.parent)
    if path.stat().st_mode & PRIVATE_UMASK:
        path.chmod(PRIVATE_DIRECTORY)


def _unusable(path: Path) -> str | None:
    """Why ``path`` can't be written or created; ``None`` where it can."""
    try:
        while not path.exists() and path != path.parent:
            path = path.parent
        if not path.is_dir():
            return f"{path} is not a directory"
    except OSError as error:
        return error.strerror or str(error)
    return None if os.access(path, os.W_OK | os.X_OK) else f"{path} can't be written by this user"


def _take_lock(path: Path) -> int:
    descriptor = os.open(path / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        busy = _held(path, descriptor)
        os.close(descriptor)
        raise busy from None
    except BaseException:
        os.close(descriptor)
        raise
    os.ftruncate(descriptor, 0)
    os.write(descriptor, b"%d\n" % os.getpid())
    return descriptor


def _held(path: Path, descriptor: int) -> HomeBusy:
    noted = [int(word) for word in os.read(descriptor, _MAX_SMALL_FILE_BYTES).split() if word.isdigit()]
    pid, port, *_ = [*noted, None, None]
    return HomeBusy(path, pid, port=port)


def _own_id(path: Path) -> str:
    """The id of this home, made at its first boot. It names the home's key, wherever the home is moved."""
    file = path / _ID_NAME
    if not file.exists():
        write_durably(file, f"{new_id('home')}\n".encode())
    return _read_id(file)


def _existing_id(path: Path) -> str:
    file = path / _ID_NAME
    if not file.exists():
        raise CannotOpen(f"{path} is no home of this service; start `svc serve` once, or set SVC_HOME")
    return _read_id(file)


def _read_id(file: Path) -> str:
    text = ""
    with suppress(UnicodeDecodeError), file.open(encoding="ascii") as stream:
        text = stream.read(_MAX_SMALL_FILE_BYTES).strip()
    if not _ID_PATTERN.fullmatch(text):
        raise CannotOpen(f"{file} is damaged; restore it from a backup: it names the key of this home's secrets")
    return text
