from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from svc.clock import DAY_MS, SECOND_MS, VirtualClock
from svc.connections import (
    ConnectionFault,
    Endpoints,
    Grant,
    GrantEnded,
    GrantRefused,
    OAuthEndpoints,
    ServiceAway,
    ServiceBusy,
    Tokens,
    TokenSource,
    authorization_url,
    exchange_code,
)
from svc.identity import ClientCredentials, Discovery
from svc.mail.providers.gmail.grant import GMAIL_TERMS, MAIL_SCOPE
from svc.protocol.egress import EgressResponse
from tests.mail.scripted_http import Answer, ScriptedHttp, answer, id_token, no_answer

ISSUER = "https://idp.example.org"
CLIENT = ClientCredentials(client_id="cid.apps", client_secret="S3CRET-client")
ENDPOINTS = Endpoints(authorization=f"{ISSUER}/auth", token=f"{ISSUER}/token", issuer=ISSUER)
SECRETS = ("S3CRET-client", "S3CRET-access", "S3CRET-refresh", "S3CRET-code", "S3CRET-verifier", "S3CRET-rotated")


def token_answer(**changes: object) -> EgressResponse:
    body = {
        "access_token": "S3CRET-access-2",
        "refresh_token": "S3CRET-refresh",
        "token_type": "Bearer",
        "expires_in": 3600,
        "scope": " ".join(GMAIL_TERMS.scopes),
    }
    return answer({name: value for name, value in (body | changes).items() if value is not None})


def oauth_error(code: str, *, status: int = 400, **more: str) -> EgressResponse:
    return answer({"error": code, "error_description": "S3CRET-access in a description", **more}, status=status)


def assert_tells_no_secret(error: BaseException) -> None:
    told = "".join(traceback.format_exception(error)) + repr(error)
    assert not [secret for secret in SECRETS if secret in told]


# The consent screen


def test_the_consent_screen_is_asked_for_everything_a_lasting_grant_needs() -> None:
    url = authorization_url(
        ENDPOINTS,
        GMAIL_TERMS,
        client_id="cid.apps",
        redirect_uri="http://127.0.0.1:4780/oauth/mail/callback",
        state="st&te",
        code_challenge="chal",
        login_hint="ä+b@acme.test",
    )
    parts = urlsplit(url)
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == ENDPOINTS.authorization
    assert parse_qs(parts.query) == {
        "response_type": ["code"],
        "client_id": ["cid.apps"],
        "redirect_uri": ["http://127.0.0.1:4780/oauth/mail/callback"],
        "scope": [f"openid email {MAIL_SCOPE}"],
        "state": ["st&te"],
        "code_challenge": ["chal"],
        "code_challenge_method": ["S256"],
        "access_type": ["offline"],
        "prompt": ["consent"],
        "include_granted_scopes": ["false"],
        "login_hint": ["ä+b@acme.test"],
    }


def test_without_a_hint_none_is_sent() -> None:
    url = authorization_url(ENDPOINTS, GMAIL_TERMS, client_id="c", redirect_uri="r", state="s", code_challenge="x")
    assert "login_hint" not in url


# Discovery


def discovery_document(**changes: object) -> EgressResponse:
    document = {"issuer": ISSUER, "authorization_endpoint": f"{ISSUER}/auth", "token_endpoint": f"{ISSUER}/token"}
    return answer(document | changes)


def endpoints_of(http: ScriptedHttp, wall: VirtualClock, **settings: str) -> OAuthEndpoints:
    return OAuthEndpoints(discovery=Discovery(http=http, clock=wall, issuer=ISSUER), **settings)


async def test_the_endpoints_are_the_providers_own(wall: VirtualClock) -> None:
    assert await endpoints_of(ScriptedHttp(answers=[discovery_document()]), wall).endpoints() == ENDPOINTS


async def test_two_settings_make_discovery_superfluous(wall: VirtualClock) -> None:
    by_hand = endpoints_of(ScriptedHttp(), wall, authorization_url="https://a.test/a", token_url="https://t.test")
    found = await by_hand.endpoints()
    assert found == Endpoints(authorization="https://a.test/a", token="https://t.test", issuer=None)


