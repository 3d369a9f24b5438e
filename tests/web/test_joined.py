"""The app as a wheel carries it, its modules joined into few files: the same app, in Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.peers.needs import CHROMIUM, NODE, VENDOR, need
from tests.support.browser import fresh_page, hear
from tests.support.installed import lay_package
from tests.support.process import ServiceProcess
from tests.web.mail_rules.page_with_service import start_seeded

MOST_ANSWERS: Final = 30
"""To the inbox with its mail; it took some three hundred when each module came by itself."""

pytestmark = [pytest.mark.browser, pytest.mark.journey]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    for thing in (CHROMIUM, NODE, VENDOR):
        need(thing)
    return lay_package(tmp_path / "installed")


@pytest.mark.share(3, among="the app by another way")
def test_the_joined_app_is_the_same_app(installed: Path, tmp_path: Path, browser: Browser) -> None:
    complaints: list[str] = []
    answers: list[str] = []
    with (
        ServiceProcess(tmp_path, root=installed, warm=False) as service,
        fresh_page(browser, base_url=service.base, service_workers="allow") as page,
    ):
        start_seeded(service)
        hear(page, complaints.append)
        page.on("response", lambda answer: answers.append(answer.url))
        page.goto("/p/mail")
        page.locator("[data-thread]").first.wait_for()
        assert len(answers) <= MOST_ANSWERS, answers
        read_and_write(page)
        for path in ("/settings", "/p/", "/p/tasks", "/p/runs", "/p/crm"):
            page.goto(path)
            expect(page.get_by_role("heading").first).to_be_visible()
        page.goto("/p/mail")
        page.evaluate("() => navigator.serviceWorker.ready.then(() => null)")
        page.locator("[data-thread]").first.wait_for()
        assert complaints == []
        assert service.stop() == 0
        page.reload()  # by the service worker, which keeps what the app consists of
        expect(page.locator("[data-thread]").first).to_be_visible()


def read_and_write(page: Page) -> None:
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".thread-subject")).to_be_visible()
    expect(page.frame_locator(".card iframe").last.locator("body")).to_be_visible()
    page.keyboard.press("r")
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    page.keyboard.type("By the joined app.")
    page.keyboard.press("Escape")
