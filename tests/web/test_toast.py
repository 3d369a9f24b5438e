"""The notices at the foot: how long they stay, and where the focus is afterwards."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import PHONE, App
from tests.web.fake_server import Refusal

pytestmark = pytest.mark.browser

LONG_MS = 60_000
BEGAN = datetime.now(UTC)
"""What the page's clock says first. It stops an hour later: no machine takes so long to open a page."""
FOCUSED_ROW = "() => document.activeElement.dataset.thread"


@pytest.fixture
def timed(start: Callable[..., App]) -> App:
    """The app on a clock that only the test moves."""
    app = start(alone=True)
    app.page.clock.install(time=BEGAN)
    return app


def undo(page: Page) -> Locator:
    return page.get_by_role("button", name="Undo")


def archive(timed: App) -> None:
    """The selected thread, at the server too: a clock that jumps ends what is under way."""
    with timed.page.expect_request_finished(lambda request: request.url.endswith("mail.archive")):
        timed.press("e")
    undo(timed.page).wait_for()


@pytest.mark.thorough
def test_a_notice_leaves_by_itself_unless_it_is_pointed_at_or_has_the_focus(timed: App) -> None:
    page = timed.open()
    page.clock.pause_at(BEGAN + timedelta(hours=1))
    timed.press("j")
    archive(timed)
    page.clock.run_for(LONG_MS)
    undo(page).wait_for(state="detached")
    archive(timed)
    page.get_by_text("Archived").hover()
    page.clock.run_for(LONG_MS)
    expect(undo(page)).to_be_visible()
    page.mouse.move(1, 1)
    page.clock.run_for(LONG_MS)
    undo(page).wait_for(state="detached")
    archive(timed)
    undo(page).focus()
    page.clock.run_for(LONG_MS)
    timed.press("Enter")
    timed.row("thr_02").wait_for()
    assert len(timed.called("mail.undo")) == 1


@pytest.mark.thorough
def test_a_notice_stays_while_another_tab_is_in_front_and_one_that_stays_gives_no_place(timed: App) -> None:
    timed.tolerated = ("503",)
    timed.answers.failing["mail.archive"] = Refusal("SERVICE_UNAVAILABLE", 503, "The disk is full.")
    page = timed.open("/p/mail?connect=denied")
    page.clock.pause_at(BEGAN + timedelta(hours=1))
    notices = page.locator(".toast")
    for count in (2, 3, 4):
        timed.press("j", "e")
        expect(notices).to_have_count(count)
        page.get_by_text("Could not archive").nth(count - 2).wait_for()
    timed.press("j", "e")
    timed.called("mail.archive", times=4)
    page.evaluate("() => Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })")
    page.clock.run_for(LONG_MS)
    expect(notices).to_have_count(4)
    page.evaluate("() => { delete document.hidden; document.dispatchEvent(new Event('visibilitychange')); }")
    page.clock.run_for(LONG_MS)
    expect(notices).to_have_count(1)  # why no account was connected, until somebody has read it


def test_undo_gives_the_focus_to_the_row_that_came_back(app: App) -> None:
    page = app.open()
    app.press("j", "e")
    undo(page).click()
    app.focuses("thr_00")
    app.selects("thr_00")
    app.press("j")
    app.selects("thr_01")


@pytest.mark.thorough
def test_undo_beside_an_open_thread_gives_the_focus_to_the_row_of_that_one(app: App) -> None:
    page = app.open()
    app.press("j", "Enter")
    page.locator("iframe").first.wait_for()
    app.press("e")
    page.wait_for_url("**/t/thr_01")
    undo(page).click()
    app.focuses("thr_01")
    app.row("thr_00").wait_for()
    app.at("/p/mail/t/thr_01")


@pytest.mark.thorough
def test_undo_where_the_list_is_covered_leaves_the_focus_in_the_open_thread(start: Callable[..., App]) -> None:
    app = start(viewport=PHONE)
    page = app.open()
    app.press("j", "Enter")
    page.locator("iframe").first.wait_for()
    app.press("e")
    page.wait_for_url("**/t/thr_01")
    page.locator("iframe").first.wait_for()
    undo(page).click()
    expect(undo(page)).to_have_count(0)
    expect(page.locator(".thread-subject")).to_be_focused()


def test_a_dismissed_notice_gives_the_focus_back(app: App) -> None:
    page = app.open()
    app.press("j", "e")
    page.get_by_role("button", name="Dismiss").focus()
    app.press("Enter")
    expect(undo(page)).to_have_count(0)
    app.focuses("thr_01")


def test_a_notice_that_is_taken_back_gives_the_focus_back(app: App) -> None:
    app.tolerated = ("503",)
    page = app.open()
    app.answers.failing["mail.archive"] = Refusal("SERVICE_UNAVAILABLE", 503, "The disk is full.")
    with app.answers.lock:  # the answer waits for it
        app.press("j", "e")
        undo(page).focus()
    page.get_by_text("Could not archive: The disk is full.").wait_for()
    app.focuses("thr_01")
