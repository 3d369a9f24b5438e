"""Checks this machine's clock by the ``Date`` of an answer: with a wrong clock access is refused or TLS fails.

Checked only where something failed: a wrong clock that does no harm is not reported here.
"""

from __future__ import annotations

import re
from typing import Final

from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS, Millis
from svc.connections.retry_after import http_date
from svc.protocol.messages import Headers

SKEW_MAX_MS: Final = 5 * MINUTE_MS
"""What sign-in services usually tolerate. Answers are seconds old at most, and no cache keeps a refusal."""

_CERTIFICATE_DATE: Final = re.compile(r"certificate (has expired|is not yet valid)")


def clock_problem(headers: Headers, *, now: Millis, service: str) -> str | None:
    """The message about a clock that is wrong by the answer's date; ``None`` where it is right, or the answer has no
    usable date."""
    said = http_date(headers.get("date") or "")
    if said is None or abs(now - said) <= SKEW_MAX_MS:
        return None
    way = "ahead" if now > said else "behind"
    return (
        f"The clock of this server is {spoken(abs(now - said))} {way}, and {service} refuses access at a wrong time. "
        "Set the clock right, then connect the account again."
    )


def certificate_problem(reason: str, *, service: str, what: str) -> str | None:
    """The message for a certificate that is outside its validity dates. The service renews its own certificates, so far
    more often this machine's clock is wrong.

    ``what``: the work that continues by itself once the clock is right.
    """
    if _CERTIFICATE_DATE.search(reason) is None:
        return None
    return (
        f"{service}'s certificate seems to be out of its dates. Most likely the clock of this server is wrong: set it "
        f"right, and {what} follows by itself."
    )


def spoken(duration_ms: int) -> str:
    """A duration in words, in one unit."""
    for unit_ms, name in ((DAY_MS, "day"), (HOUR_MS, "hour"), (MINUTE_MS, "minute")):
        count = round(duration_ms / unit_ms)
        if count >= 1:
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "a moment"
