"""The records of the broker: who acquired what, when, and with which outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from svc.clock import Millis

Outcome = Literal["granted", "refused", "missing"]


@dataclass(frozen=True, slots=True)
class Use:
    """When a capability was acquired last, and by whom."""

    at: Millis
    actor: str


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One acquisition. ``run_id``: of the run that asked, if one did."""

    seq: int
    at: Millis
    name: str
    actor: str
    purpose: str
    run_id: str | None
    outcome: Outcome
