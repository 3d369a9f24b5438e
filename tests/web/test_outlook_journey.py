"""A person connects a mailbox at Microsoft in a browser: what an admin has to set up, and then the whole way round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, expect

from tests.peers.dovecot import Dovecot
from tests.peers.microsoft import CLIENT_ID, CLIENT_SECRET, Microsoft, dovecot_for, microsoft, settings_for
from tests.peers.needs import DOVECOT, needs
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess
from tests.web.mail_rules.page_with_service import PageWithService, app_page

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.peer, pytest.mark.wall_clock, needs(DOVECOT)]

ADDRESS = "mia@outlook.com"
FINDS_WITHIN_MS = 60_000


@dataclass(kw_only=True)
class Town:
    microsoft: Microsoft
    server: Dovecot
    service: ServiceProcess


@pytest.fixture
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with (
        microsoft(ADDRESS) as peer,
        dovecot_for(peer) as server,
        InstalledService(tmp_path_factory.mktemp("service")) as service,
    ):
        settings = settings_for(peer, server) | {"SSL_CERT_FILE": str(server.certificate)}
        service.start(**{name: value for name, value in settings.items() if "CLIENT" not in name})
        yield Town(microsoft=peer, server=server, service=service)
        assert service.stop() == 0
        assert "canary" not in service.log()


@pytest.fixture
def app(browser: Browser, town: Town) -> Iterator[PageWithService]:
    with app_page(browser, town.service) as opened:
        yield opened


def look_for_it(app: PageWithService) -> None:
    app.go("/p/mail")
    app.page.get_by_label("Address of the mailbox").fill(ADDRESS)
    app.page.get_by_role("button", name="Continue").click()
    app.page.get_by_text("Microsoft no longer lets programs sign in with a password").wait_for(timeout=FINDS_WITHIN_MS)


def test_an_admin_sets_it_up_and_a_mailbox_is_connected(app: PageWithService, town: Town) -> None:
    page = app.page
    look_for_it(app)
    expect(page.get_by_label("Password", exact=True)).to_have_count(0)
    expect(page.get_by_text(f"http://localhost:{town.service.port}/oauth/mail/landing")).to_be_visible()
    expect(page.get_by_text("IMAP.AccessAsUser.All SMTP.Send")).to_be_visible()
    expect(page.get_by_role("link", name="Connect with Microsoft")).to_have_count(0)
    app.service.mutate("capabilities.set", name="microsoft.oauth", value={"id": CLIENT_ID, "secret": CLIENT_SECRET})
    look_for_it(app)
    page.get_by_role("link", name="Connect with Microsoft").click()
    page.wait_for_url(f"{town.service.base}/p/mail**", timeout=FINDS_WITHIN_MS)
    app.eventually(lambda: [one["state"] for one in app.service.query("mail.accounts")] == ["caught-up"])
    (account,) = app.service.query("mail.accounts")
    assert (account["address"], account["provider"]) == (ADDRESS, "outlook")


def test_who_signs_in_as_somebody_else_is_told(app: PageWithService, town: Town) -> None:
    app.service.mutate("capabilities.set", name="microsoft.oauth", value={"id": CLIENT_ID, "secret": CLIENT_SECRET})
    town.microsoft.address = "someone.else@outlook.com"
    look_for_it(app)
    app.page.get_by_role("link", name="Connect with Microsoft").click()
    expect(app.page.get_by_text("You granted access to another mailbox")).to_be_visible(timeout=FINDS_WITHIN_MS)
    assert app.service.query("mail.accounts") == []
