"""Checks whether people can sign in and strangers can't: the provider, our OAuth client there, and the claim."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final

import msgspec

from svc.capabilities import door_of
from svc.check import Check, CheckContext, Finding, failed, ok, skipped
from svc.health import reached
from svc.identity.actions import anybody_could_claim
from svc.identity.consent_probe import SET_ANEW, probe_consent
from svc.identity.discovery import ProviderAway
from svc.identity.idp_routes import CALLBACK_PATH
from svc.identity.oauth_client_row import OAUTH_CLIENT, client_credentials
from svc.identity.oidc import OpenIdLogin, authorization_url
from svc.identity.settings import AUTH, CLAIM_TOKEN, is_for_this_machine
from svc.settings import HOST, IDP_ISSUER, canonical_origin
from svc.store import has_secret

NO_CLIENT: Final = "No OAuth client is set: people sign in by links from svc claim, and no account can be connected"
OFFLINE: Final = "It is asked by a running service only, which writes down each use of a credential"
_GOOGLE: Final = "https://accounts.google.com"
_GOOGLE_CLIENT: Final = ".apps.googleusercontent.com"
_ACTOR: Final = "identity"


class _Document(msgspec.Struct):
    issuer: str


async def has_client_stored(context: CheckContext) -> bool:
    """Whether an OAuth client is set, here or in the database of a service that is not running."""
    return context.store is not None and await context.store.read(has_secret, OAUTH_CLIENT)


async def _provider(context: CheckContext) -> Sequence[Finding]:
    if not context.asks_outside:
        return [skipped("Fakes stand in for the identity provider")]
    if not await has_client_stored(context):
        return [skipped(NO_CLIENT)]
    issuer = context.config[IDP_ISSUER]
    url = f"{issuer}/.well-known/openid-configuration"
    answer = await reached(context, url, what="The identity provider", setting=IDP_ISSUER.name)
    if isinstance(answer, Finding):
        return [answer]
    try:
        said = msgspec.json.decode(answer.body, type=_Document).issuer
    except (msgspec.DecodeError, UnicodeDecodeError):
        said = ""
    if answer.status != 200 or said.rstrip("/") != issuer:
        return [
            failed(
                f"{issuer} does not answer as an OpenID provider (status {answer.status})",
                f"Set {IDP_ISSUER.name} to the issuer as the provider names it, or look who answers in its place",
            )
        ]
    return [ok(f"{issuer} answers")]


async def _sign_in(context: CheckContext) -> Sequence[Finding]:
    workspace = context.workspace
    if not context.asks_outside:
        return [skipped("Fakes stand in for the identity provider")]
    if not await has_client_stored(context):
        return [skipped(NO_CLIENT)]
    if workspace is None:
        return [skipped(OFFLINE, "Start the service, then ask again")]
    client = await client_credentials(door_of(workspace, _ACTOR), purpose="health check")
    if client is None:
        return [skipped(NO_CLIENT)]
    if context.config[IDP_ISSUER] == _GOOGLE and not client.client_id.endswith(_GOOGLE_CLIENT):
        return [
            failed(
                f"{client.client_id} is not the id of an OAuth client at Google: those end in {_GOOGLE_CLIENT}. An API "
                "key or a service account is of the wrong type",
                f"Create an OAuth client of the type Web application, and {SET_ANEW}",
            )
        ]
    try:
        provider = await workspace.service(OpenIdLogin).provider()
    except ProviderAway as away:
        return [skipped(away.detail)]
    redirect_uri = canonical_origin(context.config, port=workspace.port) + CALLBACK_PATH
    url = authorization_url(
        provider,
        client_id=client.client_id,
        redirect_uri=redirect_uri,
        state=secrets.token_urlsafe(),
        nonce=secrets.token_urlsafe(),
        code_challenge=secrets.token_urlsafe(32),
    )
    return [await probe_consent(context.egress, url, redirect_uri=redirect_uri)]


async def _claim(context: CheckContext) -> Sequence[Finding]:
    host = context.config[HOST]
    if is_for_this_machine(context.config):
        off = " Identity is off: whoever uses this machine is its administrator" if context.config[AUTH] else ""
        return [ok(f"Only this machine reaches {host}.{off}")]
    claimed = context.store is not None and not await context.store.read(anybody_could_claim)
    if claimed or context.config[CLAIM_TOKEN] is not None:
        return [ok(f"Others can reach {host}, and nobody gets in without an account or an invite")]
    return [
        failed(
            f"This instance is unclaimed, and others can reach {host}: whoever comes first could own it",
            f"Set {CLAIM_TOKEN.name} to a long random token, or run: svc invite --admin",
        )
    ]


CHECKS: Final = (
    Check(name="claim", summary="No stranger can make this instance their own.", run=_claim),
    Check(name="provider", summary="The identity provider answers.", run=_provider),
    Check(
        name="sign-in", summary="The provider knows the OAuth client, and where it sends people back to.", run=_sign_in
    ),
)
