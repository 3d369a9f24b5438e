"""What is special about OAuth at Google, for every kind of connection."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from svc.clock import DAY_MS
from svc.connections.model import Terms, TrialPeriod

TESTING: Final = TrialPeriod(
    lifetime_ms=7 * DAY_MS,
    ended=(
        "Access ended seven days after it was granted, as Google does it for OAuth apps in testing. Publish the app in "
        "the Google Cloud console to avoid that, and connect the account again."
    ),
    perhaps=", or the OAuth app is in testing, where access ends after 7 days",
)


def google_terms(*, what: str, scopes: tuple[str, ...], sufficient_scopes: frozenset[str], not_granted: str) -> Terms:
    """The terms for Google. ``prompt=consent`` makes every run mint a grant with today's scopes (spec 1.1, rule 1)."""
    return Terms(
        service="Google",
        what=what,
        scopes=("openid", "email", *scopes),
        sufficient_scopes=sufficient_scopes,
        not_granted=not_granted,
        parameters=MappingProxyType({"access_type": "offline", "prompt": "consent", "include_granted_scopes": "false"}),
        ended_because=MappingProxyType(
            {"invalid_rapt": ("Your organisation asks for a new sign-in from time to time. Connect the account again.")}
        ),
        trial=TESTING,
    )