async def test_one_setting_replaces_one_endpoint(wall: VirtualClock) -> None:
    http = ScriptedHttp(answers=[discovery_document()])
    found = await endpoints_of(http, wall, token_url="https://t.test/token").endpoints()
    assert (found.authorization, found.token) == (f"{ISSUER}/auth", "https://t.test/token")


async def test_a_provider_that_can_not_be_asked_is_unreachable_to_mail(wall: VirtualClock) -> None:
    away = endpoints_of(ScriptedHttp(answers=[no_answer(may_have_happened=False)]), wall)
    with pytest.raises(ServiceAway, match="sign-in service"):
        await away.endpoints()


# The code


async def redeem(http: ScriptedHttp, wall: VirtualClock, *, endpoints: Endpoints = ENDPOINTS) -> Grant:
    return await exchange_code(
        http,
        endpoints,
        GMAIL_TERMS,
        credentials=CLIENT,
        code="S3CRET-code",
        code_verifier="S3CRET-verifier",
        redirect_uri="http://127.0.0.1:4780/oauth/mail/callback",
        clock=wall,
    )


def claims(wall: VirtualClock, **changes: object) -> str:
    full = {
        "iss": ISSUER,
        "aud": "cid.apps",
        "sub": "1234",
        "exp": wall.now() // 1000 + 3600,
        "email": "alice@acme.test",
        "email_verified": True,
    }
    return id_token(**(full | changes))


async def test_a_code_becomes_tokens_and_a_name(wall: VirtualClock) -> None:
    http = ScriptedHttp(answers=[token_answer(id_token=claims(wall))])
    grant = await redeem(http, wall)

    assert grant.tokens == Tokens(
        access_token="S3CRET-access-2",
        refresh_token="S3CRET-refresh",
        expires_at=wall.now() + 3600 * SECOND_MS,
        scopes=frozenset(GMAIL_TERMS.scopes),
        granted_at=wall.now(),
    )
    assert grant.identity is not None
    assert (grant.identity.subject, grant.identity.email, grant.identity.email_verified) == (
        "1234",
        "alice@acme.test",
        True,
    )
    (asked,) = http.asked
    assert (asked.method, asked.url) == ("POST", ENDPOINTS.token)
    assert asked.form == {
        "grant_type": "authorization_code",
        "code": "S3CRET-code",
        "code_verifier": "S3CRET-verifier",
        "redirect_uri": "http://127.0.0.1:4780/oauth/mail/callback",
        "client_id": "cid.apps",
        "client_secret": "S3CRET-client",
    }
    assert "authorization" not in asked.headers
    assert not [secret for secret in SECRETS if secret in repr((grant, CLIENT))]


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"refresh_token": None}, "no-refresh-token"),
        ({"refresh_token": ""}, "no-refresh-token"),
        ({"scope": "openid email"}, "scope-unticked"),
        ({"scope": "openid email https://www.googleapis.com/auth/gmail.readonly"}, "scope-unticked"),
        ({"scope": ""}, "scope-unticked"),
    ],
)
async def test_a_grant_that_would_not_do_is_refused_by_name(
    changes: dict[str, object], cause: str, wall: VirtualClock
) -> None:
    with pytest.raises(GrantRefused) as caught:
        await redeem(ScriptedHttp(answers=[token_answer(**changes)]), wall)
    assert caught.value.cause == cause
    assert_tells_no_secret(caught.value)


async def test_scopes_left_unsaid_are_the_ones_asked_for(wall: VirtualClock) -> None:
    grant = await redeem(ScriptedHttp(answers=[token_answer(scope=None)]), wall)
    assert grant.tokens.scopes == frozenset(GMAIL_TERMS.scopes)


async def test_the_wider_mail_scope_is_enough(wall: VirtualClock) -> None:
    grant = await redeem(ScriptedHttp(answers=[token_answer(scope="https://mail.google.com/ openid")]), wall)
    assert "https://mail.google.com/" in grant.tokens.scopes


