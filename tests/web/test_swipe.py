"""A finger on a row: sideways it archives or snoozes, up and down it scrolls, at rest it picks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import PHONE, App

pytestmark = pytest.mark.browser


@pytest.fixture
def phone(start: Callable[..., App]) -> App:
    app = start(viewport=PHONE, has_touch=True, is_mobile=True)
    app.open()
    return app


class Finger:
    """What a person does with one finger, as the browser hears it."""

    def __init__(self, page: Page, thread_id: str) -> None:
        box = page.locator(f"#row-{thread_id}").bounding_box()
        assert box is not None
        self.page = page
        self.width = box["width"]
        self.at = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        self.session = page.context.new_cdp_session(page)
        self._say("touchStart")

    def move(self, by: float, down: float = 0, *, steps: int = 6) -> None:
        for _ in range(steps):
            self.at = [self.at[0] + by / steps, self.at[1] + down / steps]
            self._say("touchMove")

    def lift(self) -> None:
        self._say("touchEnd")
        self.session.detach()

    def _say(self, kind: str) -> None:
        points = [] if kind == "touchEnd" else [{"x": self.at[0], "y": self.at[1]}]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


@pytest.mark.thorough
def test_drawn_to_the_right_it_is_archived_and_can_be_taken_back(phone: App) -> None:
    page = phone.page
    finger = Finger(page, "thr_01")
    finger.move(0.5 * finger.width)
    expect(page.locator(".below-drawn.right")).to_have_text("Archive")
    finger.lift()
    assert phone.called("mail.archive")[0]["threadIds"] == ["thr_01"]
    expect(phone.row("thr_01")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    phone.called("mail.undo")
    phone.at("/p/mail")


@pytest.mark.thorough
def test_after_several_each_can_be_taken_back(phone: App) -> None:
    """One after the other, the newest first: a phone has no key for it."""
    page = phone.page
    for thread_id in ("thr_01", "thr_02"):
        finger = Finger(page, thread_id)
        finger.move(0.5 * finger.width)
        finger.lift()
        expect(phone.row(thread_id)).to_have_count(0)
    page.get_by_role("button", name="Undo", exact=True).click()
    phone.row("thr_02").wait_for()
    page.get_by_role("button", name="Undo more").click()
    phone.row("thr_01").wait_for()
    expect(page.get_by_text("Back from the archive")).to_have_count(1)
    expect(page.locator(".toast-action")).to_have_count(0)


@pytest.mark.thorough
def test_drawn_to_the_left_it_asks_until_when_to_snooze(phone: App) -> None:
    finger = Finger(phone.page, "thr_01")
    finger.move(-0.5 * finger.width)
    expect(phone.page.locator(".below-drawn.left")).to_have_text("Snooze")
    finger.lift()
    phone.page.get_by_role("dialog", name="Snooze").wait_for()
    phone.at("/p/mail")


@pytest.mark.thorough
def test_drawn_too_little_it_comes_back_and_nothing_opens(phone: App) -> None:
    finger = Finger(phone.page, "thr_01")
    finger.move(0.3 * finger.width)
    expect(phone.page.locator(".below-drawn")).to_have_count(1)
    finger.lift()
    expect(phone.page.locator(".below-drawn")).to_have_count(0)
    expect(phone.row("thr_01")).to_have_css("translate", "none")
    assert phone.calls("mail.archive") == []
    phone.at("/p/mail")
    phone.row("thr_01").click()
    phone.at("/p/mail/t/thr_01")


@pytest.mark.thorough
def test_up_and_down_is_the_lists_own(phone: App) -> None:
    finger = Finger(phone.page, "thr_04")
    finger.move(30, -200)
    finger.lift()
    phone.until("() => document.querySelector('.lists').scrollTop > 50")
    expect(phone.page.locator(".below-drawn")).to_have_count(0)
    assert phone.calls("mail.archive") == []


def test_at_rest_it_picks(phone: App) -> None:
    phone.page.evaluate(
        """() => document.querySelector("#row-thr_02").dispatchEvent(
            new PointerEvent("contextmenu", { pointerType: "touch", bubbles: true, cancelable: true }))"""
    )
    expect(phone.page.locator("[role=row][aria-selected=true]")).to_have_count(1)
    expect(phone.page.get_by_role("group", name="This thread")).to_be_hidden()


@pytest.mark.thorough
def test_where_the_browser_says_nothing_of_a_finger_at_rest_it_picks_all_the_same(phone: App) -> None:
    rows = phone.page.locator("[role=row][aria-selected=true]")
    finger = Finger(phone.page, "thr_02")
    expect(rows).to_have_count(1)
    finger.lift()
    phone.row("thr_03").tap()
    expect(rows).to_have_count(2)  # what one taps then is picked, too
    phone.row("thr_02").tap()
    phone.row("thr_03").tap()
    expect(rows).to_have_count(0)
    finger = Finger(phone.page, "thr_02")
    expect(rows).to_have_count(1)
    finger.move(0.5 * finger.width)  # a rest is no drawing any more
    finger.lift()
    assert phone.calls("mail.archive") == []
    phone.at("/p/mail")
    phone.page.evaluate("() => document.querySelector('#row-thr_03').click()")  # as a key does, which is no finger
    phone.at("/p/mail/t/thr_03")
