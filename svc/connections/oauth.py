"""The OAuth 2 client: builds the address of the consent screen, exchanges its code for tokens, renews tokens and
revokes grants.

Theory: the authorization code grant (RFC 6749, section 4.1) with PKCE (RFC 7636) and the client secret in the body;
endpoints by OpenID Connect discovery. The ID token comes straight from the token endpoint, so the connection vouches
for it and its signature is not checked (OpenID Connect Core, 3.1.3.7, rule 6); issuer, audience and expiry are.

Owns the requests, and the decision what counts as granted. What a service does differently stands in its
:class:`Terms`. It has no routes, keeps no state and stores nothing. No token or secret is in any repr or fault.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from urllib.parse import quote_plus, urlencode

import msgspec

from svc.clock import HOUR_MS, SECOND_MS, Clock, Millis
from svc.connections.clock_check import SKEW_MAX_MS, certificate_problem, clock_problem
from svc.connections.faults import ConnectionFault, GrantEnded, GrantRefused, ServiceAway, ServiceBusy
from svc.connections.model import Grant, Identity, Terms, Tokens, TrialPeriod
from svc.connections.retry_after import retry_after_s
from svc.identity import ClientCredentials, Discovery, HttpClient, ProviderAway, decoded
from svc.protocol.egress import EgressFault, EgressResponse

CLOCK_SKEW_MAX_MS: Final = 60 * SECOND_MS
DEFAULT_LIFETIME_S: Final = 3_600  # where the service does not say (RFC 6749, section 5.1)
MAX_LIFETIME_S: Final = 24 * 3_600
UNRENEWED_LIFETIME_S: Final = 10 * 365 * 24 * 3_600
CALL_DEADLINE_S: Final = 20.0
ANSWER_MAX_BYTES: Final = 256 * 1024
TRIAL_SLACK_MS: Final = HOUR_MS
_NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Endpoints:
    """``issuer`` is ``None`` when both endpoints are settings: then there is no issuer to compare an ID token with.

    Where a service has many directories, ``{tenantid}`` in the issuer stands for the person's directory. ``in_header``:
    the client authenticates by Basic authentication, and not in the body.
    """

    authorization: str
    token: str
    issuer: str | None
    in_header: bool = False


@dataclass(frozen=True, kw_only=True)
class OAuthEndpoints:
    """The endpoints from settings, or else from the service's discovery document."""

    discovery: Discovery
    authorization_url: str | None = None
    token_url: str | None = None
    revocation_url: str | None = None

    async def revocation(self) -> str | None:
        """The revocation endpoint; ``None`` where the service has none. Raises :class:`ServiceAway`."""
        if self.revocation_url is not None:
            return self.revocation_url
        if self.authorization_url and self.token_url:
            return None  # the endpoints are settings: the discovery document describes another service
        try:
            return (await self.discovery.provider()).revocation
        except ProviderAway as away:
            raise ServiceAway(away.detail) from away

    async def endpoints(self) -> Endpoints:
        """Raises :class:`ServiceAway`."""
        if self.authorization_url and self.token_url:
            return Endpoints(authorization=self.authorization_url, token=self.token_url, issuer=None)
        try:
            found = await self.discovery.provider()
        except ProviderAway as away:
            raise ServiceAway(away.detail) from away
        return Endpoints(
            authorization=self.authorization_url or found.authorization,
            token=self.token_url or found.token,
            issuer=found.issuer,
        )


def authorization_url(
    endpoints: Endpoints,
    terms: Terms,
    *,
    client_id: str,
    redirect_uri: str,
    state: str,
    code_challenge: str,
    login_hint: str | None = None,
) -> str:
    """The address of the consent screen."""
    query = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        **({"scope": " ".join(terms.scopes)} if terms.scopes else {}),
        "state": state,
        "code_challenge": code_challenge,
        "code_challenge_method": "S256",
        **terms.parameters,
    }
    if login_hint:
        query["login_hint"] = login_hint
    return f"{endpoints.authorization}{'&' if '?' in endpoints.authorization else '?'}{urlencode(query)}"


