"""The OAuth 2 client of a mail account: to the consent screen, from its code to tokens, and fresh tokens from then on.

Theory: the authorization code grant (RFC 6749, section 4.1) with PKCE (RFC 7636) and the client secret in the body;
endpoints by OpenID Connect discovery. The ID token comes straight from the token endpoint, so the connection vouches
for it and its signature is not checked (OpenID Connect Core, 3.1.3.7, rule 6); issuer, audience and expiry are.

Owns what is asked, what counts as granted, and when to renew. It has no routes, keeps no state of a round trip, and
stores nothing itself: tokens go through a :class:`TokenStore`. No token or secret is in any repr or fault.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol
from urllib.parse import urlencode

import msgspec
import trio

from svc.clock import DAY_MS, HOUR_MS, SECOND_MS, Clock, Millis
from svc.identity import ClientCredentials, Discovery, HttpClient, ProviderAway, decoded
from svc.mail.gmail.clock_check import SKEW_MAX_MS, certificate_problem, clock_problem
from svc.mail.gmail.retry_after import retry_after_s
from svc.mail.provider import GrantLost, ProviderFault, Throttled, Unreachable
from svc.protocol.egress import EgressFault, EgressResponse

MAIL_SCOPE: Final = "https://www.googleapis.com/auth/gmail.modify"
SCOPES: Final = ("openid", "email", MAIL_SCOPE)
SUFFICIENT_SCOPES: Final = frozenset({MAIL_SCOPE, "https://mail.google.com/"})

REFRESH_MARGIN_MS: Final = 60 * SECOND_MS
CLOCK_SKEW_MAX_MS: Final = 60 * SECOND_MS
DEFAULT_LIFETIME_S: Final = 3_600  # where the provider does not say (RFC 6749, section 5.1)
MAX_LIFETIME_S: Final = 24 * 3_600
CALL_DEADLINE_S: Final = 20.0
SAVE_DEADLINE_S: Final = 10.0
ANSWER_MAX_BYTES: Final = 256 * 1024

TESTING_LIFETIME_MS: Final = 7 * DAY_MS
"""How long Google lets a grant live that was given to an OAuth app in testing."""
TESTING_SLACK_MS: Final = HOUR_MS

RefusalCause = Literal[
    "scope-unticked", "no-refresh-token", "code-rejected", "client-rejected", "wrong-identity", "clock-wrong"
]


class GrantRefused(ProviderFault):
    """The round trip ended without a usable grant; ``cause`` names which of the known ways it was."""

    def __init__(self, detail: str, *, cause: RefusalCause) -> None:
        super().__init__(detail)
        self.cause = cause


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """What an account keeps of its grant. ``expires_at`` is the access token's; ``granted_at`` is when the person
    consented, ``None`` where that was not written down."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    expires_at: Millis
    scopes: frozenset[str]
    granted_at: Millis | None = None


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Who consented, by the ID token. ``email_verified`` is True only where the provider said exactly that."""

    subject: str
    email: str | None
    email_verified: bool


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A finished round trip. ``identity`` is ``None`` where the provider sent no ID token."""

    tokens: Tokens
    identity: Identity | None


@dataclass(frozen=True, kw_only=True)
class Endpoints:
    """``issuer`` is ``None`` when both endpoints are settings: then there is nothing to hold an ID token against."""

    authorization: str
    token: str
    issuer: str | None


class TokenStore(Protocol):
    """Where one account's tokens are kept, encrypted."""

    async def load(self) -> Tokens | None: ...

    async def save(self, tokens: Tokens) -> None: ...


