"""A person connects a mailbox by its password in a browser: what is found, set by hand, accepted, and read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, expect

from tests.mail.imap.dovecot_account import letter
from tests.peers.dovecot import ADDRESS, PASSWORD, Dovecot, dovecot
from tests.peers.needs import DOVECOT, needs
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess
from tests.web.mail_rules.page_with_service import PageWithService, app_page

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.peer, pytest.mark.wall_clock, needs(DOVECOT)]

FINDS_WITHIN_MS = 60_000


@dataclass(kw_only=True)
class Town:
    server: Dovecot
    service: ServiceProcess


@pytest.fixture
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with dovecot() as server, InstalledService(tmp_path_factory.mktemp("service")) as service:
        server.deliver("INBOX", letter("Hello from Dovecot"))
        service.start()
        yield Town(server=server, service=service)
        assert service.stop() == 0
        assert PASSWORD not in service.log()
        server.relay.settle()


@pytest.fixture
def app(browser: Browser, town: Town) -> Iterator[PageWithService]:
    with app_page(browser, town.service) as opened:
        yield opened


def test_a_mailbox_is_connected_by_hand_and_read(app: PageWithService, town: Town) -> None:
    app.tolerated += ("400",)
    page = app.page
    app.go("/")
    page.get_by_role("heading", name="Connect your mail").wait_for()
    page.get_by_label("Address of the mailbox").fill(ADDRESS)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Password", exact=True).fill(PASSWORD, timeout=FINDS_WITHIN_MS)
    reading, sending = (page.locator("fieldset", has_text=name) for name in ("Reading", "Sending"))
    for group, port, security in (
        (reading, town.server.tls_port, "tls"),
        (sending, town.server.submission_port, "starttls"),
    ):
        group.get_by_label("Host").fill("127.0.0.1")
        group.get_by_label("Port").fill(str(port))
        group.get_by_label("Security").select_option(security)
    page.locator(".password-form").get_by_role("button", name="Connect", exact=True).click()
    for server in (town.server.tls_port, town.server.submission_port):
        expect(page.get_by_role("alert")).to_contain_text(f"127.0.0.1:{server}", timeout=FINDS_WITHIN_MS)
        page.get_by_role("button", name="Accept for this account").click()
    app.row("Hello from Dovecot").wait_for()
    app.eventually(lambda: all(one["state"] == "caught-up" for one in app.service.query("mail.accounts")))
    app.go("/settings/accounts")
    page.get_by_role("button", name="Password and servers").click()
    for group, port in ((reading, town.server.tls_port), (sending, town.server.submission_port)):
        expect(group.get_by_label("Port")).to_have_value(str(port), timeout=FINDS_WITHIN_MS)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("dialog").get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0, timeout=FINDS_WITHIN_MS)  # both pins were kept, too


def test_microsoft_is_said_to_want_its_own_sign_in(app: PageWithService) -> None:
    page = app.page
    app.go("/")
    page.get_by_label("Address of the mailbox").fill("mia@outlook.com")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Microsoft no longer lets programs sign in with a password")).to_be_visible()
    expect(page.get_by_label("Password", exact=True)).to_have_count(0)
    page.get_by_label("Address of the mailbox").fill("mia@mail.ru")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("link", name="https://account.mail.ru/user/2-step-auth/passwords")).to_be_visible()
