"""Snapshots of ``okf/`` by restic, each night; the last one of each of 14 days is kept.

restic runs for a few minutes as a child process: in its own process group, within a deadline, with only those
environment variables that it and its storage backends use. Its exit code alone decides the result: 0 is success, 3 is a
snapshot in which some files are missing, 10 to 12 name a fault of the repository (restic 0.17 or later), and any other
is a failure. Owns the record of the last night (in ``meta``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec
import trio

from svc.clock import DAY_MS, HOUR_MS, SECOND_MS, Clock, Millis, rfc3339
from svc.log import Log
from svc.nursery import autojump_held, open_task_group, process_group
from svc.store import ReadTx, Store, Tx, records

KEPT_DAYS: Final = 14
NIGHTLY: Final = timedelta(hours=2, minutes=10)
"""The time of the local day."""
RETRY_MS: Final = 6 * HOUR_MS
"""The pause after a failed night."""
WITHIN_S: Final = 3_600.0
SAID_AT_MOST: Final = 4 * 1024 * 1024
ERROR_BYTES: Final = 16 * 1024
TAG: Final = "svc-okf"
PASSED_ON: Final = frozenset({"PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "SSH_AUTH_SOCK", "SSL_CERT_FILE"})
PASSED_PREFIXES: Final = ("RESTIC_", "AWS_", "AZURE_", "GOOGLE_", "B2_", "OS_", "ST_", "RCLONE_", "XDG_")
_KEY: Final = "okf-snapshots"
_NO_REPOSITORY: Final = 10
_PARTIAL: Final = 3
_WORDS: Final[Mapping[int, str]] = {
    _PARTIAL: "some files could not be read, and are not in the snapshot",
    _NO_REPOSITORY: "there is no repository there any more; it is not made anew by itself",
    11: "the repository is locked by another program; run: restic unlock, if none is running",
    12: "the repository's password is another; correct RESTIC_PASSWORD_FILE",
}


class Snapshot(msgspec.Struct, frozen=True):
    id: str
    at: str


class Kept(msgspec.Struct, frozen=True):
    """``made_at``: the time of the last complete snapshot; ``tried_at``: of the last try. ``snapshots``: the newest
    first."""

    tried_at: Millis = 0
    made_at: Millis | None = None
    problem: str | None = None
    snapshots: tuple[Snapshot, ...] = ()


class SnapshotFault(Exception):
    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status
        self.words = words


@dataclass(kw_only=True)
class Snapshots:
    """``repository`` is ``None`` if snapshots are off."""

    store: Store
    clock: Clock
    log: Log
    home: Path
    repository: str | None
    program: str
    environ: Mapping[str, str]
    _turn: trio.Lock = field(default_factory=trio.Lock)

    async def status(self) -> Kept:
        return await self.store.read(kept)

    async def run_due(self) -> None:
        """The job: runs once a night, and again some hours after a failure."""
        if self.repository is None:
            return
        before = await self.status()
        if is_due(before, now=self.clock.now()):
            await self.make()

    async def make(self) -> Kept:
        """Makes a snapshot now, removes old ones, and records the result."""
        async with self._turn:
            before = await self.status()
            now = self.clock.now()
            problem: str | None = None
            made_at, found = before.made_at, before.snapshots
            try:
                await self._make(is_first=before.made_at is None)
                made_at = now
                found = await self._list()
            except SnapshotFault as fault:
                problem = f"No snapshot of okf/ was made: {fault.words}."
                if fault.status == _PARTIAL:
                    problem = f"The snapshot of okf/ is not whole: {fault.words}."
                    with suppress(SnapshotFault):
                        found = await self._list()
                self.log.warning("okf.snapshot_failed", why=problem)
            after = Kept(tried_at=now, made_at=made_at, problem=problem, snapshots=found)
            await self.store.write(keep, after)
            return after

    async def _make(self, *, is_first: bool) -> None:
        if is_first:
            try:
                await self._restic("cat", "config", "--no-lock")  # a lock that a killed restic left would refuse it
            except SnapshotFault as fault:
                if fault.status not in {1, _NO_REPOSITORY}:  # before 0.17 restic exits with 1 for every fault
                    raise
                await self._restic("init")
        await self._restic("unlock")  # removes the locks of a killed restic, but not those of a running one
        await self._restic("backup", "okf", "--tag", TAG, "--host", "svc")
        await self._restic(
            *("forget", "--tag", TAG, "--host", "svc", "--group-by", "tags"),
            *("--keep-daily", str(KEPT_DAYS), "--prune"),
        )
        await self._restic("check")

    async def _list(self) -> tuple[Snapshot, ...]:
        said = await self._restic("snapshots", "--json", "--tag", TAG)
        try:
            rows = msgspec.json.decode(said or b"[]", type=list[dict[str, object]])
        except msgspec.MsgspecError:
            return ()
        found = [Snapshot(id=str(row.get("short_id") or row.get("id") or ""), at=_instant(row)) for row in rows]
        return tuple(sorted(found, key=lambda one: one.at, reverse=True))

    async def _restic(self, *words: str) -> bytes:
        """Runs restic and returns its output. Raises :class:`SnapshotFault`."""
        assert self.repository is not None, "there is one where snapshots are made"
        environ = {
            name: value for name, value in self.environ.items() if name in PASSED_ON or name.startswith(PASSED_PREFIXES)
        } | {"RESTIC_REPOSITORY": self.repository, "RESTIC_PROGRESS_FPS": "0"}
        environ.setdefault("RESTIC_CACHE_DIR", str(self.home / "spool" / "restic"))
        with autojump_held():
            return await _ran([self.program, *words], environ=environ, directory=self.home)


def _instant(row: Mapping[str, object]) -> str:
    """The time of a snapshot. restic prints nanoseconds, in the time zone of the machine."""
    try:
        return rfc3339(round(datetime.fromisoformat(str(row.get("time"))).timestamp() * SECOND_MS))
    except ValueError:
        return rfc3339(0)


async def _ran(command: Sequence[str], *, environ: Mapping[str, str], directory: Path) -> bytes:
    said, complained = bytearray(), bytearray()
    status: int | None = None
    try:
        with trio.move_on_after(WITHIN_S):
            async with process_group(command, environ=environ, directory=directory) as process:
                assert process.stdin is not None, "it was asked for"
                await process.stdin.aclose()  # so that it can't ask for input
                async with open_task_group() as nursery:
                    nursery.start_soon(_read, process.stdout, said, SAID_AT_MOST)
                    nursery.start_soon(_read, process.stderr, complained, ERROR_BYTES)
                status = await process.wait()
    except OSError as error:
        remedy = "install restic, or name it in SVC_SNAPSHOT_BIN"
        raise SnapshotFault(127, f"{command[0]} can't be run ({error.strerror}); {remedy}") from error
    if status is None:
        raise SnapshotFault(-1, f"it took longer than {WITHIN_S / 60:g} minutes")
    if status != 0:
        raise SnapshotFault(status, _WORDS.get(status) or _last_line(complained) or f"restic ended with {status}")
    return bytes(said)


async def _read(stream: trio.abc.ReceiveStream | None, into: bytearray, at_most: int) -> None:
    """Reads the stream to its end, and keeps the first ``at_most`` bytes."""
    assert stream is not None, "it was asked for"
    while piece := await stream.receive_some(64 * 1024):
        into += piece[: max(0, at_most - len(into))]


def _last_line(said: bytearray) -> str:
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    words = next((line for line in lines if line.startswith("Fatal:")), lines[-1] if lines else "")
    return "".join(sign if sign.isprintable() else " " for sign in words.removeprefix("Fatal:").strip())[:300]


def is_due(before: Kept, *, now: Millis) -> bool:
    """Whether a snapshot is due: once a night by the local clock, however long the machine slept. A clock that was set
    back does not delay it."""
    local = datetime.fromtimestamp(now / SECOND_MS).astimezone()
    tonight = (local.replace(hour=0, minute=0, second=0, microsecond=0) + NIGHTLY).timestamp() * SECOND_MS
    latest = tonight if now >= tonight else tonight - DAY_MS
    made = before.made_at or 0
    if made > now or before.tried_at > now:
        return True
    return made < latest and (before.tried_at < latest or now - before.tried_at >= RETRY_MS)


def kept(tx: ReadTx) -> Kept:
    found = records.noted(tx, _KEY)
    return Kept() if found is None else msgspec.json.decode(found, type=Kept)


def keep(tx: Tx, found: Kept) -> None:
    records.note(tx, key=_KEY, value=msgspec.json.encode(found).decode())
