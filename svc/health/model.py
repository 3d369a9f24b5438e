"""The results of the checks, and their form on the wire."""

from __future__ import annotations

from dataclasses import dataclass

from svc.check import Check, CheckState, Finding
from svc.protocol import Wire


@dataclass(frozen=True, kw_only=True)
class Found:
    """One finding, and the check that it comes from."""

    check: Check
    finding: Finding


class CheckOut(Wire, frozen=True):
    """``detail`` says what was found; ``remedy`` says what to do about it, and is empty if nothing is needed."""

    name: str
    summary: str
    state: CheckState
    detail: str
    remedy: str


def check_out(found: Found) -> CheckOut:
    return CheckOut(
        name=found.check.name,
        summary=found.check.summary,
        state=found.finding.state,
        detail=found.finding.detail,
        remedy=found.finding.remedy,
    )
