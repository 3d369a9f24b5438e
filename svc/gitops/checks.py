"""The health check of the followed repository."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.check import Check, CheckContext, Finding, ok, skipped
from svc.gitops import rows
from svc.gitops.settings import REPO

_NONE: Final = "No repository is followed"


async def _following(context: CheckContext) -> Sequence[Finding]:
    if context.config[REPO] is None:
        return [ok(_NONE)]
    if context.store is None:
        return [skipped("The database is not open")]
    state = await context.store.read(rows.state)
    problems, count = await context.store.read(rows.problems)
    if state is None:
        return [ok("The repository has not been looked at yet")]
    if state.problem is not None:
        return [
            Finding(
                state="warning",
                detail=f"The repository is not followed: {state.problem}",
                remedy="What was there before holds on, and each look tries again; see Settings > Git",
                public="not followed",
            )
        ]
    if count:
        first = problems[0]
        return [
            Finding(
                state="warning",
                detail=f"{count} files of the repository are not here as they are there; {first.file}: {first.reason}",
                remedy="Correct them in the repository; Settings > Git names each, and svc gitops check DIR beforehand",
                public="followed in part",
            )
        ]
    return [ok(f"The repository is followed, at {(state.commit or 'no commit')[:10]}")]


CHECKS: Final = (
    Check(
        name="gitops", summary="The repository is followed, and all of it is here.", run=_following, readyz="trouble"
    ),
)
