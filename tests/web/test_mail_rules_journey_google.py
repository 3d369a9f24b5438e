"""Rules 1 to 4, 6, 11 and 14 in a browser, against the Google emulator: connect, sync, read, answer, archive."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.peers.emulator import CLIENT_ID, CLIENT_SECRET, Google, google
from tests.peers.needs import EMULATOR, needs
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess
from tests.web.mail_rules.page_with_service import PageWithService, app_page, parsed
from tests.web.writer import ready, text

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.peer, pytest.mark.wall_clock, needs(EMULATOR)]

MIA = "mia@acme.test"
TEAM = "team@acme.test"


@dataclass(kw_only=True)
class Town:
    """The emulator, the program that reads from it, and the ids of the mail that lies there from the start."""

    google: Google
    service: ServiceProcess
    plan: str


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with InstalledService(tmp_path_factory.mktemp("service")) as service, running(service) as opened:
        yield opened
        assert service.stop() == 0
        assert CLIENT_SECRET not in service.log()


@pytest.fixture
def app(browser: Browser, town: Town) -> Iterator[PageWithService]:
    with app_page(browser, town.service) as opened:
        yield opened


@contextmanager
def running(service: ServiceProcess) -> Iterator[Town]:
    with google(users=[MIA, TEAM], redirect_uris=[f"{service.base}/oauth/mail/callback"]) as peer:
        plan = peer.insert(MIA, letter("The plan for Quay 4", message_id="plan.1@harbour.test"))
        for address in (MIA, TEAM):
            peer.insert(address, letter("To both of you", message_id="both.1@harbour.test", to=f"{MIA}, {TEAM}"))
        service.start(
            SVC_IDP_ISSUER=peer.base,
            SVC_MAIL_API_URL=peer.base,
            IDP_CLIENT_ID=CLIENT_ID,
            IDP_CLIENT_SECRET=CLIENT_SECRET,
            SVC_MAIL_QUOTA_PER_MINUTE="1000000",
        )
        yield Town(google=peer, service=service, plan=plan)


def test_two_accounts_are_connected_and_live_side_by_side(app: PageWithService, town: Town) -> None:
    asks_for_a_first_account(app)
    back = connects(app, MIA)
    expect(app.row("The plan for Quay 4")).to_be_visible()
    is_refused_the_second_time(app, back)
    app.inbox()
    app.page.get_by_role("banner").get_by_role("button", name="Connect another account").click()
    app.picture("rule-01-connect-another")
    connects(app, TEAM)
    sees_one_row_for_one_mail(app)
    new_mail_comes_by_itself(app, town)
    reading_and_archiving_reach_the_provider(app, town)
    an_answer_stays_in_the_thread(app, town)


def asks_for_a_first_account(app: PageWithService) -> None:
    app.go("/")
    app.page.get_by_role("heading", name="Connect your mail").wait_for()
    app.picture("rule-01-connect", dark=True, phone=True)


def connects(app: PageWithService, address: str) -> str:
    """Through the provider's consent screen and back; where the provider sent the browser."""
    page = app.page
    form = page.locator(".connect:visible")
    form.get_by_label("Address of the mailbox").fill(address)
    form.get_by_role("link", name="Google").click()
    page.wait_for_url("**/o/oauth2/**")
    asked = parse_qs(urlsplit(page.url).query)
    assert asked["prompt"] == ["consent"]
    assert asked["login_hint"] == [address]
    assert len(asked["state"][0]) >= 32
    page.get_by_role("button").filter(has_text=address).click()
    page.wait_for_url("**/p/mail")
    page.get_by_role("tab", name=address).wait_for()
    return next(url for url in reversed(app.went) if "/oauth/mail/callback?" in url)


def is_refused_the_second_time(app: PageWithService, back: str) -> None:
    """A state is valid once, and no state is refused."""
    app.tolerated += ("403",)
    for address in (back, "/oauth/mail/callback?code=x&state=made-up", "/oauth/mail/callback?code=x"):
        response = app.page.goto(address)
        assert response is not None
        assert response.status == 403


def sees_one_row_for_one_mail(app: PageWithService) -> None:
    page = app.page
    expect(page.get_by_role("tab")).to_have_count(3)
    app.row("To both of you").wait_for()
    app.eventually(lambda: all(one["state"] == "caught-up" for one in app.service.query("mail.accounts")))
    expect(page.locator("[data-thread]", has_text="To both of you")).to_have_count(1)
    expect(page.get_by_role("tab", name=f"{TEAM}, 1 unread thread")).to_be_visible()
    app.picture("rule-08-two-accounts")
    page.get_by_role("tab", name=TEAM).click()
    expect(page.locator("[data-thread]")).to_have_count(1)
    page.get_by_role("tab", name="Unified").click()


def new_mail_comes_by_itself(app: PageWithService, town: Town) -> None:
    town.google.insert(MIA, letter("Just now", message_id="now.1@harbour.test"))
    app.row("Just now").wait_for()
    app.picture("rule-04-arrived")


def reading_and_archiving_reach_the_provider(app: PageWithService, town: Town) -> None:

    def labels() -> set[str]:
        return town.google.labels_of(MIA, town.plan)

    assert labels() >= {"INBOX", "UNREAD"}
    app.open("The plan for Quay 4")
    app.eventually(lambda: "UNREAD" not in labels())
    app.press("e")
    app.eventually(lambda: "INBOX" not in labels())
    app.press("z")
    app.eventually(lambda: "INBOX" in labels())  # taken back there, too
    assert "UNREAD" not in labels()
    app.inbox()


def an_answer_stays_in_the_thread(app: PageWithService, town: Town) -> None:
    app.open("Just now")
    app.press("r")
    ready(app.page)
    text(app.page).click()
    app.page.keyboard.type("We are on our way.")
    app.press("Control+Enter")
    app.page.get_by_role("button", name="Send now").click()
    app.page.get_by_text("Sent: Re: Just now").wait_for()
    expect(app.page.locator("article.card")).to_have_count(2)
    app.picture("rule-14-answered")
    message = only_answer(town.google, "Re: Just now")
    assert message["In-Reply-To"] == message["References"] == "<now.1@harbour.test>"
    body = message.get_body(("plain",))
    assert isinstance(body, EmailMessage)
    assert "We are on our way." in body.get_content()


def only_answer(peer: Google, subject: str) -> EmailMessage:
    """The one mail of that subject among what the provider took from us."""
    found = [
        parsed(raw_of(peer, message)) for message in peer.message_ids(MIA) if "SENT" in peer.labels_of(MIA, message)
    ]
    (answer,) = [one for one in found if one["Subject"] == subject]
    return answer


def raw_of(peer: Google, message_id: str) -> bytes:
    path = f"/gmail/v1/users/{quote(MIA)}/messages/{message_id}?format=raw"
    reply = peer.request("GET", path, headers={"authorization": f"Bearer seed-{MIA}"})
    return base64.urlsafe_b64decode(json.loads(reply.body)["raw"] + "==")


def letter(subject: str, *, message_id: str, to: str = MIA) -> bytes:
    message = EmailMessage()
    message["From"] = "Harbour Office <office@harbour.test>"
    message["To"] = to
    message["Subject"] = subject
    message["Message-ID"] = f"<{message_id}>"
    message["Date"] = format_datetime(datetime.now(UTC))
    message.set_content("Dear all,\n\nthe plan is as we said on the quay.\n\nThe Harbour Office\n")
    return message.as_bytes()
