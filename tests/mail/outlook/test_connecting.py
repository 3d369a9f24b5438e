"""A mailbox at Microsoft is connected by its sign-in: landed, proven at both servers, renewed, and let go of."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest
import trio
from trio.testing import MockClock

from svc.clock import HOUR_MS, VirtualClock
from svc.mail.sync.engine import MailEngine
from tests.mail.outlook.conftest import ADDRESS, OutlookService
from tests.peers.microsoft import CLIENT_ID, CLIENT_SECRET, LOGIN, SCOPES
from tests.recorded_log import RecordedLog
from tests.support.service import HOST, ORIGIN, PORT
from tests.virtual_time import hours_pass

LANDING = f"http://localhost:{PORT}/oauth/mail/landing"


async def test_the_consent_screen_is_asked_for_reading_and_sending(outlook_service: OutlookService) -> None:
    reply = await outlook_service.service.get(f"/oauth/mail/start?provider=outlook&email={ADDRESS}")
    assert (reply.header("location") or "").startswith(f"{LOGIN}/common/oauth2/v2.0/authorize?")
    query, _ = await outlook_service.begin()
    assert query == {
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": LANDING,
        "scope": f"openid email profile offline_access {SCOPES}",
        "state": query["state"],
        "code_challenge": query["code_challenge"],
        "code_challenge_method": "S256",
        "prompt": "select_account",
        "response_mode": "query",
        "login_hint": ADDRESS,
    }


async def test_who_lands_on_the_other_spelling_goes_to_the_callback_and_nowhere_else(
    outlook_service: OutlookService,
) -> None:
    for host in (f"localhost:{PORT}", HOST):
        reply = await outlook_service.service.ask("GET", "/oauth/mail/landing?code=a%20b&state=x", host=host)
        assert (reply.status, reply.header("location")) == (302, f"{ORIGIN}/oauth/mail/callback?code=a%20b&state=x")


async def test_a_mailbox_is_connected_and_syncs(outlook_service: OutlookService, log: RecordedLog) -> None:
    reply = await outlook_service.connect()
    assert (reply.status, reply.header("location")) == (302, "/")
    await trio.sleep(60)
    account = await outlook_service.account()
    assert (account["address"], account["provider"], account["state"]) == (ADDRESS, "outlook", "caught-up")
    names = [name for (name,) in await outlook_service.service.rows("select name from secrets order by name")]
    assert names == [f"idp.oauth.{ADDRESS}", "microsoft.oauth"]
    assert set(outlook_service.exchange.servers) == {"outlook.office365.com:993", "smtp-mail.outlook.com:587"}
    assert all(taken for _, _, taken in outlook_service.exchange.sign_ins)
    assert all("AUTH" not in line for line in outlook_service.exchange.before_tls)
    (form,) = outlook_service.microsoft.forms("authorization_code")
    assert (form["client_secret"], form["redirect_uri"]) == (CLIENT_SECRET, LANDING)
    assert "canary" not in repr(await outlook_service.service.dump())
    assert "canary" not in log.text


async def test_a_public_client_has_no_secret_and_is_taken_by_its_proof(outlook_service: OutlookService) -> None:
    outlook_service.microsoft.secret = ""
    await outlook_service.service.mutate(
        "capabilities.set", name="microsoft.oauth", value={"id": CLIENT_ID, "secret": ""}
    )
    assert (await outlook_service.connect()).header("location") == "/"
    (form,) = outlook_service.microsoft.forms("authorization_code")
    assert "client_secret" not in form
    assert form["code_verifier"]


async def test_a_client_of_one_organisation_is_asked_in_its_directory(outlook_service: OutlookService) -> None:
    outlook_service.microsoft.directory = "acme.example"
    value = {"id": CLIENT_ID, "secret": CLIENT_SECRET, "directory": "acme.example"}
    await outlook_service.service.mutate("capabilities.set", name="microsoft.oauth", value=value)
    outlook_service.microsoft.address = "mia@acme.example"
    assert (await outlook_service.connect(email="")).header("location") == "/"
    assert "smtp.office365.com:587" in outlook_service.exchange.servers


async def test_a_directory_can_not_lead_elsewhere(outlook_service: OutlookService) -> None:
    await outlook_service.service.mutate(
        "capabilities.set", name="microsoft.oauth", value={"id": "x", "directory": "../a?b#c"}
    )
    reply = await outlook_service.service.get("/oauth/mail/start?provider=outlook")
    assert (reply.header("location") or "").startswith(f"{LOGIN}/..%2Fa%3Fb%23c/oauth2/v2.0/authorize?")


# Renewal


@pytest.mark.thorough
async def test_tokens_are_renewed_before_they_end_and_the_newest_is_kept(
    outlook_service: OutlookService, clock: MockClock, wall: VirtualClock
) -> None:
    await outlook_service.connect()
    await hours_pass(clock, 3)
    renewals = outlook_service.microsoft.forms("refresh_token")
    assert len(renewals) >= 2
    assert len({form["refresh_token"] for form in renewals}) == len(renewals), "an older one was used again"
    assert all(taken for _, _, taken in outlook_service.exchange.sign_ins)
    assert (await outlook_service.account())["state"] == "caught-up"


async def test_a_token_that_is_refused_early_is_renewed_once(outlook_service: OutlookService) -> None:
    await outlook_service.connect()
    await trio.sleep(60)
    outlook_service.microsoft.tokens.clear()
    outlook_service.exchange.sign_ins.clear()
    account_id = str((await outlook_service.account())["id"])
    await outlook_service.exchange.hang_up()
    await trio.sleep(60)
    await outlook_service.service.workspace.service(MailEngine).sync_now(account_id)
    assert [taken for what, _, taken in outlook_service.exchange.sign_ins if what == "imap"][:2] == [False, True]
    assert len(outlook_service.microsoft.forms("refresh_token")) == 1
    assert (await outlook_service.account())["state"] == "caught-up"


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (("70000", "invalid_grant"), "was revoked"),
        (("50173", "invalid_grant"), "its password was changed"),
        (("700082", "invalid_grant"), "90 days"),
        (("7000222", "invalid_client"), "client secret of this server at Microsoft has expired"),
        (("50076", "interaction_required"), "second factor"),
    ],
)
async def test_a_grant_that_has_ended_asks_to_connect_again(
    outlook_service: OutlookService, wall: VirtualClock, refusal: tuple[str, str], words: str
) -> None:
    await outlook_service.connect()
    await trio.sleep(60)
    outlook_service.microsoft.refusal = refusal
    wall.offset_ms += 2 * HOUR_MS
    await outlook_service.exchange.hang_up()
    await trio.sleep(600)
    account = await outlook_service.account()
    assert account["state"] == "reconnect"
    assert words in str(account["problem"])
    outlook_service.microsoft.refusal = None
    assert (await outlook_service.connect()).header("location") == "/"
    await trio.sleep(60)
    assert (await outlook_service.account())["state"] == "caught-up"


async def test_let_go_of_it_says_where_the_grant_can_be_ended(outlook_service: OutlookService) -> None:
    await outlook_service.connect()
    outcome = await outlook_service.service.mutate("mail.disconnect", accountId=(await outlook_service.account())["id"])
    assert outcome["revoked"] is False  # Microsoft has no place for that
    assert await outlook_service.service.rows("select 1 from secrets where name like 'idp.oauth.%'") == []


# Refusals


async def test_another_persons_sign_in_connects_nothing(outlook_service: OutlookService) -> None:
    outlook_service.microsoft.address = "someone.else@outlook.com"
    assert await outlook_service.refused() == "another-mailbox"
    assert outlook_service.exchange.servers == []


async def test_a_token_for_another_mailbox_connects_nothing(outlook_service: OutlookService) -> None:
    outlook_service.exchange.not_connected = True
    assert await outlook_service.refused() == "mailbox-closed"


async def test_a_mailbox_without_imap_and_one_without_sending_are_told_apart(outlook_service: OutlookService) -> None:
    outlook_service.exchange.closed = True
    assert await outlook_service.refused() == "mailbox-closed"
    outlook_service.exchange.closed, outlook_service.exchange.sending_off = False, True
    assert await outlook_service.refused() == "sending-off"


async def test_who_has_no_address_there_connects_nothing(outlook_service: OutlookService) -> None:
    outlook_service.microsoft.names = {"preferred_username": "+1 555 0100"}
    assert await outlook_service.refused() == "wrong-identity"


async def test_the_name_of_sign_in_stands_in_where_no_address_is_told(outlook_service: OutlookService) -> None:
    outlook_service.microsoft.names = {"preferred_username": "Mia@Outlook.com"}
    assert (await outlook_service.connect()).header("location") == "/"


@pytest.mark.parametrize(
    ("refusal", "cause"),
    [
        (("50011", "invalid_request"), "redirect-unknown"),
        (("700016", "unauthorized_client"), "client-unknown"),
        (("50194", "invalid_request"), "wrong-directory"),
        (("7000215", "invalid_client"), "secret-wrong"),
        (("7000222", "invalid_client"), "secret-expired"),
        (("7000218", "invalid_client"), "secret-missing"),
        (("65001", "invalid_grant"), "admin-consent"),
        (("90094", "invalid_grant"), "admin-consent"),
        (("50020", "invalid_grant"), "account-kind"),
        (("53003", "interaction_required"), "blocked"),
        (("9002313", "invalid_request"), "code-rejected"),
        (("1", "invalid_client"), "client-rejected"),
    ],
)
async def test_what_is_set_up_wrongly_is_named(
    outlook_service: OutlookService, refusal: tuple[str, str], cause: str
) -> None:
    outlook_service.microsoft.refusal = refusal
    assert await outlook_service.refused() == cause


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ("error=access_denied&error_description=AADSTS65004%3A+User+declined", "no-consent"),
        ("error=access_denied&error_description=AADSTS90094%3A+canary", "admin-consent"),
        ("error=server_error&error_description=%3Cscript%3E", "ended"),
    ],
)
async def test_what_the_consent_screen_sends_back_is_named(
    outlook_service: OutlookService, told: str, cause: str
) -> None:
    query, cookie = await outlook_service.begin()
    reply = await outlook_service.back(f"{ORIGIN}/oauth/mail/callback?state={query['state']}&{told}", cookie)
    assert urlsplit(reply.header("location") or "").query == f"connect={cause}"


async def test_a_trip_that_another_browser_began_is_refused(outlook_service: OutlookService) -> None:
    query, _ = await outlook_service.begin()
    reply = await outlook_service.back(
        outlook_service.microsoft.consented(query).replace("landing", "callback"), "svc_oauth=other"
    )
    assert (reply.status, reply.json["code"]) == (403, "forbidden")
    assert outlook_service.microsoft.forms("authorization_code") == []


async def test_an_address_that_is_connected_otherwise_stays_as_it_is(outlook_service: OutlookService) -> None:
    await outlook_service.connect()
    await outlook_service.service.workspace.store.write(
        lambda tx: tx.run("update mail_accounts set provider = 'imap'")  # as it would be by a password
    )
    reply = await outlook_service.connect()
    assert urlsplit(reply.header("location") or "").query == "connect=connected-otherwise"


async def test_an_unknown_provider_and_one_without_a_client_are_refused(outlook_service: OutlookService) -> None:
    assert (await outlook_service.service.get("/oauth/mail/start?provider=nobody")).status == 404
    reply = await outlook_service.service.get(
        "/oauth/mail/start"
    )  # that of the identity provider, whose client is not set
    assert (reply.status, reply.json["code"]) == (501, "not_configured")


# Discovery


async def test_discovery_says_how_it_is_connected_and_what_the_client_needs(outlook_service: OutlookService) -> None:
    found = await outlook_service.service.query("mail.discover", address=ADDRESS)
    assert found["signIn"] == "oauth"
    assert found["oauth"] == {
        "provider": "outlook",
        "service": "Microsoft",
        "client": "microsoft.oauth",
        "ready": True,
        "faked": False,
        "redirectUri": LANDING,
        "scopes": ["openid", "email", "profile", "offline_access", *SCOPES.split()],
    }
    await outlook_service.service.mutate("capabilities.remove", name="microsoft.oauth")
    assert (await outlook_service.service.query("mail.discover", address=ADDRESS))["oauth"]["ready"] is False
    assert (await outlook_service.service.query("mail.discover", address="mia@fastmail.com"))["oauth"] is None


async def test_a_password_is_not_even_tried(outlook_service: OutlookService) -> None:
    body = json.dumps({"address": ADDRESS, "password": "canary-password"}).encode()
    reply = await outlook_service.service.ask(
        "POST", "/trpc/mail.connectImap", body, fields={"content-type": "application/json"}
    )
    assert reply.status == 400
    assert json.loads(reply.body)["error"]["data"]["reason"] == "oauth_only"
    assert outlook_service.exchange.servers == []
