"""Asking the identity provider whether it knows our OAuth client.

The token endpoint is asked to redeem a code that never was. A provider that takes the client says that the code is no
good; one that does not says so first (RFC 6749, section 5.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from svc.capability import ProbeResult
from svc.identity.consent_probe import SET_ANEW
from svc.identity.discovery import ProviderAway
from svc.identity.oauth_client_row import ClientCredentials
from svc.identity.oidc import OpenIdLogin
from svc.identity.oidc_refusal import SignInRefused
from svc.identity.service import Identity
from svc.settings import canonical_origin
from svc.workspace import Workspace

_NO_CODE = "code-of-a-test"
_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "redirect-unknown": "Add the address of this server, with /auth/idp/callback and with /oauth/mail/callback, to "
        "the authorized redirect URIs of the OAuth client",
        "client-type": f"Create an OAuth client of the type Web application, and {SET_ANEW}",
        "client-gone": f"Create a new OAuth client of the type Web application, and {SET_ANEW}",
    }
)


async def ask_provider(workspace: Workspace, value: Mapping[str, str]) -> ProbeResult:
    if workspace.service(Identity).dev_login:
        return ProbeResult(ok=True, message="The fake provider takes any client.")
    credentials = ClientCredentials(client_id=value["id"], client_secret=value["secret"])
    origin = canonical_origin(workspace.config, port=workspace.port)
    try:
        await workspace.service(OpenIdLogin).sign_in(
            credentials=credentials,
            code=_NO_CODE,
            code_verifier="v" * 43,
            nonce="",
            redirect_uri=f"{origin}/auth/idp/callback",
        )
    except SignInRefused as refused:
        if refused.cause == "code-rejected":
            return ProbeResult(ok=True, message="The provider knows this client.")
        return ProbeResult(ok=False, message=refused.detail, remedy=_REMEDIES.get(refused.cause, ""))
    except ProviderAway as away:
        return ProbeResult(ok=False, message=away.detail)
    return ProbeResult(ok=False, message="The provider redeemed a code that never was: it can't be a real one.")
