"""Who clicks a button for the third time is told its key, once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import App

pytestmark = pytest.mark.browser

HINT = "next time press s."
"""What the button does then is not told apart: a slow browser draws a star late."""


def opened(app: App) -> tuple[Page, Locator]:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    return page, page.get_by_role("button", name="Star", exact=True)


@pytest.mark.thorough
def test_the_third_click_tells_the_key_and_no_later_one_does(app: App) -> None:
    page, star = opened(app)
    hint = page.locator(".toast").filter(has_text=HINT)
    star.click()
    star.click()
    expect(hint).to_have_count(0)
    star.click()
    expect(hint).to_be_visible()
    hint.get_by_role("button", name="Dismiss").click()
    expect(hint).to_have_count(0)
    star.click()
    expect(hint).to_have_count(0)


@pytest.mark.thorough
def test_it_counts_over_a_reload(app: App) -> None:
    _, star = opened(app)
    star.click()
    star.click()
    page, star = opened(app)
    star.click()
    expect(page.locator(".toast").filter(has_text=HINT)).to_be_visible()


@pytest.mark.thorough
def test_who_uses_the_key_or_the_keyboard_is_not_counted(app: App) -> None:
    page, star = opened(app)
    app.press("s", "s")
    star.focus()
    for _ in range(3):
        page.keyboard.press("Enter")
    assert page.evaluate("localStorage.getItem('svc.hints')") is None


@pytest.mark.thorough
def test_a_finger_has_no_keys(start: Callable[..., App]) -> None:
    app = start(has_touch=True)
    page, star = opened(app)
    for _ in range(3):
        star.tap()
    assert page.evaluate("localStorage.getItem('svc.hints')") is None
