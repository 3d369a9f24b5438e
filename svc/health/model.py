"""What came of the checks, and how it goes over the wire."""

from __future__ import annotations

from dataclasses import dataclass

from svc.check import Check, CheckState, Finding
from svc.protocol import Wire


@dataclass(frozen=True, kw_only=True)
class Found:
    """One finding, and the row that it comes from."""

    check: Check
    finding: Finding


class CheckOut(Wire, frozen=True):
    """``detail`` says what is so, or what is wrong; ``remedy`` what to do about it, empty where nothing is."""

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