@dataclass(frozen=True, kw_only=True)
class MailEndpoints:
    """The endpoints by setting, or else as the identity provider's discovery document names them."""

    discovery: Discovery
    authorization_url: str | None = None
    token_url: str | None = None
    revocation_url: str | None = None

    async def revocation(self) -> str | None:
        """Where a grant is taken back; ``None`` where the provider names no such place. Raises :class:`Unreachable`."""
        if self.revocation_url is not None:
            return self.revocation_url
        if self.authorization_url and self.token_url:
            return None  # a provider by settings alone: its discovery document is somebody else's
        try:
            return (await self.discovery.provider()).revocation
        except ProviderAway as away:
            raise Unreachable(away.detail) from away

    async def endpoints(self) -> Endpoints:
        """Raises :class:`Unreachable`."""
        if self.authorization_url and self.token_url:
            return Endpoints(authorization=self.authorization_url, token=self.token_url, issuer=None)
        try:
            found = await self.discovery.provider()
        except ProviderAway as away:
            raise Unreachable(away.detail) from away
        return Endpoints(
            authorization=self.authorization_url or found.authorization,
            token=self.token_url or found.token,
            issuer=found.issuer,
        )


def authorization_url(
    endpoints: Endpoints,
    *,
    client_id: str,
    redirect_uri: str,
    state: str,
    code_challenge: str,
    login_hint: str | None = None,
) -> str:
    """The consent screen. ``prompt=consent`` makes every run mint a grant with today's scopes (spec 1.1, rule 1)."""
    query = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "scope": " ".join(SCOPES),
        "state": state,
        "code_challenge": code_challenge,
        "code_challenge_method": "S256",
        "access_type": "offline",
        "prompt": "consent",
        "include_granted_scopes": "false",
    }
    if login_hint:
        query["login_hint"] = login_hint
    return f"{endpoints.authorization}?{urlencode(query)}"


async def exchange_code(
    http: HttpClient,
    endpoints: Endpoints,
    *,
    credentials: ClientCredentials,
    code: str,
    code_verifier: str,
    redirect_uri: str,
    clock: Clock,
) -> Grant:
    """Redeem the code of a callback.

    Raises :class:`GrantRefused` when it or what it grants is no good; :class:`Unreachable`, :class:`Throttled`.
    """
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": code_verifier,
        "redirect_uri": redirect_uri,
        **_client_fields(credentials),
    }
    answer = await _request(http, "POST", endpoints.token, form=form)
    if answer.status != 200:
        raise _exchange_fault(answer, now=clock.now())
    wire = _token_answer(answer)
    if not wire.refresh_token:
        raise GrantRefused(
            "Google granted no lasting access (no refresh token). Remove this app under your Google account's "
            "third-party connections, then connect again.",
            cause="no-refresh-token",
        )
    now = clock.now()
    tokens = _tokens(wire, refresh_token=wire.refresh_token, scopes=frozenset(SCOPES), granted_at=now, now=now)
    if not tokens.scopes & SUFFICIENT_SCOPES:
        raise GrantRefused(
            "Access to the mailbox was not granted: leave the box for reading, composing and sending mail ticked on "
            "Google's consent screen.",
            cause="scope-unticked",
        )
    identity = _identity(wire.id_token, endpoints=endpoints, client_id=credentials.client_id, now=clock.now())
    return Grant(tokens=tokens, identity=identity)


async def revoke(http: HttpClient, url: str, *, refresh_token: str) -> None:
    """End a grant at the provider (RFC 7009). One that it does not know has ended. Raises :class:`Unreachable`."""
    answer = await _request(http, "POST", url, form={"token": refresh_token, "token_type_hint": "refresh_token"})
    error = decoded(answer.body, _OAuthError) if answer.status == 400 else None
    if answer.status != 200 and (error is None or error.error != "invalid_token"):
        raise Unreachable(f"The sign-in service did not take the access back (status {answer.status}).")


@dataclass(kw_only=True)
class _Refresh:
    """One renewal under way, and for those who wait for it how it ended. Neither: it was cancelled."""

    done: trio.Event = field(default_factory=trio.Event)
    tokens: Tokens | None = None
    fault: ProviderFault | None = None


