"""Settings, Search: an admin makes the index anew, and sees it done, with the whole program."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import until
from tests.web.mail_rules.page_with_service import app_page, seeded_service

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]


def test_everything_is_re_indexed_and_the_page_says_when_it_is_done(browser: Browser, tmp_path: Path) -> None:
    with seeded_service(tmp_path) as service, app_page(browser, service) as app:
        until(app.page, lambda: service.query("search.state")["waiting"] == 0, what="the index to be there")
        messages = service.query("search.state")["messages"]
        page = app.go("/settings/search")
        expect(page.get_by_text(f"{messages} of {messages} messages can be found.")).to_be_visible()
        page.get_by_role("button", name="Re-index everything").click()
        page.get_by_role("button", name="Re-index everything").click()
        until(
            app.page,
            lambda: [one["state"] for one in service.query("runs.list", workflow="search.reindex")["runs"]] == ["done"],
            what="the run to end",
            tell=service.log,
        )
        expect(page.get_by_role("button", name="Re-index everything")).to_be_visible()
        expect(page.get_by_text(f"{messages} of {messages} messages can be found.")).to_be_visible()
        app.picture("settings-search", dark=True, phone=True)
