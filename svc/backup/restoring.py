"""Restoring: makes a home as it was at a moment, in a new folder, from archive and replica.

The home is completed under another name beside the folder and checked (SQLite's own check, every invariant, every blob
read and hashed) before it is renamed, so the folder is complete or does not exist. It never touches a home that has
data.

Which moment. A recovery point is exact. Between two of them the archive has a state every few seconds, and the last one
that is not after the wanted time is used. "latest" is the newest state whose blobs are all in the replica.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from svc.backup.beyond import Bringing
from svc.backup.catalogue import Catalogue
from svc.backup.folders import scratch_for
from svc.backup.litestream import ArchiveFault, Litestream, as_sentence, in_our_words
from svc.backup.minting import names_in
from svc.backup.points import Point, digest_of
from svc.capabilities import CodeRefused, code_fits, key_source, put_back, sealed_of
from svc.clock import SECOND_MS, Clock, Millis, rfc3339
from svc.config import Config
from svc.errors import Refusal
from svc.nursery import ThreadPool
from svc.replica import Target
from svc.store import (
    Blobs,
    CannotOpen,
    Home,
    Invariant,
    KeyRefused,
    Ledger,
    Store,
    forget_secrets,
    has_secrets,
    newest,
    run_fsck,
    write_durably,
)

if TYPE_CHECKING:
    from sqlite_utils.migrations import Migrations

CONFIG: Final = "archive.json"
SHOWN_PROBLEMS: Final = 5
_FULL: Final = "no space left on device"


class RestoreFault(Exception):
    """Nothing was restored: what is wrong, and what to do. No files are left behind."""


class _BlobsMissing(RestoreFault):
    """The replica lacks some of the blobs."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """``at``: the wanted moment, or the newest. ``point``: exactly that recovery point. ``code``: opens the copy of the
    master key. ``keeps_secrets``: a trial, which reads no secret and changes no key. ``without_blobs``: restore even
    without a replica."""

    into: Path
    at: Millis | None = None
    point: Point | None = None
    code: str | None = None
    keeps_secrets: bool = False
    without_blobs: bool = False


@dataclass(frozen=True, kw_only=True)
class Restored:
    """``at``: the time of the restored state; ``notes``: what a person should know about it, a sentence each."""

    into: Path
    position: int
    at: Millis | None
    point: Point | None
    blobs: int
    """The number of blobs fetched and verified."""
    notes: tuple[str, ...]


@dataclass(kw_only=True)
class Restoring:
    """Restores from one archive. ``tell`` is called with each step, as a line of text."""

    tool: Litestream
    beyond: Target | None
    config: Config
    clock: Clock
    threads: ThreadPool
    invariants: Sequence[Invariant]
    migrations: Sequence[Migrations]
    environ: Mapping[str, str]
    tell: Callable[[str], None] = field(default=lambda line: None)

    async def restore(self, wanted: Wanted) -> Restored:
        """Restore into a new folder. Raises :class:`RestoreFault`."""
        held = ExitStack()
        try:
            await self.threads.run(_refuse_data, wanted.into)
            scratch = await self.threads.run(held.enter_context, scratch_for(wanted.into))
            done = await self._made(wanted, scratch)
            await self.threads.run((scratch / CONFIG).unlink)
            await self.threads.run(_put_in_place, scratch, wanted.into)
            return done
        except (ArchiveFault, CodeRefused, KeyRefused, CannotOpen, Refusal) as fault:
            if _FULL in str(fault):  # the archiver's words, with the name of a file that is gone by now
                raise RestoreFault(f"the disk of {wanted.into} is full; nothing was restored") from fault
            raise RestoreFault(str(fault)) from fault
        except OSError as error:
            raise RestoreFault(f"{error.filename or wanted.into}: {error.strerror}") from error
        finally:
            with trio.CancelScope(shield=True):  # removes files, and waits for nothing else
                await self.threads.run(held.close)

    async def _made(self, wanted: Wanted, scratch: Path) -> Restored:
        catalogue, config = await self._catalogue(scratch)
        if wanted.code is not None:
            await self.threads.run(self._refuse_code, wanted, wanted.code, catalogue)
        points = await self.threads.run(catalogue.points)
        point, position, at = await self._moment(wanted, points, config)
        attempt = partial(self._at, wanted, scratch, catalogue, config)
        try:
            return await attempt(point=point, position=position, at=at)
        except _BlobsMissing as fault:
            if wanted.at is not None or wanted.point is not None:
                raise
            self.tell(f"{as_sentence(fault)} An earlier state is looked for")
            return await self._earlier(attempt, points[0] if points else None, config, fault)

    def _refuse_code(self, wanted: Wanted, code: str, catalogue: Catalogue) -> None:
        """Raise :class:`RestoreFault` early if the code is wrong: fetching everything may take hours."""
        sealed = sealed_of(catalogue.ledger)
        if sealed is None:
            raise RestoreFault("this archive holds no copy of the master key; restore without the recovery code")
        code_fits(sealed, code, config=self.config, home=wanted.into, environ=self.environ)

    async def _earlier(
        self,
        attempt: Callable[..., Awaitable[Restored]],
        point: Point | None,
        config: Path,
        fault: _BlobsMissing,
    ) -> Restored:
        """Restore the newest state whose blobs the replica has, by binary search after the newest recovery point: blobs
        reach the replica in about the order of their creation."""
        entries = await self.tool.listed(config, "db", level=0)
        states = [one for one in entries if point is None or one.last > point.position][:-1]
        good, bad, last_tried = -1, len(states), -1
        done: Restored | None = None
        while bad - good > 1:
            last_tried = (good + bad) // 2
            try:
                done = await attempt(point=None, position=states[last_tried].last, at=states[last_tried].at)
                good = last_tried
            except _BlobsMissing:
                bad = last_tried
        if done is not None and last_tried == good:
            return done
        if good >= 0:
            return await attempt(point=None, position=states[good].last, at=states[good].at)
        if point is None:
            raise fault
        return await attempt(point=point, position=point.position, at=point.at)

    async def _catalogue(self, scratch: Path) -> tuple[Catalogue, Path]:
        """The archive's catalogue. Raises :class:`ArchiveFault`."""

        def begin() -> Path:
            (scratch / "db").mkdir(mode=0o700)
            config = scratch / CONFIG
            write_durably(config, self.tool.config())
            return config

        config = await self.threads.run(begin)
        ledger = Home.ledger_of(scratch)
        self.tell(f"Reading {self.tool.target.place}")
        try:
            await self.tool.restore(config, "ledger", into=ledger)
        except ArchiveFault as fault:
            raise in_our_words(fault, self.tool.target.place) from None
        catalogue = Catalogue(Ledger(ledger))
        home = await self.threads.run(catalogue.home)
        if home is None:
            raise ArchiveFault("the archive does not say of which home it is")
        await self.threads.run(catalogue.end_writing)
        await self.threads.run(Home.begin, scratch, home)
        return catalogue, config

    async def _moment(
        self, wanted: Wanted, points: Sequence[Point], config: Path
    ) -> tuple[Point | None, int | None, Millis | None]:
        """The position to restore, with its point, if any, and its time."""
        if wanted.point is not None:
            return wanted.point, wanted.point.position, wanted.point.at
        if wanted.at is None:
            return None, None, None
        point = next((one for one in points if one.at <= wanted.at), None)
        entries = await self.tool.listed(config, "db", level=0)
        # The archive's times are whole seconds: a file made within the last one may be later than the wanted time.
        between = [one for one in entries if one.at + SECOND_MS <= wanted.at]
        if between and (point is None or between[-1].last > point.position):
            return None, between[-1].last, between[-1].at
        if point is None:
            first = min((one.at for one in entries), default=None)
            began = "" if first is None else f"; it begins at {rfc3339(first)}"
            raise RestoreFault(f"the archive has nothing from before {rfc3339(wanted.at)}{began}")
        return point, point.position, point.at

    async def _at(
        self,
        wanted: Wanted,
        scratch: Path,
        catalogue: Catalogue,
        config: Path,
        *,
        point: Point | None,
        position: int | None,
        at: Millis | None,
    ) -> Restored:
        await self.threads.run(_clear, scratch)
        self.tell("Restoring the database" + ("" if at is None else f" as it was at {rfc3339(at)}"))
        database = Home.database_of(scratch)
        found = await self.tool.restore(config, "db", into=database, position=position)
        store = await self.threads.run(
            partial(Store.open, database, clock=self.clock, threads=self.threads, migrations=self.migrations)
        )
        try:
            blobs = await self.threads.run(partial(Blobs.open, scratch / "blobs", threads=self.threads))
            names = await store.read(names_in, _references(self.invariants))
            notes = await self._fill(wanted, blobs, names)
            if point is not None:
                await self._compare(store, point, names)
            if not wanted.keeps_secrets:
                notes += await self._keys(wanted, scratch, store, catalogue)
            await self.threads.run(_make_private, scratch / "db")
            self.tell("Checking all of it")
            await self._check(store, blobs, without_blobs=bool(notes) and self.beyond is None)
        finally:
            await store.close()
        return Restored(
            into=wanted.into,
            position=found,
            at=at or await self._time_of(found, config),
            point=point,
            blobs=0 if self.beyond is None else len(names),
            notes=tuple(notes),
        )

    async def _time_of(self, position: int, config: Path) -> Millis | None:
        """When that state was archived; ``None`` where that is unknown, which is no reason to refuse a restore."""
        try:
            entries = await self.tool.listed(config, "db", level=0)
        except ArchiveFault:
            return None
        return next((one.at for one in entries if one.last == position), None)

    async def _fill(self, wanted: Wanted, blobs: Blobs, names: set[str]) -> list[str]:
        """Fetch every blob that the database names from the replica."""
        if not names:
            return []
        if self.beyond is None:
            if wanted.without_blobs:
                return [
                    f"The content of {len(names)} mails and files is not here: no replica of the blobs is configured. "
                    "svc fetches mail and its attachments again from the mailbox, as soon as you read them; uploads "
                    "are lost."
                ]
            raise RestoreFault(
                f"the database names {len(names)} blobs, and no replica is configured; set SVC_BLOB_REPLICA_URL, "
                "or restore without them (--without-blobs)"
            )
        self.tell(f"Fetching {len(names)} blobs")
        bringing = Bringing(self.beyond, sorted(names), blobs)
        await bringing.run()
        if bringing.missing:
            raise _BlobsMissing(
                f"the replica lacks {len(bringing.missing)} of {len(names)} blobs, the first is {bringing.missing[0]}"
            )
        return []

    async def _compare(self, store: Store, point: Point, names: set[str]) -> None:
        sequence = await store.read(newest)
        if sequence != point.database.sequence:
            raise RestoreFault(
                f"the database stands at {sequence}, and its recovery point at {point.database.sequence}"
            )
        if len(names) != point.blobs.count or await self.threads.run(digest_of, names) != point.blobs.digest:
            raise RestoreFault("the database names other blobs than its recovery point")

    async def _keys(self, wanted: Wanted, scratch: Path, store: Store, catalogue: Catalogue) -> list[str]:
        """Get the master key: it still exists here, or the code restores it, or the secrets that it opened are
        deleted."""
        home = await self.threads.run(Home.id_of, scratch)
        sealed = await self.threads.run(sealed_of, catalogue.ledger)
        if wanted.code is not None:
            assert sealed is not None, "it was looked at before"
            await self.threads.run(
                partial(put_back, sealed, wanted.code, config=self.config, home=wanted.into, environ=self.environ)
            )
            return []
        source = key_source(self.config, home_id=home, home=wanted.into, environ=self.environ)
        try:
            if await self.threads.run(source.exists):
                return []
        except KeyRefused as fault:
            raise RestoreFault(str(fault)) from fault
        if not await store.read(has_secrets):
            return []
        count = await self.threads.run(store.write_now, forget_secrets)
        return [
            f"Passwords and tokens were removed ({count}): the master key is not here. Connect the accounts again, or "
            "restore into another folder with the recovery code (--recovery-code)."
        ]

    async def _check(self, store: Store, blobs: Blobs, *, without_blobs: bool) -> None:
        wanted = [one for one in self.invariants if not (without_blobs and one.yields == "blobs")]
        problems = await store.read(run_fsck, invariants=wanted, blobs=blobs, secrets=None, deep=True)
        if problems:
            shown = "; ".join(problems[:SHOWN_PROBLEMS])
            raise RestoreFault(f"what was restored has {len(problems)} faults: {shown}")


def _references(invariants: Sequence[Invariant]) -> tuple[Invariant, ...]:
    return tuple(one for one in invariants if one.yields == "blobs")


def _refuse_data(into: Path) -> None:
    if into.exists() and (not into.is_dir() or any(into.iterdir())):
        raise RestoreFault(f"{into} is not empty; nothing is restored over what is there: name a new folder")
    into.parent.mkdir(parents=True, exist_ok=True)


def _put_in_place(scratch: Path, into: Path) -> None:
    if into.exists():
        into.rmdir()
    scratch.rename(into)
    descriptor = os.open(into.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_private(folder: Path) -> None:
    """Make the files private: the archiver creates them with the system's default mode."""
    for entry in folder.iterdir():
        if entry.is_file():
            entry.chmod(0o600)


def _clear(scratch: Path) -> None:
    """Delete the database of an earlier attempt, but not the archive's catalogue."""
    database = Home.database_of(scratch)
    for name in (database, Path(f"{database}-wal"), Path(f"{database}-shm")):
        name.unlink(missing_ok=True)
