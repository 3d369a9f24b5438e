"""Connecting a mail account over HTTP: the redirect to consent, the way back, and all that can go wrong on it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import get_args
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest
import trio
from trio.testing import MockClock

from svc.clock import VirtualClock
from svc.mail.connecting.connection import ConnectCause
from svc.surface.assets import static_directory
from tests.mail.scripted_google import CLIENT_ID, CLIENT_SECRET, CODE, CONSENT, MAIL_SCOPE, ScriptedGoogle
from tests.mail.scripted_http import answer
from tests.recorded_log import RecordedLog
from tests.support.http import Reply
from tests.support.service import HOST, MIA, ORIGIN, PORT, Service, open_service
from tests.virtual_time import hours_pass

START = "/oauth/mail/start"
CALLBACK = "/oauth/mail/callback"


@dataclass
class Trip:
    """A round trip that a browser has begun."""

    service: Service
    google: ScriptedGoogle
    reply: Reply
    host: str = HOST

    @property
    def location(self) -> str:
        return self.reply.header("location") or ""

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.location).query).items()}

    @property
    def cookie(self) -> str:
        return (self.reply.header("set-cookie") or "").partition(";")[0]

    async def consented(self, *, cookie: str | None = None, **query: str) -> Reply:
        """The provider sends the browser back, by default with the code."""
        self.google.challenge = self.query["code_challenge"]
        wanted = urlencode({"state": self.query["state"], **(query or {"code": CODE})})
        fields = {"cookie": self.cookie if cookie is None else cookie}
        return await self.service.ask("GET", f"{CALLBACK}?{wanted}", host=self.host, fields=fields)


@pytest.fixture
def google() -> ScriptedGoogle:
    return ScriptedGoogle()


@pytest.fixture
async def configured(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, google: ScriptedGoogle
) -> AsyncIterator[Service]:
    async with connected_to(google, tmp_path, wall, log) as opened:
        yield opened


def connected_to(
    google: ScriptedGoogle, home: Path, wall: VirtualClock, log: RecordedLog, **settings: str
) -> AbstractAsyncContextManager[Service]:
    client = {"IDP_CLIENT_ID": CLIENT_ID, "IDP_CLIENT_SECRET": CLIENT_SECRET}
    return open_service(home, clock=wall, log=log, egress=google, environ={**client, **settings})


async def begin(
    service: Service, google: ScriptedGoogle, *, email: str = "", cookie: str = "", host: str = HOST
) -> Trip:
    target = START + (f"?email={quote(email)}" if email else "")
    reply = await service.ask("GET", target, host=host, fields={"cookie": cookie} if cookie else {})
    assert reply.status == 302, reply
    return Trip(service, google, reply, host)


# The way there


async def test_nothing_can_be_connected_under_the_fakes(service: Service) -> None:
    reply = await service.get(START)
    assert (reply.status, reply.json["code"]) == (501, "not_configured")
    for path in (CALLBACK, f"{CALLBACK}?code=x&state=made-up"):  # the state comes first: nobody begins without a client
        reply = await service.get(path)
        assert (reply.status, reply.json["code"]) == (403, "forbidden")


async def test_nothing_can_be_connected_without_a_client(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with open_service(tmp_path, clock=wall, log=log) as service:
        reply = await service.get(START)
        assert (reply.status, reply.json["code"]) == (501, "not_configured")
        assert "IDP_CLIENT_ID" in str(reply.json["detail"])


async def test_the_redirect_asks_for_lasting_access_to_the_mailbox(configured: Service, google: ScriptedGoogle) -> None:
    trip = await begin(configured, google, email="Mia@Example.org")
    assert trip.location.startswith(CONSENT + "?")
    assert trip.query == {
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": f"{ORIGIN}{CALLBACK}",
        "scope": f"openid email {MAIL_SCOPE}",
        "state": trip.query["state"],
        "code_challenge": trip.query["code_challenge"],
        "code_challenge_method": "S256",
        "access_type": "offline",
        "prompt": "consent",
        "include_granted_scopes": "false",
        "login_hint": "Mia@Example.org",
    }
    assert trip.reply.header("cache-control") == "no-store"
    assert trip.reply.header("referrer-policy") == "no-referrer"


async def test_the_cookie_binds_the_browser_and_goes_nowhere_else(configured: Service, google: ScriptedGoogle) -> None:
    set_cookie = (await begin(configured, google)).reply.header("set-cookie") or ""
    value, *flags = set_cookie.split("; ")
    assert re.fullmatch(r"svc_oauth=[\w-]{43}", value)
    assert set(flags) == {"Path=/oauth/", "Max-Age=600", "HttpOnly", "SameSite=Lax"}


async def test_the_database_keeps_neither_state_nor_cookie(configured: Service, google: ScriptedGoogle) -> None:
    trip = await begin(configured, google, email=MIA)
    rows = await configured.rows("select * from oauth_states")
    assert len(rows) == 1
    for secret in (trip.query["state"], trip.cookie.partition("=")[2]):
        assert secret not in repr(rows)


@pytest.mark.parametrize("host", [f"localhost:{PORT}", "127.0.0.1", f"[::1]:{PORT}"])
async def test_a_start_on_another_spelling_of_this_host_goes_to_the_canonical_one_first(
    configured: Service, google: ScriptedGoogle, host: str
) -> None:
    trip = await begin(configured, google, email=MIA, host=host)
    assert trip.location == f"{ORIGIN}{START}?email={quote(MIA)}"
    assert trip.reply.header("set-cookie") is None
    assert await configured.rows("select * from oauth_states") == []


@pytest.mark.parametrize(
    "origin", ["https://mail.example.org", "https://mail.example.org:443", "HTTPS://Mail.Example.org/"]
)
async def test_behind_a_proxy_the_public_origin_is_the_canonical_one(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, google: ScriptedGoogle, origin: str
) -> None:
    async with connected_to(google, tmp_path, wall, log, SVC_PUBLIC_ORIGIN=origin, SVC_AUTH="off") as service:
        trip = await begin(service, google, host="mail.example.org")
        assert trip.query["redirect_uri"] == f"https://mail.example.org{CALLBACK}"
        assert "Secure" in (trip.reply.header("set-cookie") or "").split("; ")
        assert (await trip.consented()).header("location") == "/"


async def test_a_provider_that_cannot_be_asked_is_told_on_the_mail_page(
    configured: Service, google: ScriptedGoogle
) -> None:
    google.cut = True
    reply = await configured.get(START)
    assert reason_in(reply) == "provider-away"
    assert reply.header("set-cookie") is None
    google.cut = False
    assert (await (await begin(configured, google)).consented()).header("location") == "/"


# The way back


async def test_a_granted_account_is_kept_with_its_tokens_encrypted_and_syncs(
    configured: Service, google: ScriptedGoogle
) -> None:
    google.address = "Mia@Example.org"
    reply = await (await begin(configured, google)).consented()
    assert (reply.status, reply.header("location")) == (302, "/")
    assert reply.header("set-cookie") is None  # another tab may be on the same round trip
    await trio.sleep(20)
    (account,) = await configured.query("mail.accounts")
    assert (account["address"], account["provider"], account["state"]) == (MIA, "gmail", "caught-up")
    names = [name for (name,) in await configured.rows("select name from secrets order by name")]
    assert names == ["idp.oauth", f"idp.oauth.{MIA}"]
    assert "canary" not in repr(await configured.dump())
    assert await configured.rows("select * from oauth_states") == []
    assert configured.workspace.root.states()[f"mail:{account['id']}"].phase == "running"


async def test_the_code_is_redeemed_once_with_the_verifier_of_its_challenge(
    configured: Service, google: ScriptedGoogle
) -> None:
    trip = await begin(configured, google)
    await trip.consented()
    (form,) = google.forms("authorization_code")
    assert (form["code"], form["redirect_uri"]) == (CODE, f"{ORIGIN}{CALLBACK}")
    assert (form["client_id"], form["client_secret"]) == (CLIENT_ID, CLIENT_SECRET)
    assert 43 <= len(form["code_verifier"]) <= 128
    assert form["code_verifier"] not in trip.location


async def test_connecting_again_renews_the_account_and_makes_no_second(
    configured: Service, google: ScriptedGoogle
) -> None:
    for _ in range(2):
        assert (await (await begin(configured, google)).consented()).header("location") == "/"
        await trio.sleep(20)
    (account,) = await configured.query("mail.accounts")
    assert account["state"] == "caught-up"


async def refused(reply: Reply) -> bool:
    return (reply.status, reply.json["code"]) == (403, "forbidden")


async def test_a_callback_that_nobody_began_is_forbidden(configured: Service, google: ScriptedGoogle) -> None:
    trip = await begin(configured, google)
    for query in ("", "?code=x", "?state=", "?state=none&code=x", f"?state={quote(trip.query['state'])}x&code=x"):
        assert await refused(await configured.get(CALLBACK + query, cookie=trip.cookie)), query
    assert (await trip.consented()).header("location") == "/"


async def test_a_state_works_once(configured: Service, google: ScriptedGoogle) -> None:
    trip = await begin(configured, google)
    assert (await trip.consented()).status == 302
    assert await refused(await trip.consented())
    assert len(google.forms("authorization_code")) == 1


@pytest.mark.parametrize(("seconds", "good"), [(599, True), (600, False), (3_600, False)])
async def test_a_state_lives_ten_minutes(
    configured: Service, google: ScriptedGoogle, wall: VirtualClock, seconds: int, good: bool
) -> None:
    trip = await begin(configured, google)
    wall.offset_ms += seconds * 1_000
    reply = await trip.consented()
    assert reply.status == 302 if good else await refused(reply)


@pytest.mark.parametrize("cookie", ["", "svc_oauth=another-browsers", "svc_oauth=; svc_oauth="])
async def test_another_browser_cannot_end_the_trip_and_spoils_it(
    configured: Service, google: ScriptedGoogle, cookie: str
) -> None:
    trip = await begin(configured, google)
    assert await refused(await trip.consented(cookie=cookie or "other=1"))
    assert await refused(await trip.consented())
    assert google.forms("authorization_code") == []


async def test_a_trip_of_another_tab_shares_the_browsers_cookie(configured: Service, google: ScriptedGoogle) -> None:
    first = await begin(configured, google)
    second = await begin(configured, google, cookie=first.cookie)
    assert second.cookie == first.cookie
    assert second.query["state"] != first.query["state"]
    assert (await first.consented()).header("location") == "/"
    assert (await second.consented()).header("location") == "/"


# What a person reads


def reason_in(reply: Reply) -> str:
    target = urlsplit(reply.header("location") or "")
    assert (reply.status, target.path) == (302, "/p/mail"), reply
    (reason,) = parse_qs(target.query)["connect"]
    return reason


async def nothing_was_kept(service: Service) -> bool:
    secrets = await service.rows("select name from secrets")
    return await service.query("mail.accounts") == [] and secrets == [("idp.oauth",)]


async def test_who_refuses_consent_reads_that_nothing_was_connected(
    configured: Service, google: ScriptedGoogle
) -> None:
    reply = await (await begin(configured, google)).consented(error="access_denied")
    assert reason_in(reply) == "no-consent"
    assert await nothing_was_kept(configured)
    assert google.forms("authorization_code") == []


async def test_an_error_of_the_providers_own_is_not_repeated_to_the_person(
    configured: Service, google: ScriptedGoogle
) -> None:
    reply = await (await begin(configured, google)).consented(error="<script>alert(1)</script>")
    assert reason_in(reply) == "ended"
    assert await nothing_was_kept(configured)


async def test_an_unticked_box_is_explained(configured: Service, google: ScriptedGoogle) -> None:
    google.scope = "openid email"
    reply = await (await begin(configured, google)).consented()
    assert reason_in(reply) == "scope-unticked"
    assert await nothing_was_kept(configured)


async def test_a_grant_without_lasting_access_is_explained(configured: Service, google: ScriptedGoogle) -> None:
    google.refresh_token = None
    reply = await (await begin(configured, google)).consented()
    assert reason_in(reply) == "no-refresh-token"
    assert await nothing_was_kept(configured)


async def test_another_mailbox_than_the_wanted_one_is_not_connected(
    configured: Service, google: ScriptedGoogle
) -> None:
    google.address = "private@example.org"
    reply = await (await begin(configured, google, email=MIA)).consented()
    assert reason_in(reply) == "another-mailbox"
    assert await nothing_was_kept(configured)


@pytest.mark.parametrize(("status", "error"), [(400, "invalid_grant"), (401, "invalid_client"), (500, "oops")])
async def test_a_token_endpoint_that_refuses_is_explained(
    configured: Service, google: ScriptedGoogle, status: int, error: str
) -> None:
    google.refusal = answer({"error": error, "error_description": "canary"}, status=status)
    reason = reason_in(await (await begin(configured, google)).consented())
    assert reason == {400: "code-rejected", 401: "client-rejected", 500: "provider-away"}[status]
    assert await nothing_was_kept(configured)


async def test_a_provider_that_vanishes_on_the_way_back_is_explained(
    configured: Service, google: ScriptedGoogle
) -> None:
    trip = await begin(configured, google)
    google.cut = True
    assert reason_in(await trip.consented()) == "provider-away"
    assert await nothing_was_kept(configured)


def test_the_mail_page_has_words_for_every_code_that_the_server_sends_it() -> None:
    page = (static_directory() / "mail" / "consent_refusals.js").read_text()
    named = set(re.findall(r'^  "?([a-z-]+)"?:', page, flags=re.MULTILINE))
    assert named == {code for part in get_args(ConnectCause) for code in get_args(part)}


# The client's secret


@pytest.mark.thorough
async def test_a_rotated_client_is_used_from_the_next_call_on(
    configured: Service, google: ScriptedGoogle, clock: MockClock
) -> None:
    await (await begin(configured, google)).consented()
    rotated = json.dumps({"id": "rotated-id", "secret": "canary-rotated"}).encode()
    secrets = configured.secrets
    await configured.workspace.store.write(lambda tx: secrets.write(tx, "idp.oauth", rotated))
    assert (await begin(configured, google)).query["client_id"] == "rotated-id"
    await hours_pass(clock, 2)  # the access token expires
    assert {form["client_secret"] for form in google.forms("refresh_token")} == {"canary-rotated"}
    (account,) = await configured.query("mail.accounts")
    assert account["state"] == "caught-up"


async def test_a_changed_variable_does_not_overwrite_the_client_in_the_store(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, google: ScriptedGoogle
) -> None:
    async with connected_to(google, tmp_path, wall, log):
        pass
    async with connected_to(google, tmp_path, wall, log, IDP_CLIENT_ID="stale", IDP_CLIENT_SECRET="stale") as service:
        assert (await begin(service, google)).query["client_id"] == CLIENT_ID


async def test_an_account_syncs_again_after_a_restart(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, google: ScriptedGoogle
) -> None:
    async with connected_to(google, tmp_path, wall, log) as service:
        await (await begin(service, google)).consented()
        await trio.sleep(20)
    google.asked.clear()
    async with connected_to(google, tmp_path, wall, log) as service:
        await trio.sleep(60)
        assert [one.path for one in google.asked if one.path.endswith("/history")]
        (account,) = await service.query("mail.accounts")
        assert account["state"] == "caught-up"


@pytest.mark.thorough
async def test_no_secret_of_a_trip_is_in_the_log(configured: Service, google: ScriptedGoogle, clock: MockClock) -> None:
    trips = [await begin(configured, google, email=MIA)]
    await trips[0].consented()
    await hours_pass(clock, 2)
    trips.append(await begin(configured, google))
    google.refusal = answer({"error": "invalid_grant", "error_description": "canary-said"}, status=400)
    await trips[1].consented()
    trips.append(await begin(configured, google))
    await trips[2].consented(cookie="svc_oauth=other")
    google.cut = True
    await hours_pass(clock, 1)
    verifiers = [form["code_verifier"] for form in google.forms("authorization_code")]
    states = [trip.query["state"] for trip in trips]
    cookies = [trip.cookie.partition("=")[2] for trip in trips]
    assert "http.request" in configured.log.events()
    for secret in ("canary", *verifiers, *states, *cookies):
        assert secret not in configured.log.text
