"""The records of connections: what is requested from a service, and what a person granted there. No secret is in any
repr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from re import Pattern

from svc.clock import Millis
from svc.connections.faults import RefusalCause


@dataclass(frozen=True, kw_only=True)
class TrialPeriod:
    """The rule of a service that ends the grants of an unpublished app after ``lifetime_ms``.

    ``ended`` is the message for a grant that ended for this reason; ``perhaps`` is added to the message where this is
    possible but not known.
    """

    lifetime_ms: Millis
    ended: str
    perhaps: str


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """The meaning of one of a service's own codes. ``remedy``: what the owner of this server can do about it."""

    cause: RefusalCause
    detail: str
    remedy: str = ""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What one kind of connection requests from an OAuth service, and in what this service differs from others."""

    service: str
    """The name of the service, as the app shows it."""
    what: str
    """What is connected, in one word: "mail"."""
    scopes: tuple[str, ...]
    sufficient_scopes: frozenset[str]
    """A grant with any of these is enough; where the set is empty, any grant is."""
    not_granted: str
    """The message for a grant that has none of them."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Extra parameters of the consent screen, besides the standard's."""
    token_parameters: Mapping[str, str] = field(default_factory=dict)
    """Extra parameters of each token request, besides the standard's."""
    lasting: bool = True
    """Whether a grant without a refresh token is refused."""
    ended_because: Mapping[str, str] = field(default_factory=dict)
    """The message by the service's own ``error_subtype`` of a refused renewal, or by its code."""
    trial: TrialPeriod | None = None
    code: Pattern[str] | None = None
    """The pattern of the service's own code in an ``error_description``: the first group is the code."""
    refusals: Mapping[str, Refusal] = field(default_factory=dict)
    """Why the service refused, by that code."""

    def code_in(self, description: str) -> str:
        """The service's own code; empty where there is none."""
        found = self.code.search(description) if self.code is not None else None
        return found[1] if found else ""

    def refusal(self, description: str) -> Refusal | None:
        return self.refusals.get(self.code_in(description))


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """The stored part of a grant. ``expires_at`` is the access token's; ``granted_at`` is when the person consented,
    ``None`` where that was not recorded."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    expires_at: Millis
    scopes: frozenset[str]
    granted_at: Millis | None = None


@dataclass(frozen=True, kw_only=True)
class Identity:
    """The person who consented, by the ID token. ``email_verified`` is True only where the service said exactly that.

    ``username``: the name with which they sign in at the service, if the service sends it.
    """

    subject: str
    email: str | None
    email_verified: bool
    username: str | None = None

    @property
    def address(self) -> str | None:
        """Their mail address as the service sent it, in lower case. It is not verified."""
        named = self.email or self.username or ""
        return named.lower() if "@" in named else None


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A finished round trip. ``identity`` is ``None`` where the service sent no ID token."""

    tokens: Tokens
    identity: Identity | None
