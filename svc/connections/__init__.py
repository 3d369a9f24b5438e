"""Connections: access that a person grants this server at an outside service, by OAuth. The same code serves every kind
of service.

Owns the round trip to the consent screen, the tokens of each grant, their renewal and their revocation, and the one
interface to the secrets of connections (:class:`Credentials`). A :class:`Terms` says what is requested from which
service. It has no routes: the feature that connects something has them. The state of a round trip belongs to identity.
"""

from svc.connections.clock_check import certificate_problem, clock_problem
from svc.connections.credentials import BrokeredCredentials, Credentials, KeptTokens, keep_tokens, tokens_of
from svc.connections.faults import (
    ConnectionFault,
    GrantEnded,
    GrantRefused,
    ReconnectCause,
    RefusalCause,
    ServiceAway,
    ServiceBusy,
)
from svc.connections.feature import FEATURE
from svc.connections.google import google_terms
from svc.connections.grants import REVOKE_DEADLINE_S, Grants, credentials_of, grants_of
from svc.connections.microsoft import CLIENT as MICROSOFT_CLIENT
from svc.connections.microsoft import microsoft_grants, microsoft_terms, origin_for_microsoft
from svc.connections.model import Grant, Identity, Refusal, Terms, Tokens, TrialPeriod
from svc.connections.oauth import Endpoints, OAuthEndpoints, authorization_url, exchange_code, revoke
from svc.connections.retry_after import RETRY_AFTER_MAX_S, capped_wait_s, retry_after_s
from svc.connections.token_source import TokenSource, TokenStore

__all__ = [
    "FEATURE",
    "MICROSOFT_CLIENT",
    "RETRY_AFTER_MAX_S",
    "REVOKE_DEADLINE_S",
    "BrokeredCredentials",
    "ConnectionFault",
    "Credentials",
    "Endpoints",
    "Grant",
    "GrantEnded",
    "GrantRefused",
    "Grants",
    "Identity",
    "KeptTokens",
    "OAuthEndpoints",
    "ReconnectCause",
    "Refusal",
    "RefusalCause",
    "ServiceAway",
    "ServiceBusy",
    "Terms",
    "TokenSource",
    "TokenStore",
    "Tokens",
    "TrialPeriod",
    "authorization_url",
    "capped_wait_s",
    "certificate_problem",
    "clock_problem",
    "credentials_of",
    "exchange_code",
    "google_terms",
    "grants_of",
    "keep_tokens",
    "microsoft_grants",
    "microsoft_terms",
    "origin_for_microsoft",
    "retry_after_s",
    "revoke",
    "tokens_of",
]
