"""The ``backup.*`` procedures, for admins, and the internal route of ``svc backup``."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from svc import replica
from svc.backup import wire
from svc.backup.archive import Archive
from svc.backup.catalogue import BaseState, DrillState
from svc.backup.litestream import as_sentence
from svc.backup.nightly import next_due
from svc.backup.points import SIGNING, Point, fingerprint, public_of
from svc.backup.service import Asked, Backup, Parts
from svc.backup.settings import DRILL
from svc.backup.wire import (
    ArchivingOut,
    BaseOut,
    CodeOut,
    ConfirmIn,
    DrillOut,
    Empty,
    RecoveryOut,
    ReplicaOut,
    RestoreBegunOut,
    RestoreIn,
    RestoreOut,
    SnapshotOut,
    StatusOut,
)
from svc.capabilities import CodeRefused, MasterKey, Sealed, sealed_of
from svc.clock import Millis
from svc.errors import Invalid
from svc.okf import Snapshots
from svc.protocol import Procedure, Request, Response, Route, json_response
from svc.workspace import RequestContext, Workspace

NOW_PATH: Final = "/internal/backup/now"

_OFF: Final = ArchivingOut(
    enabled=False,
    target=None,
    last_at=None,
    lag_seconds=None,
    problem=None,
    version=None,
    unsent_bytes=0,
    same_disk=False,
)


async def status(context: RequestContext, wanted: Empty) -> StatusOut:
    workspace = context.workspace
    parts = workspace.service(Backup).parts
    beyond = await workspace.store.read(replica.status)
    snapshots = await workspace.service(Snapshots).status()
    points, base, drill, sealed = (
        ([], None, None, None) if parts is None else await workspace.threads.run(_kept, parts.archive)
    )
    broken = frozenset({drill.point}) if drill is not None and drill.problem is not None else frozenset()
    return StatusOut(
        archiving=_OFF if parts is None else _archiving(parts.archive),
        base_backups=() if base is None else tuple(map(wire.base_out, reversed(base.held))),
        replica=ReplicaOut(
            enabled=beyond.enabled,
            pending=beyond.pending,
            failed=beyond.failed,
            last_at=wire.time_out(beyond.last_at),
            problem=_sentence(beyond.problem),
        ),
        recovery_points=tuple(wire.point_out(one, broken=broken) for one in points[: wire.POINTS_SHOWN]),
        point_count=len(points),
        snapshots=tuple(SnapshotOut(id=one.id, at=one.at) for one in snapshots.snapshots),
        drill=wire.drill_out(drill),
        drill_enabled=workspace.config[DRILL],
        waits_for=(parts.minting.waits_for or None) if parts else None,
        recovery_code=None if sealed is None else RecoveryOut(at=sealed.at, confirmed=sealed.confirmed),
        fingerprint=None if parts is None else await _fingerprint(workspace),
        base_begun_at=None if parts is None else wire.time_out(parts.nightly.begun_at),
        next_at=None if parts is None else wire.time_out(next_due(workspace.clock.now())),
        restore=_restore_out(workspace.service(Backup).asked),
    )


def _archiving(archive: Archive) -> ArchivingOut:
    lag_s = archive.lag_s
    return ArchivingOut(
        enabled=True,
        target=str(archive.target.place),
        last_at=wire.time_out(archive.synced_at),
        lag_seconds=None if lag_s is None else round(lag_s, 1),
        problem=_sentence(archive.problem),
        version=archive.version or None,
        unsent_bytes=archive.unsent_bytes,
        same_disk=archive.is_on_the_same_disk,
    )


def _sentence(problem: str | None) -> str | None:
    return None if problem is None else as_sentence(problem)


def _kept(archive: Archive) -> tuple[list[Point], BaseState | None, DrillState | None, Sealed | None]:
    """In a thread: the data in the ledger."""
    catalogue = archive.catalogue
    return catalogue.points(), catalogue.base(), catalogue.drill(), sealed_of(catalogue.ledger)


async def _fingerprint(workspace: Workspace) -> str:
    def found() -> str:
        return fingerprint(public_of(workspace.service(MasterKey).derived(SIGNING)[1]))

    return await workspace.threads.run(found)


def _restore_out(asked: Asked | None) -> RestoreOut | None:
    if asked is None:
        return None
    return RestoreOut(
        into=str(asked.into),
        at=wire.time_out(asked.at) or "",
        running=asked.runs,
        lines=tuple(asked.lines),
        notes=() if asked.done is None else asked.done.notes,
        problem=asked.problem,
    )


async def now(context: RequestContext, wanted: Empty) -> BaseOut:
    return await _made(context.workspace)


async def _made(workspace: Workspace) -> BaseOut:
    parts = workspace.service(Backup).on()
    made = await parts.nightly.make_or_refuse()
    await parts.minting.round()
    return wire.base_out(made)


async def drill(context: RequestContext, wanted: Empty) -> DrillOut:
    state = await context.workspace.service(Backup).on().drill.run()
    told = wire.drill_out(state)
    assert told is not None
    return told


async def begin_code(context: RequestContext, wanted: Empty) -> CodeOut:
    workspace = context.workspace
    ledger = _on(workspace).archive.catalogue.ledger

    def begun(at: Millis) -> str:
        return workspace.service(MasterKey).begin_code(ledger, now=at)

    code = await workspace.threads.run(begun, workspace.clock.now())
    return CodeOut(code=code, fingerprint=await _fingerprint(workspace))


async def confirm_code(context: RequestContext, wanted: ConfirmIn) -> Empty:
    workspace = context.workspace
    ledger = _on(workspace).archive.catalogue.ledger
    try:
        await workspace.threads.run(workspace.service(MasterKey).confirm_code, ledger, wanted.code)
    except CodeRefused as refusal:
        raise Invalid(str(refusal)) from refusal
    return Empty()


async def restore(context: RequestContext, wanted: RestoreIn) -> RestoreBegunOut:
    at = None if wanted.at is None else moment_of(wanted.at)
    asked = await context.workspace.service(Backup).ask(at=at, point_id=wanted.point)
    return RestoreBegunOut(into=str(asked.into))


def moment_of(text: str) -> Millis:
    """An RFC 3339 instant. Raises :class:`Invalid`."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(f"{text!r} is no moment; write it as 2026-11-21T08:00:00Z.") from None
    if at.tzinfo is None:
        at = at.astimezone()  # in this machine's time zone, as its user means it
    return round(at.timestamp() * 1000)