async def test_no_id_token_means_no_identity(wall: VirtualClock) -> None:
    assert (await redeem(ScriptedHttp(answers=[token_answer()]), wall)).identity is None


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "somebody.else"},
        {"aud": ["a", "b"]},
        {"iss": "https://evil.example.org"},
        {"exp": 1_000_000_000},
        {"sub": 7},
        {"sub": None},
    ],
)
async def test_an_id_token_for_somebody_else_is_refused(changes: dict[str, object], wall: VirtualClock) -> None:
    with pytest.raises(GrantRefused) as caught:
        await redeem(ScriptedHttp(answers=[token_answer(id_token=claims(wall, **changes))]), wall)
    assert caught.value.cause == "wrong-identity"


@pytest.mark.parametrize("garbage", ["", "a.b", "a.b.c", "a.b.c.d", "a.!!!.c", "a.eyJ9.c", "é.é.é", "a.AAAA.c"])
async def test_an_id_token_that_is_none_is_refused(garbage: str, wall: VirtualClock) -> None:
    with pytest.raises(GrantRefused):
        await redeem(ScriptedHttp(answers=[token_answer(id_token=garbage)]), wall)


@pytest.mark.parametrize(("said", "verified"), [(True, True), (False, False), ("true", False), ("", False)])
async def test_an_address_counts_as_verified_only_by_a_true_true(
    said: object, verified: bool, wall: VirtualClock
) -> None:
    token = claims(wall, email_verified=said)
    grant = await redeem(ScriptedHttp(answers=[token_answer(id_token=token)]), wall)
    assert grant.identity is not None
    assert grant.identity.email_verified is verified


async def test_endpoints_given_by_hand_leave_the_issuer_open_and_google_may_leave_out_its_scheme(
    wall: VirtualClock,
) -> None:
    by_hand = Endpoints(authorization="https://a.test", token="https://t.test", issuer=None)
    token = claims(wall, iss="idp.example.org", aud=["cid.apps", "other"])
    for endpoints in (by_hand, ENDPOINTS):
        grant = await redeem(ScriptedHttp(answers=[token_answer(id_token=token)]), wall, endpoints=endpoints)
        assert grant.identity is not None


@pytest.mark.parametrize(
    ("said", "fault", "cause"),
    [
        (oauth_error("invalid_grant"), GrantRefused, "code-rejected"),
        (oauth_error("invalid_client", status=401), GrantRefused, "client-rejected"),
        (oauth_error("redirect_uri_mismatch"), GrantRefused, "code-rejected"),
        (answer(b"<html>", status=403), ServiceAway, None),
        (answer(b"oops", status=500), ServiceAway, None),
        (oauth_error("internal_failure", status=503), ServiceAway, None),
        (answer(b"", status=429, retry_after="7"), ServiceBusy, None),
        (answer(b"<html>Welcome</html>"), ServiceAway, None),
        (token_answer(token_type="MAC"), ServiceAway, None),
        (token_answer(access_token=""), ServiceAway, None),
        (token_answer(expires_in="soon"), ServiceAway, None),
        (no_answer(may_have_happened=True), ServiceAway, None),
        (no_answer(may_have_happened=False), ServiceAway, None),
    ],
)
async def test_a_code_that_is_not_redeemed_says_why_and_tells_no_secret(
    said: Answer, fault: type[Exception], cause: str | None, wall: VirtualClock
) -> None:
    with pytest.raises(fault) as caught:
        await redeem(ScriptedHttp(answers=[said]), wall)
    assert getattr(caught.value, "cause", None) == cause
    assert_tells_no_secret(caught.value)


# Fresh tokens


@dataclass
class KeptTokens:
    """A token store in memory."""

    tokens: Tokens | None
    saved: list[Tokens] = field(default_factory=list)
    broken: bool = False

    async def load(self) -> Tokens | None:
        await trio.lowlevel.checkpoint()
        return self.tokens

    async def save(self, tokens: Tokens) -> None:
        await trio.lowlevel.checkpoint()
        if self.broken:
            raise OSError("disk full")
        self.saved.append(tokens)
        self.tokens = tokens


