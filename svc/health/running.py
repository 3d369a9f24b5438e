"""Runs the checks: all at once, each within its deadline, reported in the order of the rows.

A check that raises counts as failed, and does not stop the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import trio

from svc.check import Check, CheckContext, Finding, failed
from svc.feature import Feature
from svc.health.model import Found
from svc.log import summary
from svc.nursery import open_task_group
from svc.workspace import Workspace


def checks_of(features: Iterable[Feature]) -> tuple[Check, ...]:
    return tuple(row for feature in features for row in feature.checks)


def context_of(workspace: Workspace) -> CheckContext:
    """The context that the checks of a running service get."""
    return CheckContext(
        config=workspace.config,
        clock=workspace.clock,
        threads=workspace.threads,
        egress=workspace.egress,
        features=workspace.features,
        home=workspace.home.path,
        store=workspace.store,
        blobs=workspace.blobs,
        workspace=workspace,
    )


async def run_checks(context: CheckContext, rows: Sequence[Check]) -> list[Found]:
    found: dict[int, Sequence[Finding]] = {}

    async def run(place: int, row: Check) -> None:
        found[place] = await _run(context, row)

    async with open_task_group() as nursery:
        for place, row in enumerate(rows):
            nursery.start_soon(run, place, row)
    return [Found(check=row, finding=one) for place, row in enumerate(rows) for one in found[place]]


async def _run(context: CheckContext, row: Check) -> Sequence[Finding]:
    with trio.move_on_after(row.deadline_s):
        try:
            return await row.run(context)
        except Exception as error:  # an edge: an error in one check does not stop the report of the others
            if context.workspace is not None:
                context.workspace.log.error("health.check_failed", error, check=row.name)
            return [failed(f"It could not be checked: {summary(error)}", "Look into the log of the service")]
    return [failed(f"It took longer than {row.deadline_s:g} seconds", "Try again; is this machine very busy?")]
