"""Durable runs: work with steps that survives a crash, in the worker plane and under the eyes of its owner.

Owns the tables ``runs``, ``run_steps``, ``run_attempts`` and ``approvals``. The trusted plane keeps state, results and
timers; the worker plane (:mod:`svc.worker`) runs the code of workflows, which features add as rows
(:mod:`svc.workflow`).
"""

from svc.runs.actions import Parent, begin, count_tokens, progress
from svc.runs.dispatch import IN_MEMORY, Dispatcher
from svc.runs.feature import FEATURE
from svc.runs.queries import active, progress_of
from svc.runs.tokens import RunGrant, grant_of

__all__ = [
    "FEATURE",
    "IN_MEMORY",
    "Dispatcher",
    "Parent",
    "RunGrant",
    "active",
    "begin",
    "count_tokens",
    "grant_of",
    "progress",
    "progress_of",
]