def kept(wall: VirtualClock, *, expires_in_s: int) -> KeptTokens:
    expires_at = wall.now() + expires_in_s * SECOND_MS
    return KeptTokens(
        Tokens(access_token="S3CRET-access", refresh_token="S3CRET-refresh", expires_at=expires_at, scopes=frozenset())
    )


def source(http: ScriptedHttp, store: KeptTokens, wall: VirtualClock) -> TokenSource:
    async def client() -> ClientCredentials:
        return CLIENT

    async def endpoints() -> Endpoints:
        return ENDPOINTS

    return TokenSource(store=store, terms=GMAIL_TERMS, client=client, endpoints=endpoints, http=http, clock=wall)


async def test_a_token_that_lasts_is_used_without_asking_anybody(wall: VirtualClock) -> None:
    tokens = source(ScriptedHttp(), kept(wall, expires_in_s=61), wall)
    assert await tokens.access_token() == "S3CRET-access"
    assert await tokens.access_token() == "S3CRET-access"


async def test_a_token_is_renewed_a_minute_before_it_expires(wall: VirtualClock) -> None:
    http = ScriptedHttp(otherwise=token_answer(refresh_token=None))
    store = kept(wall, expires_in_s=3600)
    tokens = source(http, store, wall)
    await tokens.access_token()
    await trio.sleep(3600 - 61)
    assert await tokens.access_token() == "S3CRET-access"
    await trio.sleep(1)

    assert await tokens.access_token() == "S3CRET-access-2"
    (asked,) = http.asked
    assert asked.form == {
        "grant_type": "refresh_token",
        "refresh_token": "S3CRET-refresh",
        "client_id": "cid.apps",
        "client_secret": "S3CRET-client",
    }
    assert store.saved[0].refresh_token == "S3CRET-refresh"
    assert store.saved[0].expires_at == wall.now() + 3600 * SECOND_MS


async def test_fifty_callers_with_a_stale_token_cause_one_renewal(wall: VirtualClock) -> None:
    http = ScriptedHttp(otherwise=token_answer(), takes_s=1)
    store = kept(wall, expires_in_s=3600)
    tokens = source(http, store, wall)
    stale = await tokens.access_token()
    fresh: list[str] = []

    async def caller() -> None:
        fresh.append(await tokens.refreshed(stale))

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(caller)
    assert fresh == ["S3CRET-access-2"] * 50
    assert await tokens.refreshed(stale) == "S3CRET-access-2"  # late, with a token that was renewed meanwhile
    assert len(http.asked) == 1
    assert len(store.saved) == 1


async def test_fifty_callers_share_one_refusal(wall: VirtualClock) -> None:
    http = ScriptedHttp(otherwise=oauth_error("invalid_grant"), takes_s=1)
    tokens = source(http, kept(wall, expires_in_s=0), wall)
    refused: list[str] = []

    async def caller() -> None:
        with pytest.raises(GrantEnded) as caught:
            await tokens.access_token()
        refused.append(caught.value.detail)

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(caller)
    assert len(http.asked) == 1
    assert len(refused) == 50
    assert "7 days" in refused[0]


async def test_who_waits_for_a_renewal_that_was_cancelled_does_it_himself(wall: VirtualClock) -> None:
    http = ScriptedHttp(otherwise=token_answer(), takes_s=5)
    tokens = source(http, kept(wall, expires_in_s=0), wall)
    fresh: list[str] = []

    async def impatient() -> None:
        with trio.move_on_after(1):
            await tokens.access_token()

    async def patient() -> None:
        fresh.append(await tokens.access_token())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(impatient)
        await wait_all_tasks_blocked()
        nursery.start_soon(patient)
    assert fresh == ["S3CRET-access-2"]
    assert len(http.asked) == 2


