"""Connections to Microsoft: which directory is asked, who confirms the identity, and where browsers return to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from svc.clock import VirtualClock
from svc.connections import Grant, GrantRefused, origin_for_microsoft
from svc.connections.microsoft import endpoints_of
from svc.connections.microsoft_codes import ENDED, REFUSALS
from svc.connections.oauth import exchange_code
from svc.identity import ClientCredentials
from svc.mail.providers.outlook.grant import SEND_SCOPE, TERMS
from tests.mail.scripted_http import ScriptedHttp, answer, id_token
from tests.peers.microsoft import CLIENT_ID, DIRECTORY, LOGIN, SCOPES

CLIENT = ClientCredentials(client_id=CLIENT_ID, client_secret="S3CRET")
Redeem = Callable[..., Awaitable[Grant]]


@pytest.fixture
def redeem(wall: VirtualClock) -> Redeem:
    async def redeem(*, scope: str = SCOPES, **changes: object) -> Grant:
        now_s = wall.now() // 1_000
        claims = {"iss": f"{LOGIN}/{DIRECTORY}/v2.0", "tid": DIRECTORY, "aud": CLIENT_ID, "sub": "s", "exp": now_s + 60}
        told = {
            "access_token": "a",
            "refresh_token": "r",
            "token_type": "Bearer",
            "scope": scope,
            "id_token": id_token(**(claims | changes)),
        }
        return await exchange_code(
            ScriptedHttp(answers=[answer(told)]),
            endpoints_of(LOGIN, CLIENT),
            TERMS,
            credentials=CLIENT,
            code="c",
            code_verifier="v",
            redirect_uri="r",
            clock=wall,
        )

    return redeem


def test_the_endpoints_are_of_the_clients_directory_or_of_all() -> None:
    assert endpoints_of(LOGIN, CLIENT).token == f"{LOGIN}/common/oauth2/v2.0/token"
    own = ClientCredentials(client_id="x", client_secret="", directory=DIRECTORY)
    assert endpoints_of(LOGIN, own).authorization == f"{LOGIN}/{DIRECTORY}/oauth2/v2.0/authorize"


async def test_who_signed_in_is_told_by_their_address_or_else_by_their_name(redeem: Redeem) -> None:
    for claims, address in (
        ({"email": "Mia@Acme.example", "preferred_username": "m.tern@acme.example"}, "mia@acme.example"),
        ({"preferred_username": "m.tern@acme.example"}, "m.tern@acme.example"),
        ({"preferred_username": "+1 555 0100"}, None),
        ({}, None),
    ):
        grant = await redeem(**claims)
        assert grant.identity is not None
        assert grant.identity.address == address


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": f"{LOGIN}/another/v2.0"},
        {"iss": f"https://login.evil.example/{DIRECTORY}/v2.0"},
        {"tid": "another"},
        {"iss": f"{LOGIN}/{{tenantid}}/v2.0"},
        {"aud": "another-app"},
        {"exp": 1},
    ],
)
async def test_the_word_of_another_issuer_or_for_another_app_does_not_count(
    redeem: Redeem, changes: dict[str, object]
) -> None:
    with pytest.raises(GrantRefused) as caught:
        await redeem(**changes)
    assert caught.value.cause == "wrong-identity"


async def test_a_grant_that_may_not_read_is_none(redeem: Redeem) -> None:
    with pytest.raises(GrantRefused, match=r"IMAP\.AccessAsUser\.All"):
        await redeem(scope=SEND_SCOPE)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("http://127.0.0.1:4780", "http://localhost:4780"),
        ("http://[::1]:4780", "http://localhost:4780"),
        ("http://127.0.0.1", "http://localhost"),
        ("http://[::1]", "http://localhost"),
        ("https://mail.example.org", "https://mail.example.org"),
        ("https://127.0.0.1:8443", "https://127.0.0.1:8443"),
    ],
)
def test_without_tls_this_machine_is_named_as_microsoft_takes_it(ours: str, theirs: str) -> None:
    assert origin_for_microsoft(ours) == theirs


def test_every_refusal_says_what_to_do_and_no_sentence_trails_off() -> None:
    for code, refusal in REFUSALS.items():
        assert code.isdecimal()
        assert refusal.remedy or refusal.cause == "code-rejected"
        assert not refusal.remedy.endswith(".")
    assert all(sentence.endswith(".") for sentence in ENDED.values())


def test_a_code_is_found_among_the_words_and_nothing_else_is() -> None:
    assert TERMS.code_in("AADSTS50011: The redirect URI … Trace ID: 5001") == "50011"
    assert TERMS.refusal("AADSTS999999999: something new") is None
    assert TERMS.refusal("") is None
