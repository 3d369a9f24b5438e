"""Checks whether the data here are also stored in another place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from svc.backup.archive import PARTS, Part
from svc.backup.litestream import begun
from svc.backup.service import Backup
from svc.backup.settings import target_of
from svc.backup.target import is_on_the_same_disk
from svc.check import Check, CheckContext, Finding, ok, skipped, warning
from svc.store import Home

_PUBLIC: Final[Mapping[Part, str]] = {
    "archiver": "not archived",
    "base backup": "no base backup",
    "archive check": "not whole",
    "drill": "restore test failed",
}
"""What anybody may read of a problem."""
_REMEDY: Final = "It is tried again by itself; the page Backups says more, and docs/backup.md what to do"


async def _place(context: CheckContext) -> Sequence[Finding]:
    target = target_of(context.config)
    if target is None:
        return [skipped("Nothing is archived")]
    parts = None if context.workspace is None else context.workspace.service(Backup).parts
    is_lost_with_it = (
        await context.threads.run(is_on_the_same_disk, target.place, Home.database_of(context.home))
        if parts is None
        else parts.archive.is_on_the_same_disk
    )
    if is_lost_with_it:
        return [
            warning(
                f"The archive {target.place} is on the disk of the home: if that disk fails, both are lost",
                "Name a folder on another disk, or a bucket",
            )
        ]
    return [ok(f"The archive {target.place} is not on the disk of the home")]


async def _archive(context: CheckContext) -> Sequence[Finding]:
    target = target_of(context.config)
    if target is None:
        return [ok("Nothing is archived: none of the ARCHIVE_*_PREFIX is set")]
    if context.workspace is None:
        return [skipped("No service runs")]
    parts = context.workspace.service(Backup).parts
    if parts is None:
        return [skipped("No service runs")]
    archive = parts.archive
    wrong = [(part, problem) for part in PARTS if (problem := archive.problem_of(part)) is not None]
    if wrong:
        return [
            Finding(state="warning", detail=begun(problem), remedy=_REMEDY, public=_PUBLIC[part])
            for part, problem in wrong
        ]
    if not archive.runs or archive.lag_s is None:
        return [Finding(state="warning", detail="The archiver is starting", remedy=_REMEDY, public="starting")]
    return [ok(f"The database is archived to {target.place}, {archive.lag_s:.0f} s ago")]


CHECKS: Final = (
    Check(name="archive", summary="The database is archived elsewhere.", run=_archive, readyz="trouble"),
    Check(name="archive-place", summary="The archive outlives the disk of the home.", run=_place),
)
