"""litestream: finds, configures and runs it. The only module that knows its commands and messages.

Theory. It reads the write-ahead log of the database and sends new changes, every few seconds, as a numbered file (level
0). Those are joined in the background (levels 1 to 3), and once a day a whole copy is sent (level 9). Level 0 is kept
for 14 days, because a moment can be restored exactly only at the edges of its files. While it runs, it alone folds the
log into the database (see :mod:`svc.backup.archiver`).

When it sends a whole copy. It has no command for "now": it sends one if the newest is older than the last multiple of
an interval, counted from the year 1. So it gets an interval that has a multiple at a moment of our choice, and the next
one twenty years later. It does so beside its other work: changes are sent meanwhile.

Its configuration is a file without secrets: those are in its environment. Versions older than 0.5.17 lose data
silently, so they are refused.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec
import trio

from svc.backup.target import Part, Place, Target
from svc.clock import Millis
from svc.nursery import leash, process_group

OLDEST: Final = (0, 5, 17)
KEEP_DAYS: Final = 14
"""Days for which base backups, one a night, and all changes between them are kept."""
SNAPSHOT_LEVEL: Final = 9
SHOWN_CHARS: Final = 300
"""Of an error message."""
MAX_SAID_BYTES: Final = 32 * 1024 * 1024
"""The archiver's answer to one question. Beyond: the rest is dropped, and the answer can't be read."""
ANSWER_S: Final = 60.0
"""For commands that transfer no data."""
LEDGER_S: Final = 120.0
"""For the ledger, which is small and read first: the program itself retries an unreachable place endlessly."""
ALONE_BYTES_A_S: Final = 256 * 1024
"""Of a base backup that is sent alone, before compression, at least: nothing else is archived meanwhile."""
SLOWEST_BYTES_A_S: Final = 16 * 1024
"""Of all else that is sent to the archive or fetched from it, at least. Beyond: it is given up, and this is said."""
FETCH_S: Final = 600.0
"""Of a database that is restored, and by the size of its files in the archive more."""
NO_COPY: Final = "877440h"
"""A hundred years: the last multiple was in 2002, so a copy is sent only if there is none at all."""
SYNC_FOLDER_S: Final = 1
"""How often changes are sent to a folder, which costs nothing."""
SYNC_S: Final = 10
"""How often they are sent to all other places."""
COPY_PARTS: Final = 2
"""Parts of a whole copy sent to a bucket at the same time; few, so that a slow line has room for new changes."""

_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_YEAR_1_MS: Final = 62_135_596_800_000
"""From the year 1, where the count of multiples begins, to 1970."""
_MULTIPLES: Final = 100
_AZURE: Final = re.compile(r"RESPONSE \d+: (.+?)\s+ERROR CODE: (\w+)", re.DOTALL)
"""The form of a server's answer in Azure's library: rules above and below it, and the whole answer after it."""
_UNKNOWN: Final = "the archive doesn't know these credentials"
_REFUSED: Final = "the credentials of the archive may not do that"
_CAUSES: Final = (
    ("no space left on device", "the disk of the archive is full"),
    ("disk quota exceeded", "the archive has no room left for this user"),
    ("read-only file system", "the disk of the archive can't be written"),
    ("failed to refresh cached credentials", "no credentials are set for the archive"),
    ("could not find default credentials", "no credentials are set for the archive"),
    ("error getting credentials", "the credentials of the archive can't be read"),
    ("cannot create shared key credential", "the key of the archive is not whole"),
    ("RequestTimeTooSkewed", "the clock of this machine is wrong"),
    ("Request date header too old", "the clock of this machine is wrong"),
    ("InvalidAccessKeyId", _UNKNOWN),
    ("SignatureDoesNotMatch", _UNKNOWN),
    ("failed to authenticate the request", _UNKNOWN),
    ("AuthenticationFailed", _UNKNOWN),
    ("googleapi: Error 401", _UNKNOWN),
    ("invalid_grant", _UNKNOWN),
    ("ssh: unable to authenticate", "the server of the archive doesn't know this key"),
    ("ssh: host key mismatch", "another server than the one that is set answers"),
    ("ExpiredToken", "the credentials of the archive have expired"),
    ("AccessDenied", _REFUSED),
    ("AuthorizationFailure", _REFUSED),
    ("AuthorizationPermissionMismatch", _REFUSED),
    ("googleapi: Error 403", _REFUSED),
    ("AccountIsDisabled", "the account of the archive is switched off"),
    ("AuthorizationHeaderMalformed", "the bucket is in another region"),
    ("PermanentRedirect", "the bucket is in another region"),
    ("NoSuchBucket", "there is no such bucket"),
    ("bucket doesn't exist", "there is no such bucket"),
    ("ContainerNotFound", "there is no such container"),
    ("no such host", "the name of its server is not known here"),
    ("connection refused", "nothing answers at its address"),
    ("network is unreachable", "there is no way to its server from here"),
    ("no route to host", "there is no way to its server from here"),
    ("i/o timeout", "its server does not answer"),
    ("x509: ", "the certificate of its server can't be trusted"),
    ("permission denied", "the user of this service may not use that folder"),
)
"""What the archiver says of frequent causes, and how they are told; the first one that fits counts."""
_SMALL: Final = ("svc", "litestream")
_OBTAIN: Final = "install it with `pipx install --force 'svc[archive]'`"
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "NO_PROXY")


class ArchiveFault(Exception):
    """What went wrong and what to do, as a sentence without a full stop."""


def as_sentence(fault: Exception | str) -> str:
    """A fault's words as a sentence."""
    return f"{begun(str(fault)).rstrip('.')}."


