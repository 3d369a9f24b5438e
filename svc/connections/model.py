"""The records of connections: what is asked of a service, and what a person granted there. No secret is in any repr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from svc.clock import Millis


@dataclass(frozen=True, kw_only=True)
class TrialPeriod:
    """A service ends the grants of an app that is not published yet after ``lifetime_ms``.

    ``ended`` is told where a grant ended so; ``perhaps`` follows where that may be, and nobody knows.
    """

    lifetime_ms: Millis
    ended: str
    perhaps: str


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What one kind of connection asks of an OAuth service, and what that service does in its own way."""

    service: str
    """Its name, as people are told it."""
    what: str
    """What is connected, in a word: "mail"."""
    scopes: tuple[str, ...]
    sufficient_scopes: frozenset[str]
    """A grant with any of these will do."""
    not_granted: str
    """The sentence for a grant that has none of them."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Of the consent screen, beyond the standard's."""
    ended_because: Mapping[str, str] = field(default_factory=dict)
    """The service's own ``error_subtype`` of a refused renewal, and the sentence for it."""
    trial: TrialPeriod | None = None


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """What is kept of a grant. ``expires_at`` is the access token's; ``granted_at`` is when the person consented,
    ``None`` where that was not written down."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    expires_at: Millis
    scopes: frozenset[str]
    granted_at: Millis | None = None


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Who consented, by the ID token. ``email_verified`` is True only where the service said exactly that."""

    subject: str
    email: str | None
    email_verified: bool


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A finished round trip. ``identity`` is ``None`` where the service sent no ID token."""

    tokens: Tokens
    identity: Identity | None
