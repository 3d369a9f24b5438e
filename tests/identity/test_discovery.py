from __future__ import annotations

import pytest
import trio

from svc.clock import DAY_MS, VirtualClock
from svc.identity import Discovery, OpenIdProvider, ProviderAway
from svc.protocol.egress import EgressResponse
from tests.mail.scripted_http import Answer, ScriptedHttp, answer, no_answer

ISSUER = "https://idp.example.org"
PROVIDER = OpenIdProvider(
    issuer=ISSUER,
    authorization=f"{ISSUER}/auth",
    token=f"{ISSUER}/token",
    keys=f"{ISSUER}/keys",
    userinfo=f"{ISSUER}/me",
    signing_algorithms=("RS256",),
    client_authentications=("client_secret_basic",),
    names_issuer_in_callback=True,
)


def document(**changes: object) -> EgressResponse:
    full = {
        "issuer": ISSUER,
        "authorization_endpoint": f"{ISSUER}/auth",
        "token_endpoint": f"{ISSUER}/token",
        "jwks_uri": f"{ISSUER}/keys",
        "userinfo_endpoint": f"{ISSUER}/me",
        "id_token_signing_alg_values_supported": ["RS256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        "authorization_response_iss_parameter_supported": True,
    }
    return answer(full | changes)


def discovery(http: ScriptedHttp, wall: VirtualClock, *, issuer: str = ISSUER) -> Discovery:
    return Discovery(http=http, clock=wall, issuer=issuer)


async def test_a_provider_is_asked_once_a_day_however_many_want_to_know(wall: VirtualClock) -> None:
    http = ScriptedHttp(otherwise=document(), takes_s=1)
    shared = discovery(http, wall)
    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(shared.provider)
    assert await shared.provider() == PROVIDER
    assert [asked.url for asked in http.asked] == [f"{ISSUER}/.well-known/openid-configuration"]

    wall.offset_ms += DAY_MS + 1
    await shared.provider()
    assert len(http.asked) == 2


async def test_what_is_known_stays_good_while_the_provider_can_not_be_asked(wall: VirtualClock) -> None:
    http = ScriptedHttp(answers=[document()], otherwise=no_answer(may_have_happened=False))
    shared = discovery(http, wall)
    await shared.provider()
    wall.offset_ms += 2 * DAY_MS
    assert await shared.provider() == PROVIDER
    assert len(http.asked) == 2


async def test_a_clock_that_jumps_back_does_not_freeze_what_is_known(wall: VirtualClock) -> None:
    http = ScriptedHttp(otherwise=document())
    shared = discovery(http, wall)
    await shared.provider()
    wall.offset_ms -= 3650 * DAY_MS
    await shared.provider()
    assert len(http.asked) == 2


@pytest.mark.parametrize(
    "claimed",
    [
        document(issuer="https://evil.example.org"),
        document(issuer=f"{ISSUER}.evil.example.org"),
        document(token_endpoint="http://evil.example.org/token"),
        document(token_endpoint="http://127.0.0.1:4000/token"),
        document(authorization_endpoint="javascript:alert(1)"),
        document(authorization_endpoint="https://user@idp.example.org/auth"),
        document(token_endpoint=7),
        answer({"issuer": ISSUER}),
        answer(b"<html>Welcome to Hotel WiFi</html>"),
        answer(b'{"issuer": "https://idp'),
        answer(b"\xff\xfe"),
        answer(b"[" * 10_000),
        answer(b"", status=302, location="https://portal.example.org"),
        answer({}, status=500),
        no_answer(may_have_happened=True),
    ],
)
async def test_a_document_that_is_not_the_issuers_own_is_not_believed(claimed: Answer, wall: VirtualClock) -> None:
    with pytest.raises(ProviderAway):
        await discovery(ScriptedHttp(answers=[claimed]), wall).provider()


@pytest.mark.parametrize(
    "url", ["http://evil.example.org/keys", "http://127.0.0.1:4000/keys", "file:///etc/passwd", ""]
)
async def test_keys_without_tls_are_no_keys(url: str, wall: VirtualClock) -> None:
    found = await discovery(ScriptedHttp(answers=[document(jwks_uri=url)]), wall).provider()
    assert found.keys is None


async def test_a_provider_on_this_machine_needs_no_tls(wall: VirtualClock) -> None:
    here = "http://127.0.0.1:4000"
    mine = document(issuer=here, authorization_endpoint=f"{here}/auth", token_endpoint=f"{here}/token")
    found = await discovery(ScriptedHttp(answers=[mine]), wall, issuer=here).provider()
    assert (found.issuer, found.token) == (here, f"{here}/token")


async def test_an_issuer_that_ends_in_a_slash_is_found_and_kept_exactly(wall: VirtualClock) -> None:
    found = await discovery(ScriptedHttp(answers=[document(issuer=f"{ISSUER}/")]), wall).provider()
    assert found.issuer == f"{ISSUER}/"


async def test_a_document_with_the_bare_minimum_is_enough(wall: VirtualClock) -> None:
    least = {"issuer": ISSUER, "authorization_endpoint": f"{ISSUER}/auth", "token_endpoint": f"{ISSUER}/token"}
    found = await discovery(ScriptedHttp(answers=[answer(least)]), wall).provider()
    assert found == OpenIdProvider(issuer=ISSUER, authorization=f"{ISSUER}/auth", token=f"{ISSUER}/token")