def begun(words: str) -> str:
    """With a capital, but for an address or a name that has none."""
    first = words.partition(" ")[0]
    return words if "://" in first or first in _SMALL else words[:1].upper() + words[1:]


class ArchiverSilent(ArchiveFault):
    """The program did not end in time, and was ended."""


class LogMisread(ArchiveFault):
    """It has read only a part of the log, and can't send a full copy without the rest: its place in the log is wrong.
    That happens after another program wrote to the archive, and lasts until the log is folded into the database."""


class Entry(msgspec.Struct, frozen=True):
    """One file of the archive. ``timestamp``: when it was made, in whole seconds."""

    level: int
    min_txid: str
    max_txid: str
    size: int
    timestamp: str

    @property
    def last(self) -> int:
        return int(self.max_txid, 16)

    @property
    def at(self) -> Millis:
        return round(datetime.fromisoformat(self.timestamp).timestamp() * 1000)


class _Planned(msgspec.Struct, frozen=True):
    size: int


class _Plan(msgspec.Struct, frozen=True):
    """What a restore would read."""

    max_txid: str
    files: list[_Planned]

    @property
    def last(self) -> int:
        return int(self.max_txid, 16)

    @property
    def size(self) -> int:
        return sum(one.size for one in self.files)


@dataclass(frozen=True, kw_only=True)
class Litestream:
    """The program, with one target. ``database`` and ``ledger`` are the paths that it archives, or restores."""

    program: Path
    target: Target
    database: Path
    ledger: Path
    environ: Mapping[str, str]
    sync_s: int = SYNC_S
    patience_s: float = LEDGER_S
    fetch_s: float = FETCH_S
    slowest_bytes_a_s: float = SLOWEST_BYTES_A_S

    def config(
        self,
        *,
        socket: Path | None = None,
        parts: Sequence[Part] = ("db", "ledger"),
        copy_after: Millis | None = None,
    ) -> bytes:
        """Its configuration, as JSON, which is also YAML. ``copy_after``: send a whole copy unless one is newer than
        that; ``None``: unless there is any."""
        interval = f"{SYNC_FOLDER_S if self.target.place.kind == 'file' else self.sync_s}s"
        paths = {"db": self.database, "ledger": self.ledger}
        at_once = {"concurrency": COPY_PARTS} if self.target.place.kind == "s3" else {}
        databases = [
            {
                "path": str(paths[part]),
                "monitor-interval": interval,
                "min-checkpoint-page-count": 16_000,
                "truncate-page-n": 2_000_000,  # else a long read would hang the writer
                "replica": {**self.target.replica(part), "sync-interval": interval, **at_once},
            }
            for part in parts
        ]
        keep = f"{24 * KEEP_DAYS}h"
        settings: dict[str, object] = {
            "logging": {"level": "info", "type": "json", "stderr": True},
            "levels": [{"interval": "30s"}, {"interval": "5m"}, {"interval": "1h"}],
            "snapshot": {"interval": _interval(copy_after), "retention": keep},
            "l0-retention": keep,
            "l0-retention-check-interval": "1h",
            "verify-compaction": True,
            "shutdown-sync-timeout": "5s",
            "dbs": databases,
        }
        if socket is not None:
            settings["socket"] = {"enabled": True, "path": str(socket)}
        return msgspec.json.encode(settings)

    def environment(self) -> dict[str, str]:
        """The environment for the program: the credentials, and of ours only what is needed to find programs and
        servers."""
        passed = {name: self.environ[name] for name in _PASSED_ON if name in self.environ}
        return {**passed, **self.target.credentials}

    def replicating(self, config: Path) -> list[str]:
        """The command that runs until it is ended."""
        return [str(self.program), "replicate", "-config", str(config), "-no-expand-env"]

    async def base_backup(self, config: Path) -> None:
        """Send a whole copy of the database, while no archiver runs. Raises :class:`ArchiveFault`, also when it takes
        too long: nothing else is sent meanwhile, and the program would retry an unreachable place forever."""
        deadline_s = self.patience_s + self.database.stat().st_size / ALONE_BYTES_A_S
        await self._run("replicate", config, "-once", "-force-snapshot", "-enforce-retention", deadline_s=deadline_s)

    async def listed(self, config: Path, part: Part, *, level: int) -> list[Entry]:
        """The files of one level in the archive, the oldest first. Raises :class:`ArchiveFault`."""
        path = self.database if part == "db" else self.ledger
        said = await self._run("ltx", config, "-json", "-level", str(level), str(path), deadline_s=10 * ANSWER_S)
        try:
            return sorted(msgspec.json.decode(said or b"[]", type=list[Entry] | None) or [], key=lambda one: one.last)
        except msgspec.DecodeError as error:
            raise ArchiveFault("the archiver's list can't be read") from error

    async def has_database(self, config: Path) -> bool:
        """Whether any state of the database can be restored. Files alone do not make one: an archiver whose place was
        emptied goes on to send changes there. Raises :class:`ArchiveFault`."""
        try:
            await self.reaches(config, "db")
        except ArchiveFault as fault:
            if says_nothing_is_there(str(fault)):
                return False
            if not says_files_are_missing(str(fault)):
                raise
        return True

    async def reaches(self, config: Path, part: Part) -> int:
        """The position that a restore from the existing files would reach; it reads no content and makes no file.
        Raises :class:`ArchiveFault`."""
        return (await self._plan(config, part)).last

    async def _plan(self, config: Path, part: Part, *at: str) -> _Plan:
        path = self.database if part == "db" else self.ledger
        out = path.with_name(f"{path.name}.nowhere")
        asked = ("-dry-run", "-json", *at, "-o", str(out), str(path))
        said = await self._run("restore", config, *asked, deadline_s=10 * ANSWER_S)
        try:
            plan = msgspec.json.decode(said, type=_Plan)
            int(plan.max_txid, 16)
        except (msgspec.DecodeError, ValueError) as error:
            raise ArchiveFault("the archiver did not say what it would restore") from error
        return plan

    async def restore(self, config: Path, part: Part, *, into: Path, position: int | None = None) -> int:
        """Make the database file ``into``, at that position or else the newest. Returns its position.

        The deadline depends on what is to be fetched: a place that sends a byte at a time would never end.
        """
        at = [] if position is None else ["-txid", f"{position:016x}"]
        path = self.database if part == "db" else self.ledger
        words = (*at, "-json", "-integrity-check", "full", "-o", str(into), str(path))
        deadline_s = self.patience_s
        if part == "db":
            deadline_s = self.fetch_s + (await self._plan(config, part, *at)).size / self.slowest_bytes_a_s
        silent = "send all" if part == "db" else "answer"
        said = await self._run("restore", config, *words, deadline_s=deadline_s, late=silent)
        try:
            return int(msgspec.json.decode(said)["txid"], 16)
        except (msgspec.DecodeError, KeyError, ValueError, TypeError) as error:
            raise ArchiveFault("the archiver did not say what it restored") from error

    async def _run(self, word: str, config: Path, *arguments: str, deadline_s: float, late: str = "answer") -> bytes:
        command = [str(self.program), word, "-config", str(config), "-no-expand-env", *arguments]
        try:
            status, out, err = await said_by(command, environ=self.environment(), deadline_s=deadline_s)
        except ArchiverSilent as fault:
            raise ArchiverSilent(f"{self.target.place} did not {late} within {deadline_s:.0f} s") from fault
        if status != 0:
            raise ArchiveFault(complaint(err) or f"the archiver ended with status {status}")
        return out


