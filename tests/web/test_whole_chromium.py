"""What only the whole browser shows: in the one without a desktop around it, a mail's frame needs no other process."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Playwright

from tests.peers.needs import CHROMIUM_PATH
from tests.support.browser import FLAGS, App, fresh_page
from tests.web.test_app_thread import LETTERS, answers_with_body

pytestmark = pytest.mark.browser

IS_SHOWN_WHOLE = """() => {
    const [box, frame] = [document.querySelector('.frame-box'), document.querySelector('iframe')];
    return frame && box.offsetHeight > 300 && frame.offsetHeight === box.offsetHeight + 150;
}"""
TIMES_OPENED = 4
"""In a frame that was not laid out, three of four mails stayed without a height."""


@pytest.mark.thorough
def test_an_opened_mail_is_as_tall_as_its_text(start: Callable[..., App], playwright: Playwright) -> None:
    app = start(answers_with_body(LETTERS["a newsletter"]))
    browser = playwright.chromium.launch(executable_path=str(CHROMIUM_PATH), headless=True, args=list(FLAGS))
    try:
        for _ in range(TIMES_OPENED):
            with fresh_page(browser) as page:
                page.goto(app.origin + "/p/mail/t/thr_01")
                page.wait_for_function(IS_SHOWN_WHOLE)
    finally:
        browser.close()