async def exchange_code(
    http: HttpClient,
    endpoints: Endpoints,
    terms: Terms,
    *,
    credentials: ClientCredentials,
    code: str,
    code_verifier: str,
    redirect_uri: str,
    clock: Clock,
) -> Grant:
    """Exchanges the code of a callback for a grant.

    Raises :class:`GrantRefused` when the code or the grant can't be used; :class:`ServiceAway`, :class:`ServiceBusy`.
    """
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": code_verifier,
        "redirect_uri": redirect_uri,
        **terms.token_parameters,
    }
    answer = await _post_as(http, endpoints, terms, credentials, form=form)
    if answer.status != 200:
        raise _exchange_fault(answer, terms, now=clock.now())
    wire = _token_answer(answer)
    if not wire.refresh_token and terms.lasting:
        raise GrantRefused(
            f"{terms.service} granted no lasting access (no refresh token). Remove this app under your {terms.service} "
            "account's third-party connections, then connect again.",
            cause="no-refresh-token",
        )
    now = clock.now()
    scopes = frozenset(terms.scopes)
    tokens = _tokens(wire, refresh_token=wire.refresh_token or "", scopes=scopes, granted_at=now, now=now)
    if terms.sufficient_scopes and not tokens.scopes & terms.sufficient_scopes:
        raise GrantRefused(terms.not_granted, cause="scope-unticked")
    identity = _identity(wire.id_token, endpoints=endpoints, client_id=credentials.client_id, now=clock.now())
    return Grant(tokens=tokens, identity=identity)


async def refresh(
    http: HttpClient, endpoints: Endpoints, terms: Terms, *, credentials: ClientCredentials, kept: Tokens, clock: Clock
) -> Tokens:
    """Fresh tokens of the same grant. Raises :class:`GrantEnded`, :class:`ServiceAway` or :class:`ServiceBusy`."""
    if not kept.refresh_token:
        raise GrantEnded(f"The access that {terms.service} granted has run out. Sign in there again.", cause="other")
    form = {"grant_type": "refresh_token", "refresh_token": kept.refresh_token, **terms.token_parameters}
    answer = await _post_as(http, endpoints, terms, credentials, form=form)
    if answer.status != 200:
        raise _refresh_fault(answer, kept, terms, now=clock.now())
    wire = _token_answer(answer)
    return _tokens(
        wire,
        refresh_token=wire.refresh_token or kept.refresh_token,
        scopes=kept.scopes,
        granted_at=kept.granted_at,
        now=clock.now(),
    )


async def revoke(
    http: HttpClient, url: str, terms: Terms, *, refresh_token: str, credentials: ClientCredentials | None = None
) -> None:
    """Revokes a grant at its service (RFC 7009). A grant that the service does not know counts as ended. Raises
    :class:`ServiceAway`.

    ``credentials``: for a service where the client must authenticate to revoke.
    """
    form = {"token": refresh_token, "token_type_hint": "refresh_token"}
    if credentials is not None:
        form |= _client_fields(credentials)
    answer = await _post(http, terms, url, form=form)
    error = decoded(answer.body, _OAuthError) if answer.status == 400 else None
    if answer.status != 200 and (error is None or error.error != "invalid_token"):
        raise ServiceAway(f"The sign-in service did not take the access back (status {answer.status}).")


# Requests and answers


class _TokenAnswer(msgspec.Struct):
    access_token: str
    token_type: str
    expires_in: int | None = None
    refresh_token: str | None = None
    scope: str | None = None
    id_token: str | None = None


class _OAuthError(msgspec.Struct):
    error: str
    error_subtype: str = ""
    error_description: str = ""


class _Claims(msgspec.Struct):
    iss: str
    aud: str | list[str]
    sub: str
    exp: float
    iat: float | None = None
    email: str | None = None
    email_verified: bool | str = False
    preferred_username: str | None = None
    tid: str = ""