def kept_beside(database: Path) -> Path:
    """The folder in which it keeps what it sent, and what waits."""
    return database.with_name(f".{database.name}-litestream")


async def said_by(command: Sequence[str], *, environ: Mapping[str, str], deadline_s: float) -> tuple[int, bytes, bytes]:
    """Run a program to its end; returns its status and output. Raises :class:`ArchiveFault` where it can't be run."""
    out, err = bytearray(), bytearray()
    with trio.move_on_after(deadline_s):
        try:
            async with (
                process_group(command, environ=environ, directory=Path("/"), stdin=subprocess.DEVNULL) as child,
                leash(child),
            ):
                assert child.stdout is not None
                assert child.stderr is not None
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_collect, child.stdout, out)
                    nursery.start_soon(_collect, child.stderr, err)
                return await child.wait(), bytes(out), bytes(err)
        except OSError as error:
            raise ArchiveFault(f"{command[0]} can't be run: {error.strerror}") from error
    raise ArchiverSilent("the archiver did not answer in time")


async def _collect(stream: trio.abc.ReceiveStream, into: bytearray) -> None:
    async for piece in stream:
        into += piece[: max(0, MAX_SAID_BYTES - len(into))]


def _interval(copy_after: Millis | None) -> str:
    if copy_after is None:
        return NO_COPY
    return f"{(_YEAR_1_MS + copy_after) * 1_000_000 // _MULTIPLES}ns"


