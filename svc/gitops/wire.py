"""Gitops on the wire: what an admin sees of the followed repository."""

from __future__ import annotations

from svc.clock import rfc3339
from svc.gitops.conflicts import Contested
from svc.gitops.model import Problem
from svc.gitops.rows import State
from svc.protocol import Wire


class Empty(Wire, frozen=True):
    pass


class LastChangeOut(Wire, frozen=True):
    added: int
    changed: int
    removed: int


class ProblemOut(Wire, frozen=True):
    file: str
    line: int | None
    reason: str


class ConflictOut(Wire, frozen=True):
    """``path``: of the page here; of its file if the page was deleted."""

    path: str
    file: str
    reason: str
    at: str


class StatusOut(Wire, frozen=True):
    """``problem``: why the last look at the repository failed. ``problems``: of single files; ``problemCount`` is the
    number of all. ``wasForced``: the branch was moved by force. ``pending``: changes made here that are not in the
    repository yet. ``writebackBranch``: the branch for these changes, if it is not the followed one; ``requestUrl``:
    the page to open a pull request for it."""

    enabled: bool
    repo: str | None
    url: str | None
    branch: str
    path: str
    mode: str
    commit: str | None
    last_sync_at: str | None
    checked_at: str | None
    last_change: LastChangeOut | None
    was_forced: bool
    problem: str | None
    problems: tuple[ProblemOut, ...]
    problem_count: int
    pending: int
    conflicts: tuple[ConflictOut, ...]
    writeback_branch: str | None
    request_url: str | None
    next: str | None


class QueuedOut(Wire, frozen=True):
    queued: bool


def last_change(state: State | None) -> LastChangeOut | None:
    if state is None or state.synced_at is None:
        return None
    return LastChangeOut(added=state.added, changed=state.changed, removed=state.removed)


def problem_out(problem: Problem) -> ProblemOut:
    return ProblemOut(file=problem.file, line=problem.line, reason=problem.reason)


def conflict_out(one: Contested) -> ConflictOut:
    return ConflictOut(path=one.path, file=one.file, reason=one.reason, at=rfc3339(one.at))


def time_out(at: int | None) -> str | None:
    return None if at is None else rfc3339(at)