@dataclass(kw_only=True, repr=False)
class TokenSource:
    """Access tokens of one account, renewed a minute before they expire.

    However many ask at once, one renewal is under way; all share its outcome. Client and stored tokens are read anew at
    each renewal, so a rotated client secret or a second consent needs no restart.
    """

    store: TokenStore
    client: Callable[[], Awaitable[ClientCredentials]]
    endpoints: Callable[[], Awaitable[Endpoints]]
    http: HttpClient
    clock: Clock
    _tokens: Tokens | None = None
    _refresh: _Refresh | None = None

    async def access_token(self) -> str:
        """Raises :class:`GrantLost`, :class:`Unreachable` or :class:`Throttled`."""
        return (await self._valid(stale=None)).access_token

    async def refreshed(self, stale: str) -> str:
        """Another access token than ``stale``, which the provider answered 401. Raises as :meth:`access_token`."""
        return (await self._valid(stale=stale)).access_token

    async def _valid(self, *, stale: str | None) -> Tokens:
        while True:
            if self._tokens is not None and self._is_good(self._tokens, stale):
                return self._tokens
            under_way = self._refresh
            if under_way is None:
                return await self._renew_for_all(stale)
            await under_way.done.wait()
            if under_way.fault is not None:
                raise under_way.fault.with_traceback(None)
            if under_way.tokens is not None and under_way.tokens.access_token != stale:
                return under_way.tokens

    async def _renew_for_all(self, stale: str | None) -> Tokens:
        under_way = self._refresh = _Refresh()
        try:
            under_way.tokens = await self._renew(stale)
        except ProviderFault as fault:
            under_way.fault = fault
            raise
        finally:
            self._refresh = None
            under_way.done.set()
        return under_way.tokens

    async def _renew(self, stale: str | None) -> Tokens:
        kept = await self.store.load()
        if kept is None:
            raise GrantLost("This account has no stored access. Connect it again.")
        if self._is_good(kept, stale):  # the first use since boot, or the account was connected again
            self._tokens = kept
            return kept
        self._tokens = await self._ask(kept)
        with trio.move_on_after(SAVE_DEADLINE_S, shield=True):  # a rotated refresh token exists nowhere else
            await self.store.save(self._tokens)
        return self._tokens

    async def _ask(self, kept: Tokens) -> Tokens:
        form = {
            "grant_type": "refresh_token",
            "refresh_token": kept.refresh_token,
            **_client_fields(await self.client()),
        }
        answer = await _request(self.http, "POST", (await self.endpoints()).token, form=form)
        if answer.status != 200:
            raise _refresh_fault(answer, kept, now=self.clock.now())
        wire = _token_answer(answer)
        return _tokens(
            wire,
            refresh_token=wire.refresh_token or kept.refresh_token,
            scopes=kept.scopes,
            granted_at=kept.granted_at,
            now=self.clock.now(),
        )

    def _is_good(self, tokens: Tokens, stale: str | None) -> bool:
        return tokens.access_token != stale and tokens.expires_at - REFRESH_MARGIN_MS > self.clock.now()


# What the wire carries


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


class _Claims(msgspec.Struct):
    iss: str
    aud: str | list[str]
    sub: str
    exp: float
    iat: float | None = None
    email: str | None = None
    email_verified: bool | str = False


def _client_fields(credentials: ClientCredentials) -> dict[str, str]:
    return {"client_id": credentials.client_id, "client_secret": credentials.client_secret}


async def _request(http: HttpClient, method: str, url: str, *, form: dict[str, str] | None) -> EgressResponse:
    headers = {"accept": "application/json"}
    if form is not None:
        headers["content-type"] = "application/x-www-form-urlencoded"
    try:
        return await http.request(
            method,
            url,
            headers=headers,
            body=None if form is None else urlencode(form).encode(),
            deadline_s=CALL_DEADLINE_S,
            limit_bytes=ANSWER_MAX_BYTES,
        )
    except EgressFault as fault:
        wrong = certificate_problem(fault.detail) if fault.kind == "tls" else None
        if wrong is not None:
            raise Unreachable(wrong, trouble="clock") from fault
        raise Unreachable(f"The sign-in service can't be reached: {fault.detail}") from fault


def _token_answer(answer: EgressResponse) -> _TokenAnswer:
    wire = decoded(answer.body, _TokenAnswer)
    if wire is None or not wire.access_token or wire.token_type.lower() != "bearer":
        raise Unreachable("The sign-in service's answer can't be understood.")
    return wire


