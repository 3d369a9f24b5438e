"""Sign-in by an OpenID provider: makes the address of its consent screen, and turns the code of the callback into an
identity.

Theory: the authorization code flow (OpenID Connect Core 1.0, section 3.1) with PKCE (RFC 7636). Nothing in the ID token
counts before :mod:`svc.identity.oidc_token` has checked all of it. A provider may omit the address from it; then the
UserInfo endpoint is asked with the access token, and its answer counts only for the same subject (section 5.3.2).

Owns the requests and what counts as an identity. It knows no users, keeps no state of a round trip and stores nothing;
access tokens are dropped at the end of the call.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote_plus, urlencode

import msgspec

from svc.identity.discovery import ANSWER_MAX_BYTES, CALL_DEADLINE_S, Discovery, OpenIdProvider, ProviderAway
from svc.identity.http_client import decoded
from svc.identity.oauth_client_row import ClientCredentials
from svc.identity.oidc_refusal import Claims, RefusalCause, SignInRefused
from svc.protocol.egress import EgressFault, EgressResponse
from svc.settings import IDP_ISSUER
from svc.workspace import Workspace

if TYPE_CHECKING:
    from svc.identity.oidc_keys import KeyCache

SCOPES: Final = ("openid", "email", "profile")

_POST: Final = "client_secret_post"
_BASIC: Final = "client_secret_basic"


@dataclass(frozen=True, kw_only=True)
class VerifiedIdentity:
    """The identity that the provider verified. ``email_verified`` only if it is exactly ``true``."""

    issuer: str
    subject: str
    email: str | None
    email_verified: bool
    name: str


def authorization_url(
    provider: OpenIdProvider, *, client_id: str, redirect_uri: str, state: str, nonce: str, code_challenge: str
) -> str:
    """The address of the provider's screen where a person signs in and consents."""
    query = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "scope": " ".join(SCOPES),
        "state": state,
        "nonce": nonce,
        "code_challenge": code_challenge,
        "code_challenge_method": "S256",
    }
    return f"{provider.authorization}?{urlencode(query)}"


@dataclass(frozen=True, kw_only=True)
class OpenIdLogin:
    """The provider of this instance, with its remembered metadata and keys."""

    workspace: Workspace

    async def provider(self) -> OpenIdProvider:
        """Raises :class:`ProviderAway`."""
        return await self._discovery.provider()

    async def sign_in(
        self, *, credentials: ClientCredentials, code: str, code_verifier: str, nonce: str, redirect_uri: str
    ) -> VerifiedIdentity:
        """Redeem the code of a callback. Raises :class:`SignInRefused` or :class:`ProviderAway`."""
        # Imported late, like the keys: joserfc is loaded with the first sign-in.
        from svc.identity.oidc_token import verified_claims

        provider = await self.provider()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": code_verifier,
            "redirect_uri": redirect_uri,
        }
        answer = await self._redeem(provider, credentials, form)
        claims = await verified_claims(
            answer.id_token or "",
            provider=provider,
            keys=self._keys,
            client_id=credentials.client_id,
            nonce=nonce,
            now=self.workspace.clock.now(),
        )
        if not isinstance(claims.email, str) and provider.userinfo is not None and answer.access_token:
            claims = await self._with_userinfo(provider.userinfo, claims, access_token=answer.access_token)
        return _identity(provider, claims)

    async def _redeem(
        self, provider: OpenIdProvider, credentials: ClientCredentials, form: Mapping[str, str]
    ) -> _TokenAnswer:
        headers, secret = _client_authentication(provider, credentials)
        headers = headers | {"content-type": "application/x-www-form-urlencoded"}
        answer = await self._request("POST", provider.token, headers=headers, body=urlencode({**form, **secret}))
        if answer.status != 200:
            raise _exchange_fault(answer)
        wire = decoded(answer.body, _TokenAnswer)
        if wire is None:
            raise ProviderAway("The sign-in service's answer can't be understood.")
        if not wire.id_token:
            raise SignInRefused("no-identity", "The sign-in service did not say who you are. " + TELL_OWNER)
        return wire

    async def _with_userinfo(self, url: str, claims: Claims, *, access_token: str) -> Claims:
        answer = await self._request("GET", url, headers={"authorization": f"Bearer {access_token}"})
        more = decoded(answer.body, _UserInfo) if answer.status == 200 else None
        if more is None or more.sub != claims.subject:
            return claims
        name = claims.name if isinstance(claims.name, str) else more.name
        return Claims(subject=claims.subject, email=more.email, email_verified=more.email_verified, name=name)

    async def _request(
        self, method: str, url: str, *, headers: Mapping[str, str], body: str | None = None
    ) -> EgressResponse:
        try:
            return await self.workspace.egress.request(
                method,
                url,
                headers={"accept": "application/json", **headers},
                body=None if body is None else body.encode(),
                deadline_s=CALL_DEADLINE_S,
                limit_bytes=ANSWER_MAX_BYTES,
            )
        except EgressFault as fault:
            raise ProviderAway(f"The sign-in service can't be reached: {fault.detail}") from fault

    @cached_property
    def _discovery(self) -> Discovery:
        workspace = self.workspace
        return Discovery(http=workspace.egress, clock=workspace.clock, issuer=workspace.config[IDP_ISSUER])

    @cached_property
    def _keys(self) -> KeyCache:
        from svc.identity.oidc_keys import KeyCache

        return KeyCache(http=self.workspace.egress)


