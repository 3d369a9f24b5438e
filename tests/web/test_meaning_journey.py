"""Search by meaning in the app, with the whole program: switched on with its cost said before, and mail found by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import until
from tests.web.mail_rules.page_with_service import app_page, seeded_service
from tests.web.test_app_looks import check_in_a_light

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]


def test_it_is_switched_on_with_its_cost_and_finds_what_the_words_alone_do_not(
    browser: Browser, tmp_path: Path
) -> None:
    with seeded_service(tmp_path) as service, app_page(browser, service) as app:
        until(app.page, lambda: service.query("search.state")["waiting"] == 0, what="the index to be there")
        page = app.go("/settings/meaning")
        expect(page.get_by_text("It costs less than $0.01")).to_be_visible()
        app.picture("settings-meaning-off", phone=True)
        page.get_by_role("button", name="Switch on").click()
        expect(page.get_by_text("mails and pages are read.")).to_be_visible()
        page.get_by_role("button", name="Switch on").click()
        until(
            app.page,
            lambda: (state := service.query("meaning.state"))["lastRunId"] is not None and state["runId"] is None,
            what="the run to end",
            tell=service.log,
        )
        state = service.query("meaning.state")
        assert state["read"] == state["items"] > 0
        expect(page.get_by_text("The last run")).to_be_visible()
        app.picture("settings-meaning-on", dark=True, phone=True)

        subject = service.query("mail.threads", section="inbox", limit=1)["threads"][0]["subject"]
        typed = f"{subject} perhaps somewhat otherwise"
        assert service.query("mail.search", query=typed)["threads"] == []
        app.go("/p/mail/search?q=" + typed.replace(" ", "%20"))
        page.get_by_role("link", name="Best match").click()
        expect(page.get_by_role("heading", name="Best match")).to_be_visible()
        row = page.get_by_role("region", name="Mail").get_by_role("link").filter(has_text=subject).first
        expect(row).to_contain_text("by meaning")
        app.picture("best-match", dark=True, phone=True)
        check_in_a_light(page, "best-match")
        page.set_viewport_size({"width": 320, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        row.click()
        page.locator(".thread-subject", has_text=subject).wait_for()
