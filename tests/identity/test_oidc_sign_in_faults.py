"""What goes wrong while somebody signs in through an identity provider, and the words for it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import trio

from svc.clock import VirtualClock
from svc.identity.idp_routes import PROVIDER_AWAY, REFUSALS, REFUSED
from svc.identity.oidc_refusal import RefusalCause
from svc.store import Tx
from svc.surface.assets import static_directory
from svc.workspace import Workspace
from tests.identity.oidc_door import MIA, Browser, open_door, people, place, reason
from tests.identity.scripted_provider import ABSENT, CLIENT_ID, CLIENT_SECRET, ISSUER, ScriptedProvider, key, signed
from tests.mail.scripted_http import Answer, answer, no_answer
from tests.recorded_log import RecordedLog
from tests.support.service import Service


@pytest.mark.parametrize("claims", [{"nonce": "x"}, {"iss": "https://evil.example.org"}, {"aud": "x"}, {"sub": ABSENT}])
async def test_a_token_that_is_not_for_this_sign_in_opens_nothing(
    door: Service, idp: ScriptedProvider, log: RecordedLog, claims: dict[str, object]
) -> None:
    assert reason(await Browser(door, idp).sign_in(**claims)) in {"nonce", "issuer", "audience", "no-subject"}
    assert await people(door) == []
    assert "identity.sign_in_refused" in log.events("warning")


@pytest.mark.thorough
async def test_a_token_endpoint_that_gives_no_token_is_told_in_words(door: Service, idp: ScriptedProvider) -> None:
    cases: list[tuple[Answer, str]] = [
        (answer({"error": "invalid_client"}, status=401), "client-rejected"),
        (answer({"error": "unauthorized_client"}, status=400), "client-type"),
        (answer({"error": "deleted_client"}, status=401), "client-gone"),
        (answer({"error": "redirect_uri_mismatch"}, status=400), "redirect-unknown"),
        (answer({"error": "invalid_grant"}, status=400), "code-rejected"),
        (answer({"error": "slow_down"}, status=429), "provider-away"),
        (answer({"error": "invalid_grant"}, status=500), "provider-away"),
        (answer(b"<html>", status=400), "provider-away"),
        (answer(b"", status=302, location="https://evil.example.org"), "provider-away"),
        (answer(b"<html>Hotel WiFi</html>"), "provider-away"),
        (answer({"id_token": 7}), "provider-away"),
        (answer({"access_token": "S3CRET-access"}), "no-identity"),
        (no_answer(may_have_happened=True), "provider-away"),
    ]
    for token_answer, said in cases:
        idp.token_answer = token_answer
        assert reason(await Browser(door, idp).sign_in(**MIA)) == said, token_answer
        idp.token_answer = None
        assert place(await Browser(door, idp).sign_in(**MIA)) == "/", token_answer


async def test_a_provider_that_is_away_at_the_start_is_told_in_words(door: Service, idp: ScriptedProvider) -> None:
    idp.away = True
    reply = await Browser(door, idp).get("/auth/idp/start?invite=abc&next=/p/mail")
    assert reason(reply) == "provider-away"
    assert parse_qs(urlsplit(place(reply)).query)["invite"] == ["abc"]
    idp.away = False
    await Browser(door, idp).start()


@pytest.mark.parametrize(
    ("error", "said"), [("access_denied", "no-consent"), ("server_error", "ended"), ("<b>", "ended")]
)
async def test_a_person_who_turns_back_at_the_provider_is_told_what_happened(
    door: Service, idp: ScriptedProvider, error: str, said: str
) -> None:
    mia = Browser(door, idp)
    state = parse_qs(urlsplit(await mia.start()).query)["state"][0]
    reply = await mia.get(f"/auth/idp/callback?error={quote(error)}&state={state}")
    assert reason(reply) == said
    assert "<" not in place(reply)


@pytest.mark.parametrize(
    ("promised", "named", "goes_in"),
    [
        (False, {}, True),
        (False, {"iss": ISSUER}, True),
        (True, {"iss": ISSUER}, True),
        (True, {}, False),
        (True, {"iss": "https://evil.example.org"}, False),
        (False, {"iss": "https://evil.example.org"}, False),
    ],
)
async def test_an_answer_of_another_issuer_is_not_taken_for_the_one_that_was_asked(
    door: Service, idp: ScriptedProvider, promised: bool, named: dict[str, str], goes_in: bool
) -> None:
    idp.document = {"authorization_response_iss_parameter_supported": promised}
    mia = Browser(door, idp)
    reply = await mia.get(idp.consent(await mia.start(), **named))
    if goes_in:
        assert place(reply) == "/"
    else:
        assert reason(reply) == "another-service"
        assert idp.asked_for("/token") == 0


@pytest.mark.parametrize(
    ("offered", "by_header"),
    [
        (["client_secret_post"], False),
        (["client_secret_basic", "client_secret_post"], False),
        (["client_secret_basic"], True),
        (["private_key_jwt", "client_secret_basic"], True),
    ],
)
async def test_the_client_proves_itself_as_the_provider_wants(
    door: Service, idp: ScriptedProvider, offered: list[str], by_header: bool
) -> None:
    idp.document = {"token_endpoint_auth_methods_supported": offered}
    assert place(await Browser(door, idp).sign_in(**MIA)) == "/"
    assert [sent is not None for sent in idp.authorizations] == [by_header]


async def test_a_proof_that_this_server_can_not_give_is_told_in_words(door: Service, idp: ScriptedProvider) -> None:
    idp.document = {"token_endpoint_auth_methods_supported": ["private_key_jwt"]}
    assert reason(await Browser(door, idp).sign_in(**MIA)) == "client-rejected"


async def test_a_client_rotated_in_the_secrets_store_counts_at_once(door: Service, idp: ScriptedProvider) -> None:
    workspace: Workspace = door.workspace

    def rotate(tx: Tx, secret: str) -> None:
        row = json.dumps({"id": CLIENT_ID, "secret": secret}).encode()
        door.secrets.write(tx, "idp.oauth", row)

    await workspace.store.write(rotate, "old")
    assert reason(await Browser(door, idp).sign_in(**MIA)) == "client-rejected"
    await workspace.store.write(rotate, CLIENT_SECRET)
    assert place(await Browser(door, idp).sign_in(**MIA)) == "/"


async def test_without_a_provider_the_way_is_not_configured(service: Service) -> None:
    reply = await service.get("/auth/idp/start")
    assert (reply.status, reply.json["code"]) == (501, "not_configured")
    reply = await service.get("/auth/idp/callback?code=x&state=y")  # which was never begun here
    assert (reply.status, reply.json["code"]) == (403, "forbidden")


async def test_knocking_too_often_is_refused(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, idp: ScriptedProvider
) -> None:
    async with open_door(tmp_path, wall, log, idp, SVC_AUTH_RATE_LIMIT="4") as door:
        mia = Browser(door, idp)
        for _ in range(2):
            await mia.sign_in(**MIA)
        for target in ("/auth/idp/start", "/auth/idp/callback"):
            reply = await mia.get(target)
            assert reply.status == 429
            assert reply.header("retry-after")


async def test_of_many_first_sign_ins_at_once_one_is_the_admin(door: Service, idp: ScriptedProvider) -> None:
    numbers = iter(range(100))
    idp.sign = lambda claims: signed(
        claims | {"sub": f"s{(number := next(numbers))}", "email": f"p{number}@example.org"}, key("one")
    )
    browsers = [Browser(door, idp) for _ in range(20)]
    ended: list[str] = []

    async def claim(browser: Browser) -> None:
        ended.append(place(await browser.get(idp.consent(await browser.start()))))

    async with trio.open_nursery() as nursery:
        for browser in browsers:
            nursery.start_soon(claim, browser)
    assert sorted(one == "/" for one in ended) == [False] * 19 + [True]
    assert [role for _, role in await people(door)] == ["admin"]


# The words


def test_the_login_page_has_words_for_every_code_that_the_server_sends_it() -> None:
    page = (static_directory() / "identity" / "reasons.js").read_text()
    named = set(re.findall(r'^  "?([a-z-]+)"?:', page, flags=re.MULTILINE))
    assert named == {*get_args(RefusalCause), PROVIDER_AWAY, *REFUSALS.values()}
    assert REFUSED not in named  # it gets the general words