async def test_a_rotated_refresh_token_is_kept_even_if_the_caller_has_left(wall: VirtualClock) -> None:
    store = kept(wall, expires_in_s=0)
    with trio.CancelScope() as scope:

        async def leave() -> None:
            scope.cancel()

        http = ScriptedHttp(answers=[token_answer(refresh_token="S3CRET-rotated")], before=leave)
        await source(http, store, wall).access_token()
    assert store.tokens is not None
    assert store.tokens.refresh_token == "S3CRET-rotated"


async def test_a_store_that_fails_does_not_lose_the_token_in_hand(wall: VirtualClock) -> None:
    store = kept(wall, expires_in_s=0)
    store.broken = True
    tokens = source(ScriptedHttp(answers=[token_answer(refresh_token="S3CRET-rotated")]), store, wall)
    with pytest.raises(OSError, match="disk full"):
        await tokens.access_token()
    assert await tokens.access_token() == "S3CRET-access-2"


async def test_a_second_consent_is_noticed_without_a_restart(wall: VirtualClock) -> None:
    store = kept(wall, expires_in_s=3600)
    tokens = source(ScriptedHttp(), store, wall)
    stale = await tokens.access_token()
    store.tokens = Tokens(
        access_token="consented again", refresh_token="r", expires_at=wall.now() + DAY_MS, scopes=frozenset()
    )
    assert await tokens.refreshed(stale) == "consented again"


async def test_a_token_that_hardly_lasts_is_still_handed_out(wall: VirtualClock) -> None:
    http = ScriptedHttp(otherwise=token_answer(expires_in=5), takes_s=1)
    tokens = source(http, kept(wall, expires_in_s=0), wall)
    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(tokens.access_token)
    assert len(http.asked) == 1


async def test_an_account_without_tokens_has_lost_its_grant(wall: VirtualClock) -> None:
    with pytest.raises(GrantEnded):
        await source(ScriptedHttp(), KeptTokens(None), wall).access_token()


@pytest.mark.parametrize(
    ("said", "fault", "word"),
    [
        (oauth_error("invalid_grant"), GrantEnded, "revoked"),
        (oauth_error("invalid_grant", error_subtype="invalid_rapt"), GrantEnded, "organisation"),
        (oauth_error("invalid_client", status=401), GrantEnded, "client id or secret is wrong"),
        (oauth_error("deleted_client", status=401), GrantEnded, "client"),
        (oauth_error("invalid_scope"), GrantEnded, "refused"),
        (oauth_error("internal_failure", status=500), ServiceAway, "500"),
        (oauth_error("slow_down", status=429), ServiceBusy, "wait"),
        (answer(b"<html>proxy</html>", status=403), ServiceAway, "403"),
        (answer(b"<html>portal</html>"), ServiceAway, "understood"),
        (answer(b'{"access_token": "S3CRET-acc'), ServiceAway, "understood"),
        (answer(b"", status=302), ServiceAway, "302"),
        (no_answer(may_have_happened=False), ServiceAway, "reached"),
        (no_answer(may_have_happened=True), ServiceAway, "reached"),
    ],
)
async def test_a_renewal_that_fails_says_what_to_do_and_tells_no_secret(
    said: Answer, fault: type[ConnectionFault], word: str, wall: VirtualClock
) -> None:
    store = kept(wall, expires_in_s=0)
    tokens = source(ScriptedHttp(answers=[said]), store, wall)
    with pytest.raises(fault) as caught:
        await tokens.access_token()
    assert word in caught.value.detail
    assert_tells_no_secret(caught.value)
    assert store.saved == []
    assert not [secret for secret in SECRETS if secret in repr(tokens)]


async def test_a_passing_trouble_passes(wall: VirtualClock) -> None:
    http = ScriptedHttp(answers=[answer(b"", status=503), no_answer(may_have_happened=True), token_answer()])
    tokens = source(http, kept(wall, expires_in_s=0), wall)
    for _ in range(2):
        with pytest.raises(ServiceAway):
            await tokens.access_token()
    assert await tokens.access_token() == "S3CRET-access-2"
