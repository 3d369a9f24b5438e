"""The records of connections: what is asked of a service, and what a person granted there. No secret is in any repr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from re import Pattern

from svc.clock import Millis
from svc.connections.faults import RefusalCause


@dataclass(frozen=True, kw_only=True)
class TrialPeriod:
    """A service ends the grants of an app that is not published yet after ``lifetime_ms``.

    ``ended`` is told where a grant ended so; ``perhaps`` follows where that may be, and nobody knows.
    """

    lifetime_ms: Millis
    ended: str
    perhaps: str


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """What a service means by one of its own codes. ``remedy``: what the owner of this server does about it."""

    cause: RefusalCause
    detail: str
    remedy: str = ""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What one kind of connection asks of an OAuth service, and what that service does in its own way."""

    service: str
    """Its name, as people are told it."""
    what: str
    """What is connected, in a word: "mail"."""
    scopes: tuple[str, ...]
    sufficient_scopes: frozenset[str]
    """A grant with any of these will do; where there are none, any grant."""
    not_granted: str
    """The sentence for a grant that has none of them."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Of the consent screen, beyond the standard's."""
    token_parameters: Mapping[str, str] = field(default_factory=dict)
    """Of each request for tokens, beyond the standard's."""
    lasting: bool = True
    """Whether a grant without a refresh token is refused."""
    ended_because: Mapping[str, str] = field(default_factory=dict)
    """The service's own ``error_subtype`` of a refused renewal, or its code, and the sentence for it."""
    trial: TrialPeriod | None = None
    code: Pattern[str] | None = None
    """How a code of the service's own stands in an ``error_description``: the first group."""
    refusals: Mapping[str, Refusal] = field(default_factory=dict)
    """By that code: why the service refused."""

    def code_in(self, description: str) -> str:
        """The service's own code; empty where none is said."""
        found = self.code.search(description) if self.code is not None else None
        return found[1] if found else ""

    def refusal(self, description: str) -> Refusal | None:
        return self.refusals.get(self.code_in(description))


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
    """Who consented, by the ID token. ``email_verified`` is True only where the service said exactly that.

    ``username``: by which they sign in there, in services that tell it.
    """

    subject: str
    email: str | None
    email_verified: bool
    username: str | None = None

    @property
    def address(self) -> str | None:
        """Their mail address, as the service has it, in lower case; nobody has proven it."""
        named = self.email or self.username or ""
        return named.lower() if "@" in named else None


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A finished round trip. ``identity`` is ``None`` where the service sent no ID token."""

    tokens: Tokens
    identity: Identity | None
