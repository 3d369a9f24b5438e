"""Identity: who asks. Resolves principals and keeps the one-shot states of OAuth round trips.

This far, an instance is unclaimed: whoever reaches its loopback address is the unclaimed principal.
"""

from svc.identity.feature import FEATURE, resolve_principal
from svc.identity.oauth_states import ROUND_TRIP_REFUSED, OAuthState, begin_round_trip, end_round_trip

__all__ = [
    "FEATURE",
    "ROUND_TRIP_REFUSED",
    "OAuthState",
    "begin_round_trip",
    "end_round_trip",
    "resolve_principal",
]
