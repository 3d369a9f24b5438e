"""The records of the broker: who acquired what, when, and the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from svc.clock import Millis

Outcome = Literal["granted", "refused", "missing"]


@dataclass(frozen=True, slots=True)
class Use:
    """The last acquisition of a capability: when, and by whom."""

    at: Millis
    actor: str


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One acquisition. ``run_id``: of the run that acquired it, if it was one."""

    seq: int
    at: Millis
    name: str
    actor: str
    purpose: str
    run_id: str | None
    outcome: Outcome