def _client_fields(credentials: ClientCredentials) -> dict[str, str]:
    fields = {"client_id": credentials.client_id}
    return {**fields, "client_secret": credentials.client_secret} if credentials.client_secret else fields


async def _post_as(
    http: HttpClient, endpoints: Endpoints, terms: Terms, credentials: ClientCredentials, *, form: dict[str, str]
) -> EgressResponse:
    """Posts to the token endpoint, authenticated as our client (RFC 6749, section 2.3.1)."""
    if not (endpoints.in_header and credentials.client_secret):
        return await _post(http, terms, endpoints.token, form={**form, **_client_fields(credentials)})
    pair = f"{quote_plus(credentials.client_id)}:{quote_plus(credentials.client_secret)}"
    basic = {"authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    return await _post(http, terms, endpoints.token, form=form, headers=basic)


async def _post(
    http: HttpClient, terms: Terms, url: str, *, form: dict[str, str], headers: Mapping[str, str] = _NO_HEADERS
) -> EgressResponse:
    try:
        return await http.request(
            "POST",
            url,
            headers={"accept": "application/json", "content-type": "application/x-www-form-urlencoded", **headers},
            body=urlencode(form).encode(),
            deadline_s=CALL_DEADLINE_S,
            limit_bytes=ANSWER_MAX_BYTES,
        )
    except EgressFault as fault:
        wrong = None
        if fault.kind == "tls":
            wrong = certificate_problem(fault.detail, service=terms.service, what=terms.what)
        if wrong is not None:
            raise ServiceAway(wrong, cause="clock") from fault
        raise ServiceAway(f"The sign-in service can't be reached: {fault.detail}") from fault


def _token_answer(answer: EgressResponse) -> _TokenAnswer:
    wire = decoded(answer.body, _TokenAnswer)
    if wire is None or not wire.access_token or wire.token_type.lower() != "bearer":
        raise ServiceAway("The sign-in service's answer can't be understood.")
    return wire


def _tokens(
    wire: _TokenAnswer, *, refresh_token: str, scopes: frozenset[str], granted_at: Millis | None, now: Millis
) -> Tokens:
    """``scopes``: the granted ones if the answer names none, which means "as requested" (RFC 6749, section 5.1)."""
    if refresh_token:
        lifetime_s = DEFAULT_LIFETIME_S if wire.expires_in is None else min(max(0, wire.expires_in), MAX_LIFETIME_S)
    else:  # it can't be renewed: it lasts as long as the service says, or until the service refuses it
        lifetime_s = UNRENEWED_LIFETIME_S if wire.expires_in is None else max(0, wire.expires_in)
    return Tokens(
        access_token=wire.access_token,
        refresh_token=refresh_token,
        expires_at=now + lifetime_s * SECOND_MS,
        scopes=scopes if wire.scope is None else frozenset(wire.scope.split()),
        granted_at=granted_at,
    )


def _identity(id_token: str | None, *, endpoints: Endpoints, client_id: str, now: Millis) -> Identity | None:
    if id_token is None:
        return None
    claims = _claims(id_token)
    if claims is not None and claims.iat is not None and claims.iat * SECOND_MS > now + SKEW_MAX_MS:
        raise GrantRefused(
            "The clock of this server is behind: the sign-in just made lies in its future. Set the clock right, then "
            "connect again.",
            cause="clock-wrong",
        )
    audience = [] if claims is None else [claims.aud] if isinstance(claims.aud, str) else claims.aud
    issuer = endpoints.issuer
    if issuer is not None and claims is not None:
        issuer = issuer.replace("{tenantid}", claims.tid)
    issued_there = claims is not None and issuer in {None, claims.iss, f"https://{claims.iss}"}
    if (
        claims is None
        or not issued_there
        or client_id not in audience
        or claims.exp * SECOND_MS <= now - CLOCK_SKEW_MAX_MS
    ):
        raise GrantRefused(
            "The sign-in service's word on who signed in was not meant for this server, or this machine's clock is "
            "wrong.",
            cause="wrong-identity",
        )
    return Identity(
        subject=claims.sub,
        email=claims.email,
        email_verified=claims.email_verified is True,
        username=claims.preferred_username,
    )


def _claims(id_token: str) -> _Claims | None:
    parts = id_token.split(".")
    if len(parts) != 3:
        return None
    try:
        payload = base64.b64decode(parts[1] + "=" * (-len(parts[1]) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded(payload, _Claims)


def _exchange_fault(answer: EgressResponse, terms: Terms, *, now: Millis) -> ConnectionFault | GrantRefused:
    error = decoded(answer.body, _OAuthError)
    if error is None or _may_pass(answer, error):
        return _passing_fault(answer, now=now)
    if (told := terms.refusal(error.error_description)) is not None:
        return GrantRefused(told.detail, cause=told.cause)
    if _names_client(error):
        return GrantRefused(_CLIENT_REJECTED, cause="client-rejected")
    return GrantRefused("The sign-in was used already or took too long. Connect again.", cause="code-rejected")


def _refresh_fault(answer: EgressResponse, kept: Tokens, terms: Terms, *, now: Millis) -> ConnectionFault:
    error = decoded(answer.body, _OAuthError)
    if error is None or _may_pass(answer, error):
        return _passing_fault(answer, now=now)
    for key in (error.error_subtype, terms.code_in(error.error_description)):
        if key in terms.ended_because:
            return GrantEnded(terms.ended_because[key], cause="other")
    if _names_client(error):
        return GrantEnded(_CLIENT_REJECTED, cause="other")
    wrong = clock_problem(answer.headers, now=now, service=terms.service)
    if wrong is not None:
        return GrantEnded(wrong, cause="clock")
    if error.error != "invalid_grant":
        return GrantEnded(
            f"{terms.service} refused to renew this account's access. Connect the account again.", cause="other"
        )
    if terms.trial is not None and _ended_with_trial(kept, terms.trial, now=now):
        return GrantEnded(terms.trial.ended, cause="testing-expired")
    perhaps = terms.trial.perhaps if terms.trial is not None and kept.granted_at is None else ""
    return GrantEnded(
        f"{terms.service} no longer accepts this account's access: it was revoked, or the password was changed"
        f"{perhaps}. Connect the account again.",
        cause="revoked",
    )


def _ended_with_trial(kept: Tokens, trial: TrialPeriod, *, now: Millis) -> bool:
    """Whether the trial period ended this grant: the grant is as old as the period, and no access token was issued
    after its end."""
    if kept.granted_at is None:
        return False
    ended_at = kept.granted_at + trial.lifetime_ms
    lifetime_ms = DEFAULT_LIFETIME_S * SECOND_MS
    return now >= ended_at - TRIAL_SLACK_MS and kept.expires_at <= ended_at + lifetime_ms + TRIAL_SLACK_MS


_CLIENT_REJECTED: Final = (
    "The OAuth client id or secret is wrong, or the client was deleted. Correct the client, then connect again."
)


def _names_client(error: _OAuthError | None) -> bool:
    return error is not None and error.error in {"invalid_client", "unauthorized_client", "deleted_client"}


def _may_pass(answer: EgressResponse, error: _OAuthError | None) -> bool:
    """Whether the answer says nothing about this grant: the service is busy or broken, or a proxy answered in its
    place."""
    return answer.status in {408, 429} or not 400 <= answer.status < 500 or error is None


def _passing_fault(answer: EgressResponse, *, now: Millis) -> ConnectionFault:
    if answer.status == 429:
        return ServiceBusy("The sign-in service asks to wait.", retry_after_s=retry_after_s(answer.headers, now=now))
    return ServiceAway(f"The sign-in service does not work at the moment (status {answer.status}).")