def _tokens(
    wire: _TokenAnswer, *, refresh_token: str, scopes: frozenset[str], granted_at: Millis | None, now: Millis
) -> Tokens:
    """``scopes``: what is granted when the answer does not say, which means "as asked" (RFC 6749, section 5.1)."""
    lifetime_s = DEFAULT_LIFETIME_S if wire.expires_in is None else min(max(0, wire.expires_in), MAX_LIFETIME_S)
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
    issued_there = claims is not None and endpoints.issuer in {None, claims.iss, f"https://{claims.iss}"}
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
    return Identity(subject=claims.sub, email=claims.email, email_verified=claims.email_verified is True)


def _claims(id_token: str) -> _Claims | None:
    parts = id_token.split(".")
    if len(parts) != 3:
        return None
    try:
        payload = base64.b64decode(parts[1] + "=" * (-len(parts[1]) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded(payload, _Claims)


def _exchange_fault(answer: EgressResponse, *, now: Millis) -> ProviderFault:
    error = decoded(answer.body, _OAuthError)
    if _may_pass(answer, error):
        return _passing_fault(answer, now=now)
    if _names_client(error):
        return GrantRefused(_CLIENT_REJECTED, cause="client-rejected")
    return GrantRefused("The sign-in was used already or took too long. Connect again.", cause="code-rejected")


def _refresh_fault(answer: EgressResponse, kept: Tokens, *, now: Millis) -> ProviderFault:
    error = decoded(answer.body, _OAuthError)
    if error is None or _may_pass(answer, error):
        return _passing_fault(answer, now=now)
    if _names_client(error):
        return GrantLost(_CLIENT_REJECTED, trouble="other")
    if error.error_subtype == "invalid_rapt":
        return GrantLost(
            "Your organisation asks for a new sign-in from time to time. Connect the account again.", trouble="other"
        )
    wrong = clock_problem(answer.headers, now=now)
    if wrong is not None:
        return GrantLost(wrong, trouble="clock")
    if error.error != "invalid_grant":
        return GrantLost("Google refused to renew this account's access. Connect the account again.", trouble="other")
    if _ended_with_testing(kept, now=now):
        return GrantLost(
            "Access ended seven days after it was granted, as Google does it for OAuth apps in testing. Publish the "
            "app in the Google Cloud console to avoid that, and connect the account again.",
            trouble="testing-expired",
        )
    testing = ""
    if kept.granted_at is None:  # then it may be that, too
        testing = ", or the OAuth app is in testing, where access ends after 7 days"
    return GrantLost(
        f"Google no longer accepts this account's access: it was revoked, or the password was changed{testing}. "
        "Connect the account again.",
        trouble="revoked",
    )


def _ended_with_testing(kept: Tokens, *, now: Millis) -> bool:
    """The grant is a week old, and has not been good for anything since it was."""
    if kept.granted_at is None:
        return False
    ended_at = kept.granted_at + TESTING_LIFETIME_MS
    lifetime_ms = DEFAULT_LIFETIME_S * SECOND_MS
    return now >= ended_at - TESTING_SLACK_MS and kept.expires_at <= ended_at + lifetime_ms + TESTING_SLACK_MS


_CLIENT_REJECTED: Final = (
    "The OAuth client id or secret is wrong, or the client was deleted. Correct the client, then connect again."
)


def _names_client(error: _OAuthError | None) -> bool:
    return error is not None and error.error in {"invalid_client", "unauthorized_client", "deleted_client"}


def _may_pass(answer: EgressResponse, error: _OAuthError | None) -> bool:
    """Not a word about this grant: the service is busy, broken, or somebody between us answered in its place."""
    return answer.status in {408, 429} or not 400 <= answer.status < 500 or error is None


def _passing_fault(answer: EgressResponse, *, now: Millis) -> ProviderFault:
    if answer.status == 429:
        return Throttled("The sign-in service asks to wait.", retry_after_s=retry_after_s(answer.headers, now=now))
    return Unreachable(f"The sign-in service does not work at the moment (status {answer.status}).")
