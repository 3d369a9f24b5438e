"""Asks the identity provider whether it knows our OAuth client.

The token endpoint is asked to redeem a code that does not exist. A provider that accepts the client answers that the
code is wrong; else it first answers that the client is wrong (RFC 6749, section 5.2). Then the probe asks the consent
screen whether it accepts each of our redirect URIs.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from svc.capability import ProbeResult
from svc.identity.consent_probe import SET_ANEW, probe_consent
from svc.identity.discovery import ProviderAway
from svc.identity.oauth_client_row import ClientCredentials
from svc.identity.oidc import TELL_OWNER, OpenIdLogin, authorization_url
from svc.identity.oidc_refusal import SignInRefused
from svc.identity.service import Identity
from svc.settings import canonical_origin
from svc.workspace import Workspace

CALLBACKS: Final = ("/oauth/mail/callback", "/auth/idp/callback")
"""The paths that the provider sends browsers back to: to connect a mailbox, and to sign in."""
_NO_CODE: Final = "code-of-a-test"
_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "redirect-unknown": f"Add the address of this server, with {' and with '.join(CALLBACKS)}, to the authorized "
        "redirect URIs of the OAuth client",
        "client-type": f"Create an OAuth client of the type Web application, and {SET_ANEW}",
        "client-rejected": f"Copy both again from the provider's console, and {SET_ANEW}",
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
            return await _sent_back(workspace, credentials, origin=origin)
        # The owner runs this test, so "tell the owner" is cut off.
        return ProbeResult(
            ok=False,
            message=refused.detail.removesuffix(TELL_OWNER).rstrip(),
            remedy=_REMEDIES.get(refused.cause, ""),
        )
    except ProviderAway as away:
        return ProbeResult(ok=False, message=away.detail)
    return ProbeResult(ok=False, message="The provider redeemed a code that never was: it can't be a real one.")


async def _sent_back(workspace: Workspace, credentials: ClientCredentials, *, origin: str) -> ProbeResult:
    """Whether the consent screen accepts each of our redirect URIs."""
    provider = await workspace.service(OpenIdLogin).provider()
    for path in CALLBACKS:
        url = authorization_url(
            provider,
            client_id=credentials.client_id,
            redirect_uri=origin + path,
            state=secrets.token_urlsafe(),
            nonce=secrets.token_urlsafe(),
            code_challenge=secrets.token_urlsafe(32),
        )
        found = await probe_consent(workspace.egress, url, redirect_uri=origin + path)
        if found.state == "failed":
            return ProbeResult(ok=False, message=f"{found.detail}.", remedy=found.remedy or "")
    return ProbeResult(ok=True, message="The provider knows this client, and both addresses of this server.")
