"""Identity: who asks, and how they got in. Users, sessions, devices, invites, claiming, OAuth round trips.

Owns every credential that opens this service (as digests only) and the principal of each request. What a principal may
see is each feature's own business.
"""

from svc.identity import claim_links, recovery
from svc.identity.actions import IDENTITY_TOPIC
from svc.identity.discovery import Discovery, OpenIdProvider, ProviderAway
from svc.identity.feature import FEATURE
from svc.identity.http_client import HttpClient, decoded
from svc.identity.oauth_client_row import ClientCredentials, client_credentials, seed_client
from svc.identity.oauth_states import ROUND_TRIP_REFUSED, OAuthState, begin_round_trip, end_round_trip
from svc.identity.service import Identity
from svc.identity.settings import CORS_ORIGINS, TRUST_PROXY

__all__ = [
    "CORS_ORIGINS",
    "FEATURE",
    "IDENTITY_TOPIC",
    "ROUND_TRIP_REFUSED",
    "TRUST_PROXY",
    "ClientCredentials",
    "Discovery",
    "HttpClient",
    "Identity",
    "OAuthState",
    "OpenIdProvider",
    "ProviderAway",
    "begin_round_trip",
    "claim_links",
    "client_credentials",
    "decoded",
    "end_round_trip",
    "recovery",
    "seed_client",
]
