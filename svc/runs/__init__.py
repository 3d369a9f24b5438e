"""Durable runs: work in steps that continues after a crash. It runs in the worker plane, and its owner can watch it.

Owns the tables ``runs``, ``run_steps``, ``run_attempts`` and ``approvals``. The trusted plane keeps state, results and
timers. The worker plane (:mod:`svc.worker`) runs the code of workflows, which features add as rows
(:mod:`svc.workflow`).
"""

from svc.runs.actions import Parent, begin, close_undone, count_tokens, fork, grant_more, progress, retry
from svc.runs.approvals import Decided, decided, show_changed
from svc.runs.digests import digest
from svc.runs.dispatch import IN_MEMORY, Dispatcher
from svc.runs.feature import FEATURE
from svc.runs.model import RunRow
from svc.runs.moving import end_timers, settle_step, tell, wake
from svc.runs.queries import active, mine, progress_of, run
from svc.runs.tokens import RunGrant, acting_for, grant_of, principal_of
from svc.runs.waits import ask_person

__all__ = [
    "FEATURE",
    "IN_MEMORY",
    "Decided",
    "Dispatcher",
    "Parent",
    "RunGrant",
    "RunRow",
    "acting_for",
    "active",
    "ask_person",
    "begin",
    "close_undone",
    "count_tokens",
    "decided",
    "digest",
    "end_timers",
    "fork",
    "grant_more",
    "grant_of",
    "mine",
    "principal_of",
    "progress",
    "progress_of",
    "retry",
    "run",
    "settle_step",
    "show_changed",
    "tell",
    "wake",
]
