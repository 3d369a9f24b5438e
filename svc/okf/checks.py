"""Checks that pages and files have the same text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.check import Check, CheckContext, Finding, ok, skipped, warning
from svc.clock import rfc3339
from svc.okf import rows
from svc.okf.snapshot_settings import SNAPSHOT_REPOSITORY
from svc.okf.snapshots import kept
from svc.switches import OKF_WATCHER, is_on

NAMED: Final = 3


async def _in_step(context: CheckContext) -> Sequence[Finding]:
    if not is_on(context.config, OKF_WATCHER):
        return [skipped("Pages are not written as files under this profile")]
    if context.store is None:
        return [skipped("The database is not open")]
    troubles = await context.store.read(rows.troubles, limit=NAMED)
    unwritten = await context.store.read(rows.unwritten)
    found = [
        warning(
            f"okf/{one.file}: {one.reason}"
            + (f" What was written there is in okf/{one.kept}" if one.kept is not None else ""),
            "Put both together in the page, then delete that copy" if one.kept is not None else "Correct the file",
        )
        for one in troubles
    ]
    found += [
        warning(f"The page {path} is no file: {problem}", "Move it to another path") for path, problem in unwritten[:3]
    ]
    return found or [ok(f"{await context.store.read(rows.count)} pages are also files below okf/")]


async def _snapshots(context: CheckContext) -> Sequence[Finding]:
    if context.config[SNAPSHOT_REPOSITORY] is None:
        return [ok("No snapshots of okf/ are made: SNAPSHOT_REPOSITORY is not set")]
    if context.store is None or not is_on(context.config, OKF_WATCHER):
        return [skipped("There is nothing to make a snapshot of")]
    found = await context.store.read(kept)
    if found.problem is not None:
        return [warning(found.problem.rstrip("."), "It is tried again in some hours; docs/okf.md says more")]
    if found.made_at is None:
        return [ok("The first snapshot of okf/ is made soon after a start")]
    return [ok(f"The last snapshot of okf/ is of {rfc3339(found.made_at)}; {len(found.snapshots)} are kept")]


CHECKS: Final = (
    Check(name="okf", summary="Pages and the files below okf/ say the same.", run=_in_step),
    Check(name="okf-snapshots", summary="The files of pages are in a snapshot of last night.", run=_snapshots),
)