class _TokenAnswer(msgspec.Struct):
    id_token: str | None = None
    access_token: str | None = None


class _UserInfo(msgspec.Struct):
    sub: str
    email: Any = None
    email_verified: Any = None
    name: Any = None


class _OAuthError(msgspec.Struct):
    error: str


TELL_OWNER: Final = "Tell the owner of this server."


_CLIENT_REFUSALS: Final[Mapping[str, tuple[RefusalCause, str]]] = MappingProxyType(
    {
        "invalid_client": (
            "client-rejected",
            "The sign-in service does not accept this server's client id or secret (invalid_client).",
        ),
        "deleted_client": ("client-gone", "This server's OAuth client was deleted at the sign-in service."),
        "disabled_client": ("client-gone", "This server's OAuth client was disabled at the sign-in service."),
        "unauthorized_client": (
            "client-type",
            "This server's OAuth client is of the wrong type: the sign-in service gives it no access "
            "(unauthorized_client).",
        ),
        "redirect_uri_mismatch": (
            "redirect-unknown",
            "The sign-in service does not know the redirect URI of this server (redirect_uri_mismatch).",
        ),
    }
)


def _identity(provider: OpenIdProvider, claims: Claims) -> VerifiedIdentity:
    email = claims.email if isinstance(claims.email, str) and claims.email.strip() else None
    return VerifiedIdentity(
        issuer=provider.issuer,
        subject=claims.subject,
        email=email,
        email_verified=email is not None and claims.email_verified is True,
        name=claims.name if isinstance(claims.name, str) else "",
    )


def _client_authentication(
    provider: OpenIdProvider, credentials: ClientCredentials
) -> tuple[dict[str, str], dict[str, str]]:
    """How we authenticate as the client, as header and form fields: in the body, or by Basic where the provider offers
    only that.

    Basic carries both parts form-encoded first (RFC 6749, section 2.3.1).
    """
    if _BASIC not in provider.client_authentications or _POST in provider.client_authentications:
        return {}, {"client_id": credentials.client_id, "client_secret": credentials.client_secret}
    pair = f"{quote_plus(credentials.client_id)}:{quote_plus(credentials.client_secret)}"
    return {"authorization": "Basic " + base64.b64encode(pair.encode()).decode()}, {}


def _exchange_fault(answer: EgressResponse) -> SignInRefused | ProviderAway:
    error = decoded(answer.body, _OAuthError)
    if answer.status in {408, 429} or not 400 <= answer.status < 500 or error is None:
        return ProviderAway(f"The sign-in service does not work at the moment (status {answer.status}).")
    if error.error in _CLIENT_REFUSALS:
        cause, why = _CLIENT_REFUSALS[error.error]
        return SignInRefused(cause, f"{why} {TELL_OWNER}")
    return SignInRefused("code-rejected", "The sign-in was used already or took too long. Sign in again.")
