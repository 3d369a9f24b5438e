"""The backup service of one boot: its parts, if archiving is on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from svc.backup.archive import Archive
from svc.backup.archive_check import ArchiveCheck
from svc.backup.archiver import DRAIN_S, Archiver
from svc.backup.beyond import beyond_of
from svc.backup.catalogue import Catalogue
from svc.backup.drill import Drill
from svc.backup.folders import RESTORED, forget_abandoned, forget_folder, restored_beside
from svc.backup.litestream import ArchiveFault
from svc.backup.minting import PAUSE_S, Minting
from svc.backup.nightly import Nightly
from svc.backup.restoring import Restored, RestoreFault, Restoring, Wanted
from svc.backup.settings import DRILL, target_of
from svc.capabilities import MasterKey
from svc.clock import Millis
from svc.errors import Conflict, Refusal
from svc.nursery import Child, Subsystem, Wake
from svc.store import Home, Ledger
from svc.workspace import Workspace

NAME: Final = "backup"
SCRATCH: Final = "drill"
TOLD_LINES: Final = 20


@dataclass(kw_only=True)
class Asked:
    """A restore that an admin asked for in the app, the last one of this boot."""

    into: Path
    at: Millis
    lines: list[str] = field(default_factory=list)
    done: Restored | None = None
    problem: str | None = None

    @property
    def runs(self) -> bool:
        return self.done is None and self.problem is None


@dataclass(kw_only=True)
class Parts:
    """All parts, which exist if archiving is on."""

    archive: Archive
    archiver: Archiver
    minting: Minting
    nightly: Nightly
    check: ArchiveCheck
    drill: Drill


@dataclass(kw_only=True)
class Backup:
    """``parts`` is ``None`` if archiving is off."""

    workspace: Workspace
    parts: Parts | None = None
    asked: Asked | None = None
    _wanted: Wanted | None = None
    _wake: Wake = field(default_factory=Wake)

    def on(self) -> Parts:
        """The parts. Raises :class:`Refusal` ``not_configured``."""
        if self.parts is None:
            raise Refusal("Nothing is archived: set one of the ARCHIVE_*_PREFIX.", code="not_configured")
        return self.parts

    async def ask(self, *, at: Millis | None, point_id: str | None) -> Asked:
        """Ask for a restore into a new folder beside the home; the subsystem does it."""
        parts = self.on()
        if self.asked is not None and self.asked.runs:
            raise Conflict("A restore is under way.")
        now = self.workspace.clock.now()
        into = restored_beside(self.workspace.home.path, now=now)
        point = None
        if point_id is not None:
            signed = await self.workspace.threads.run(parts.archive.catalogue.signed, point_id)
            point = None if signed is None else signed.read()
            if point is None:
                raise Refusal("There is no such recovery point.", code="not_found")
        self.asked = Asked(into=into, at=now)
        self._wanted = Wanted(into=into, at=at, point=point, without_blobs=parts.minting.beyond is None)
        self._wake.call()
        return self.asked

    async def keep_restoring(self, child: Child) -> None:
        """The subsystem that does the restores that were asked for."""
        child.started()
        while True:
            await self._wake.wait(at_most_s=PAUSE_S)
            wanted, self._wanted = self._wanted, None
            if wanted is None or self.asked is None:
                continue
            asked = self.asked

            def tell(line: str, lines: list[str] = asked.lines) -> None:
                lines.append(line)
                del lines[:-TOLD_LINES]

            try:
                asked.done = await self.restoring(tell).restore(wanted)
            except (RestoreFault, ArchiveFault) as fault:
                asked.problem = str(fault)
            self.workspace.log.info("backup.restored", into=str(asked.into), problem=asked.problem)

    def restoring(self, tell: Callable[[str], None] = lambda line: None) -> Restoring:
        """A restorer for this archive. Raises :class:`ArchiveFault` before the archiver has begun."""
        parts, workspace = self.on(), self.workspace
        if parts.archive.tool is None:
            raise ArchiveFault("the archiver does not run")
        return Restoring(
            tool=parts.archive.tool,
            beyond=parts.minting.beyond,
            config=workspace.config,
            clock=workspace.clock,
            threads=workspace.threads,
            invariants=[row for feature in workspace.features for row in feature.invariants],
            migrations=[feature.migrations for feature in workspace.features if feature.migrations],
            environ=workspace.config.environ,
            tell=tell,
        )

    async def drill_of(self, due: Millis) -> Millis | None:
        """The restore test of the night that began at ``due``, unless it was done, or is switched off. Returns when
        there is more to do."""
        return await self.on().drill.catch_up(due) if self.workspace.config[DRILL] else None


def build(workspace: Workspace) -> None:
    backup = Backup(workspace=workspace)
    workspace.provide(backup)
    target = target_of(workspace.config)
    if target is None:
        return
    home = workspace.home
    archive = Archive(
        target=target,
        catalogue=Catalogue(Ledger(Home.ledger_of(home.path))),
        store=workspace.store,
        clock=workspace.clock,
        log=workspace.log,
    )
    archiver = Archiver(
        archive=archive, home=home, config=workspace.config, threads=workspace.threads, rng=workspace.rng
    )
    references = tuple(row for feature in workspace.features for row in feature.invariants if row.yields == "blobs")
    minting = Minting(
        archive=archive,
        archiver=archiver,
        beyond=beyond_of(workspace.config, workspace.egress),
        master_key=workspace.service(MasterKey),
        references=references,
        blobs=workspace.blobs,
        threads=workspace.threads,
        home=home.id,
    )
    nightly = Nightly(
        archive=archive, archiver=archiver, threads=workspace.threads, then=minting.round, drill=backup.drill_of
    )
    backup.parts = Parts(
        archive=archive,
        archiver=archiver,
        minting=minting,
        nightly=nightly,
        check=ArchiveCheck(archive=archive, archiver=archiver, threads=workspace.threads, back_up=nightly.make),
        drill=Drill(
            archive=archive,
            threads=workspace.threads,
            scratch=home.spool / SCRATCH,
            restoring=backup.restoring,
            settle=archiver.send_ledger,
            rng=workspace.rng,
        ),
    )


async def boot(workspace: Workspace) -> None:
    """Runs before anything else writes: the archiver owns the log."""
    parts = workspace.service(Backup).parts
    if parts is None:
        return
    workspace.store.keeps_log = True
    await workspace.store.leave_checkpoints(to_another=True)
    await workspace.threads.run(_forget_what_was_cut_off, workspace.home)
    catalogue, key = parts.archive.catalogue, workspace.service(MasterKey)
    await workspace.threads.run(partial(key.renew, catalogue.ledger, now=workspace.clock.now()))
    await parts.drill.recall()


def _forget_what_was_cut_off(home: Home) -> None:
    forget_folder(home.spool / SCRATCH)
    forget_abandoned(home.spool, SCRATCH)
    forget_abandoned(home.path.parent, f"{home.path.name}{RESTORED}")


async def subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    backup = workspace.service(Backup)
    if backup.parts is None:
        return []
    return [
        Subsystem(name="archiver", run=backup.parts.archiver.run, drain_s=DRAIN_S, outlives=True),
        Subsystem(name="recovery points", run=backup.parts.minting.run, independent=True),
        Subsystem(name="restoring", run=backup.keep_restoring, independent=True),
    ]


async def nightly(workspace: Workspace) -> Millis | None:
    """The job."""
    parts = workspace.service(Backup).parts
    return None if parts is None else await parts.nightly.run()


async def check(workspace: Workspace) -> Millis | None:
    """The job."""
    parts = workspace.service(Backup).parts
    return None if parts is None else await parts.check.run()
