"""The ``gitops.*`` procedures, for admins."""

from __future__ import annotations

from typing import Final

import trio

from svc.clock import SECOND_MS
from svc.config import without_password
from svc.errors import Refusal
from svc.gitops import conflicts, rows, wire
from svc.gitops.conflicts import Contested
from svc.gitops.model import GITOPS, Problem
from svc.gitops.rows import State
from svc.gitops.service import Gitops
from svc.gitops.settings import BRANCH, MODE, PATH, REPO
from svc.gitops.wire import Empty, QueuedOut, StatusOut
from svc.pages import edits
from svc.protocol import Procedure
from svc.store import ReadTx
from svc.workspace import RequestContext


async def status(context: RequestContext, wanted: Empty) -> StatusOut:
    workspace = context.workspace
    config, follower = workspace.config, workspace.service(Gitops).follower
    state, (problems, count), pending, contested = await workspace.store.read(_shown)
    next_at = None
    if follower is not None and follower.next_look_at is not None:
        left_s = max(0.0, follower.next_look_at - trio.current_time())
        next_at = workspace.clock.now() + round(left_s * SECOND_MS)
    repo = config[REPO]
    is_on = follower is not None
    side = follower.exporter.side.branch if follower and follower.exporter and follower.exporter.side else None
    return StatusOut(
        enabled=is_on,
        repo=None if repo is None else without_password(repo),
        url=None if follower is None else follower.forge.base,
        branch=config[BRANCH],
        path=config[PATH],
        mode=config[MODE],
        commit=state.commit if is_on and state else None,
        last_sync_at=wire.time_out(state.synced_at) if is_on and state else None,
        checked_at=wire.time_out(state.checked_at) if is_on and state else None,
        last_change=wire.last_change(state) if is_on else None,
        was_forced=bool(is_on and state and state.was_forced),
        problem=state.problem if is_on and state else None,
        problems=tuple(wire.problem_out(problem) for problem in problems) if is_on else (),
        problem_count=count if is_on else 0,
        pending=pending if is_on else 0,
        conflicts=tuple(wire.conflict_out(one) for one in contested) if is_on else (),
        writeback_branch=side,
        request_url=None if follower is None or side is None else follower.forge.request_url(side),
        next=wire.time_out(next_at),
    )


async def sync(context: RequestContext, wanted: Empty) -> QueuedOut:
    follower = context.workspace.service(Gitops).follower
    if follower is None:
        raise Refusal(f"No repository is followed: set {REPO.name}.", code="not_configured")
    follower.wake.call()
    return QueuedOut(queued=True)


def _shown(tx: ReadTx) -> tuple[State | None, tuple[list[Problem], int], int, list[Contested]]:
    return rows.state(tx), rows.problems(tx), edits.count_waiting(tx, GITOPS), conflicts.listed(tx)


PROCEDURES: Final[tuple[Procedure[RequestContext], ...]] = (
    Procedure(
        name="gitops.status",
        kind="query",
        access="admin",
        input=Empty,
        output=StatusOut,
        call=status,
        summary="Which repository is followed, how that goes, and what could not be taken from it.",
    ),
    Procedure(
        name="gitops.sync",
        kind="mutation",
        access="admin",
        input=Empty,
        output=QueuedOut,
        call=sync,
        summary="Look at the repository now.",
    ),
)
