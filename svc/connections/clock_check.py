"""Whether this machine's clock is right, by the ``Date`` of an answer: a wrong one has access refused or TLS fail.

Asked only where something failed: a clock that is wrong and hurts nobody is not this room's business.
"""

from __future__ import annotations

import re
from typing import Final

from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS, Millis
from svc.connections.retry_after import http_date
from svc.protocol.messages import Headers

SKEW_MAX_MS: Final = 5 * MINUTE_MS
"""What sign-in services commonly forgive. Answers are seconds old at most, and nobody caches a refusal."""

_CERTIFICATE_DATE: Final = re.compile(r"certificate (has expired|is not yet valid)")


def clock_problem(headers: Headers, *, now: Millis, service: str) -> str | None:
    """The sentence about a clock that is wrong by the answer's date; ``None`` where it is right, or nobody can say."""
    said = http_date(headers.get("date") or "")
    if said is None or abs(now - said) <= SKEW_MAX_MS:
        return None
    way = "ahead" if now > said else "behind"
    return (
        f"The clock of this server is {spoken(abs(now - said))} {way}, and {service} refuses access at a wrong time. "
        "Set the clock right, then connect the account again."
    )


def certificate_problem(reason: str, *, service: str, what: str) -> str | None:
    """A certificate out of its dates at a service that renews its own: far more often it is the clock that is wrong.

    ``what``: what goes on by itself once the clock is right.
    """
    if _CERTIFICATE_DATE.search(reason) is None:
        return None
    return (
        f"{service}'s certificate seems to be out of its dates. Most likely the clock of this server is wrong: set it "
        f"right, and {what} follows by itself."
    )


def spoken(duration_ms: int) -> str:
    """As people say it, in one unit."""
    for unit_ms, name in ((DAY_MS, "day"), (HOUR_MS, "hour"), (MINUTE_MS, "minute")):
        count = round(duration_ms / unit_ms)
        if count >= 1:
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "a moment"