def _on(workspace: Workspace) -> Parts:
    return workspace.service(Backup).on()


async def _now(context: RequestContext, request: Request) -> Response:
    return json_response(await _made(context.workspace))


ROUTES: Final[tuple[Route[RequestContext], ...]] = (
    Route(
        method="POST",
        path=NOW_PATH,
        access="authenticated",
        handle=_now,
        summary="Make a base backup, for `svc backup`.",
        listener="internal",
    ),
)

PROCEDURES: Final[tuple[Procedure[RequestContext], ...]] = (
    Procedure(
        name="backup.status",
        kind="query",
        access="admin",
        input=Empty,
        output=StatusOut,
        call=status,
        summary="What is archived and replicated, which moments can be had back, and what is wrong.",
    ),
    Procedure(
        name="backup.now",
        kind="mutation",
        access="admin",
        input=Empty,
        output=BaseOut,
        call=now,
        summary="Send a whole copy of the database to the archive now.",
    ),
    Procedure(
        name="backup.drill",
        kind="mutation",
        access="admin",
        input=Empty,
        output=DrillOut,
        call=drill,
        summary="Restore the newest recovery point into a scratch folder, check it, and throw it away.",
    ),
    Procedure(
        name="backup.recoveryCode",
        kind="mutation",
        access="admin",
        input=Empty,
        output=CodeOut,
        call=begin_code,
        summary="Make a new recovery code, told this once; an earlier one opens nothing any more.",
    ),
    Procedure(
        name="backup.confirmRecoveryCode",
        kind="mutation",
        access="admin",
        input=ConfirmIn,
        output=Empty,
        call=confirm_code,
        summary="Say that the recovery code is written down, by typing it again.",
    ),
    Procedure(
        name="backup.restore",
        kind="mutation",
        access="admin",
        input=RestoreIn,
        output=RestoreBegunOut,
        call=restore,
        summary="Restore a moment into a new folder beside the home. Nothing that is there is touched.",
    ),
)
