"""Checks the clock of this machine: against the times of files in the home, and against the time in an outside answer.

With a wrong clock sign-ins are refused, certificates fail, and mail is sent at the wrong time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from svc.check import Check, CheckContext, Finding, failed, ok
from svc.clock import SECOND_MS, Millis, rfc3339
from svc.connections.clock_check import SKEW_MAX_MS, spoken
from svc.connections.retry_after import http_date
from svc.health import reached
from svc.settings import IDP_ISSUER

_REMEDY: Final = "Set the clock, and have the system keep it right: timedatectl set-ntp true"
_LOOKED_AT: Final = ("lock", "home-id", "db/svc.sqlite3", "db/svc.sqlite3-wal", "run/internal.token")


async def _clock(context: CheckContext) -> Sequence[Finding]:
    ahead = await context.threads.run(_from_the_future, context.home, context.clock.now())
    if ahead is not None:
        return [ahead]
    said = await _said_outside(context)
    now = context.clock.now()
    if said is None:
        return [ok(f"It is {rfc3339(now)} here, and nothing in the home is newer")]
    if abs(now - said) > SKEW_MAX_MS:
        way = "ahead" if now > said else "behind"
        return [
            failed(f"The clock of this machine is {spoken(abs(now - said))} {way}: it says {rfc3339(now)}", _REMEDY)
        ]
    return [ok(f"It is {rfc3339(now)} here, as others say too")]


def _from_the_future(home: Path, now: Millis) -> Finding | None:
    for name in _LOOKED_AT:
        try:
            changed = round((home / name).stat().st_mtime * SECOND_MS)
        except OSError:
            continue
        if changed - now > SKEW_MAX_MS:
            behind = spoken(changed - now)
            return failed(
                f"The clock of this machine is behind: {home / name} was changed {behind} after the {rfc3339(now)} "
                "that it says now",
                _REMEDY,
            )
    return None


async def _said_outside(context: CheckContext) -> Millis | None:
    """The time in an answer of the identity provider; ``None`` where there is none."""
    if not context.asks_outside:
        return None
    url = f"{context.config[IDP_ISSUER]}/.well-known/openid-configuration"
    answer = await reached(context, url, what="The identity provider", setting=IDP_ISSUER.name)
    return None if isinstance(answer, Finding) else http_date(answer.headers.get("date") or "")


CHECKS: Final = (Check(name="clock", summary="The clock of this machine is right.", run=_clock),)