class _Line(msgspec.Struct, frozen=True):
    """A line of its log. A level of the archive has the same name there as the log level, and comes later."""

    msg: str = ""
    db: str = ""
    level: int | str = ""
    error: str = ""


def told_of_copy(line: bytes, database: Path) -> str | None:
    """What a line of its log says about a whole copy of that database: an empty string if it was sent, the reason if it
    failed, ``None`` if the line is about something else."""
    try:
        told = msgspec.json.decode(line, type=_Line)
    except msgspec.DecodeError:
        return None
    if told.db != database.name:
        return None
    if told.msg == "snapshot complete":
        return ""
    if told.msg == "compaction failed" and told.level == SNAPSHOT_LEVEL:
        return _shortened(told.error) or "the archiver did not say why"
    return None


def says_nothing_is_there(fault: str) -> bool:
    """Whether the message means that the place has no archive yet."""
    return "no matching backup" in fault or "no snapshots available" in fault or "transaction not available" in fault


def says_files_are_missing(fault: str) -> bool:
    """Whether the message means that the place has an archive with a hole."""
    return "non-contiguous ltx files" in fault


def says_log_is_misread(fault: str) -> bool:
    """Whether the message reports a misread log: see :class:`LogMisread`."""
    return "write ltx from db" in fault


def in_our_words(fault: ArchiveFault, place: Place) -> ArchiveFault:
    """The fault. If it means that there is no archive, the message names the place."""
    if not says_nothing_is_there(str(fault)):
        return fault
    return ArchiveFault(f"there is no archive at {place}; see whether this is where it lies")


def complaint(said: bytes) -> str:
    """Its last error message, in one line."""
    text = said.decode(errors="replace")
    _, ends, last = f"\n{text}".rpartition("\nError: ")
    if ends:  # with Azure and Google it has several lines, and the first ones say most
        return _shortened(last)
    for line in reversed(text.splitlines()):
        try:
            spoken = msgspec.json.decode(line)
        except msgspec.DecodeError:
            if line.strip():
                return _shortened(line)
            continue
        if isinstance(spoken, dict) and (spoken.get("error") or spoken.get("level") in {"ERROR", "WARN"}):
            return _shortened(f"{spoken.get('msg', '')}: {spoken.get('error', '')}").rstrip(": ")
    return ""


def _shortened(said: str) -> str:
    """The message as one line, after a cause that is known. The middle is cut out: the action is at the beginning, the
    reason at the end."""
    cause = next((words for part, words in _CAUSES if part in said), None)
    line = _one_line(said)
    return line if cause is None else f"{cause} ({line})"


def _one_line(said: str) -> str:
    if (azure := _AZURE.search(said)) is not None:
        return " ".join(f"{azure[1]} ({azure[2]})".split())[:SHOWN_CHARS]
    line = " ".join(said.split())
    if len(line) <= SHOWN_CHARS:
        return line
    return f"{line[: SHOWN_CHARS // 3]} … {line[-2 * SHOWN_CHARS // 3 :]}"


def found_program(chosen: Path | None, environ: Mapping[str, str]) -> Path:
    """The path of the program. Raises :class:`ArchiveFault`."""
    if chosen is not None:
        if not os.access(chosen, os.X_OK) or not chosen.is_file():
            raise ArchiveFault(f"SVC_ARCHIVE_BIN names {chosen}, which is no program")
        return chosen
    beside = Path(sys.executable).with_name("litestream")
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which("litestream", path=environ.get("PATH"))
    if found is None:
        raise ArchiveFault(f"the archiver litestream is not here; {_OBTAIN}")
    return Path(found)


async def refuse_old(program: Path, environ: Mapping[str, str]) -> str:
    """The program's version. Raises :class:`ArchiveFault` for one that loses data."""
    passed = {name: environ[name] for name in _PASSED_ON if name in environ}
    status, out, err = await said_by([str(program), "version"], environ=passed, deadline_s=ANSWER_S)
    found = _VERSION.search(out.decode(errors="replace"))
    if status != 0 or found is None:
        raise ArchiveFault(f"{program} does not say which version of litestream it is: {complaint(err)}".rstrip(": "))
    version = tuple(map(int, found.groups()))
    if version < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise ArchiveFault(f"litestream {found[0]} is too old, it may lose data; {oldest} or newer: {_OBTAIN}")
    return found[0]
