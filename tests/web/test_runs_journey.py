"""A run in the browser, with the whole program: begun in the settings, found in the list, its page live to the end."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import until
from tests.web.mail_rules.page_with_service import app_page, seeded_service

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]


def test_a_run_is_begun_found_in_the_list_and_followed_to_its_end(browser: Browser, tmp_path: Path) -> None:
    with seeded_service(tmp_path) as service, app_page(browser, service) as app:
        until(app.page, lambda: service.query("search.state")["waiting"] == 0, what="the index to be there")
        messages = service.query("search.state")["messages"]
        page = app.go("/p/runs")
        expect(page.get_by_text("Nothing has run yet")).to_be_visible()
        service.mutate("search.reindex")
        page.get_by_role("link", name="Re-index everything").click()
        expect(page.locator(".run-head .run-state")).to_have_text("Done")
        expect(page.locator(".run-head")).to_contain_text(f"{messages} of {messages}")
        page.locator("[data-step='queue a batch'] summary").click()
        expect(page.get_by_role("region", name="Output of queue a batch")).to_contain_text('"more": false')
        expect(page.get_by_role("region", name="Output of the run")).to_contain_text(f'"messages": {messages}')
        expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
