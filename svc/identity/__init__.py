"""Identity: who sends a request, and how people sign in. Users, sessions, devices, invites, claiming, OAuth round
trips.

Owns every credential that gives access to this service (as digests only) and the principal of each request. Each
feature decides what a principal may see.
"""

from svc.identity.actions import IDENTITY_TOPIC, ClaimHook, anybody_could_claim
from svc.identity.bringing_back import bring_back
from svc.identity.checks import NO_CLIENT, OFFLINE, has_client_stored
from svc.identity.consent_probe import probe_consent
from svc.identity.discovery import Discovery, OpenIdProvider, ProviderAway
from svc.identity.feature import FEATURE
from svc.identity.http_client import HttpClient, decoded
from svc.identity.oauth_client_row import OAUTH_CLIENT, ClientCredentials, client_credentials, has_client
from svc.identity.oauth_states import ROUND_TRIP_REFUSED, OAuthState
from svc.identity.revoked import CLOSE_SIGNED_OUT, ends, until_revoked
from svc.identity.round_trips import RoundTrips, from_elsewhere
from svc.identity.service import Identity
from svc.identity.settings import CLAIM_TOKEN, CORS_ORIGINS, believed_proxies, is_for_this_machine

__all__ = [
    "CLAIM_TOKEN",
    "CLOSE_SIGNED_OUT",
    "CORS_ORIGINS",
    "FEATURE",
    "IDENTITY_TOPIC",
    "NO_CLIENT",
    "OAUTH_CLIENT",
    "OFFLINE",
    "ROUND_TRIP_REFUSED",
    "ClaimHook",
    "ClientCredentials",
    "Discovery",
    "HttpClient",
    "Identity",
    "OAuthState",
    "OpenIdProvider",
    "ProviderAway",
    "RoundTrips",
    "anybody_could_claim",
    "believed_proxies",
    "bring_back",
    "client_credentials",
    "decoded",
    "ends",
    "from_elsewhere",
    "has_client",
    "has_client_stored",
    "is_for_this_machine",
    "probe_consent",
    "until_revoked",
]
