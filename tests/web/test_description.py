"""``/docs`` in a browser: found from the palette, it shows what there is, and asks for nothing from elsewhere.

It is given a share of all routes and procedures, chosen anew in each run; under ``SVC_SOAK=1`` all of them.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.sizes import DESCRIBED
from tests.web.mail_rules.page_with_service import app_page, empty_service

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]


TRIED = "/trpc/mail.threads"


def test_the_page_is_found_shows_an_input_and_tries_a_call(
    browser: Browser, tmp_path: Path, chance: random.Random
) -> None:
    with empty_service(tmp_path) as service, app_page(browser, service) as app:
        page = app.go("/p/mail")
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        elsewhere: list[str] = []
        page.on("request", lambda request: elsewhere.append(request.url) if service.base not in request.url else None)
        describe_a_share(page, chance)
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Command").fill("openapi")
        page.get_by_role("option", name="Routes and procedures").click()
        page.locator("#operations-tag-mail").click()
        operation = page.locator(".opblock", has=page.locator(f"[data-path='{TRIED}']"))
        operation.locator(".opblock-summary-control").click()
        operation.get_by_role("button", name="Try it out").click()
        operation.locator("textarea").first.fill('{"section": "skipped"}')
        operation.get_by_role("button", name="Execute").click()
        expect(operation.locator(".live-responses-table")).to_contain_text('"threads"')
        assert (said, [url for url in elsewhere if not url.startswith("data:")]) == ([], [])


def describe_a_share(page: Page, chance: random.Random) -> None:
    """The one that is tried, and others: the page takes the longer the more there are."""

    def shorten(route: Route) -> None:
        answer = route.fetch()
        document = answer.json()
        names = [*document["paths"]]
        shown = {TRIED, *chance.sample(names, len(names) // DESCRIBED)}
        document["paths"] = {name: found for name, found in document["paths"].items() if name in shown}
        route.fulfill(response=answer, json=document)

    page.route("**/openapi.json", shorten)
