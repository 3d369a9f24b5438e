"""Lists every feature's half of the worker plane, because a worker process can't ask the features.

A test checks that these are the halves that the features name.
"""

from __future__ import annotations

from typing import Final

from svc.worker import agents, executor, mail, mcp, meaning, probes, rules, tools, triage
from svc.worker.rows import WorkerRows

HALVES: Final[tuple[WorkerRows, ...]] = (
    agents.ROWS,
    executor.ROWS,
    mail.ROWS,
    mcp.ROWS,
    rules.ROWS,
    triage.ROWS,
    meaning.ROWS,
    probes.ROWS,
    tools.ROWS,
)
