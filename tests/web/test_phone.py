"""On a phone: the list is pulled to ask for mail, the keyboard and the edges of the screen cover nothing."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import PHONE, App, drawn, still
from tests.web.fake_accounts import AccountsAnswers
from tests.web.fake_mail import HELLO, HOME, MIA
from tests.web.fake_server import FakeAnswers
from tests.web.test_people import Peopled
from tests.web.test_swipe import Finger
from tests.web.writer import fill, ready, saved

pytestmark = pytest.mark.browser

NARROW: dict[str, Any] = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
KEYBOARD_PX = 336
NOTCH: dict[str, int] = {"top": 47, "bottom": 34, "left": 0, "right": 0}
"""Of a phone that stands upright, in px."""
LEAST_TYPE_PX = 16
"""Phones zoom into a field whose type is smaller."""


class Answering(FakeAnswers):
    """Each check finds a mail, or, where ``away`` says so, nobody."""

    away = False
    fresh = ""

    def rpc_mail_retryfailures(self, given: dict[str, Any]) -> Any:
        if self.away:
            self.set_account(given["accountId"], state="waiting", problem="Gmail can't be reached.")
        elif given["accountId"] == MIA:
            self.fresh = self.add(account=MIA, subject="Fresh from the quay")
        return {}


@pytest.mark.thorough
def test_pulled_down_the_list_asks_for_mail_and_says_how_it_went(start: Callable[..., App]) -> None:
    answers = Answering()
    app = start(answers, **NARROW)
    page = app.open()
    sign = page.locator(".pull-sign")

    finger = Finger(page, "thr_01")
    finger.move(0, 60)
    expect(sign).to_have_text("Pull to check")
    finger.lift()
    expect(sign).to_have_count(0)
    assert app.calls("mail.retryFailures") == []

    finger = Finger(page, "thr_01")
    finger.move(0, 160)
    expect(sign).to_have_text("Let go to check")
    finger.lift()
    expect(page.get_by_text("Your mail is up to date.")).to_be_visible()
    expect(app.row(answers.fresh)).to_be_visible()
    asked = [one["accountId"] for one in app.called("mail.retryFailures", times=3)]
    assert sorted(asked) == sorted([MIA, HELLO, HOME])
    expect(sign).to_have_count(0)
    app.at("/p/mail")

    answers.away = True
    page.locator(".sync-button").tap()
    page.get_by_role("button", name="Check now").tap()
    expect(page.get_by_text("can’t be reached now: Gmail can't be reached.")).to_be_visible()


@pytest.mark.thorough
def test_below_its_beginning_the_list_only_scrolls(start: Callable[..., App]) -> None:
    app = start(Answering(), **NARROW)
    page = app.open()
    page.locator(".lists").evaluate("one => one.scrollTo(0, 300)")
    app.until("() => document.querySelector('.lists').scrollTop === 300")
    page.locator(".row").filter(visible=True).nth(6).wait_for()
    row = page.evaluate("() => document.elementFromPoint(200, 450).closest('[data-thread]').dataset.thread")
    finger = Finger(page, row)
    finger.move(0, 200)
    app.until("() => document.querySelector('.lists').scrollTop < 200")
    expect(page.locator(".pull-sign")).to_have_count(0)
    finger.lift()
    assert app.calls("mail.retryFailures") == []


@pytest.mark.thorough
def test_the_keyboard_covers_nothing_that_is_written(start: Callable[..., App]) -> None:
    """As on an iPhone, which lays it over the page and tells only the visual viewport."""
    app = start(**NARROW)
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    page.get_by_role("button", name="Reply", exact=True).last.tap()
    body = page.get_by_role("textbox", name="Message")
    expect(body).to_be_focused()
    expect(page.get_by_role("navigation", name="Main places")).to_be_hidden()
    open_keyboard(page)
    above = PHONE["height"] - KEYBOARD_PX
    send = page.get_by_role("button", name="Send", exact=True)
    app.wait(lambda: max(bottom_of(body), bottom_of(send)) <= above, what="both to stand above the keyboard")
    the_line_that_is_written_stays_above(page, page.get_by_role("toolbar", name="Formatting"))
    page.get_by_role("button", name="Link", exact=True).tap()
    link, tools = page.locator(".link-form"), page.get_by_role("toolbar", name="Formatting")
    link.wait_for()
    bars = (link, tools, page.locator(".compose-foot"))
    stacked = [bottom_of(upper) <= top_of(lower) for upper, lower in pairwise(bars)]
    assert stacked == [True, True], "one of the bars that stay in sight covers another"
    page.get_by_role("button", name="Snippets", exact=True).tap()
    page.locator(".snippet-menu").wait_for()
    assert bottom_of(bars[1]) <= top_of(bars[2]), "the bar to send covers what was opened above it"
    saved(page)
    page.goto(f"{app.origin}/p/mail")
    page.get_by_role("button", name="Later").tap()  # what was left open is offered, above Compose
    page.get_by_role("button", name="Compose").tap()
    body.wait_for()
    open_keyboard(page)
    app.wait(lambda: bottom_of(send) <= above, what="the window to end above the keyboard")
    body.tap()
    the_line_that_is_written_stays_above(page, page.locator(".compose-foot"))
    the_smallest_has_room_for_a_name_the_tools_and_the_times(page)


@pytest.mark.thorough
def test_the_back_gesture_closes_the_message_and_not_the_page_behind(start: Callable[..., App]) -> None:
    """On a desktop the same request comes from Escape, where nothing else takes it."""
    app = start(**NARROW)
    page = app.open()
    page.get_by_role("button", name="Compose").tap()
    ready(page)
    page.get_by_label("Subject").fill("Tides")
    saved(page)
    go_back(app)
    expect(page.get_by_text("Kept as a draft.")).to_be_visible()
    expect(page.get_by_role("dialog", name="New message")).to_have_count(0)
    app.at("/p/mail")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("button", "opened"),
    [("Send later", "role=dialog[name='Send later']"), ("Link", ".link-form"), ("Snippets", ".snippet-menu")],
)
def test_the_back_gesture_closes_what_is_open_in_the_message_before_the_message(
    start: Callable[..., App], button: str, opened: str
) -> None:
    app = start(**NARROW)
    page = app.open()
    page.get_by_role("button", name="Compose").tap()
    ready(page)
    page.get_by_role("button", name=button, exact=True).tap()
    page.locator(opened).wait_for()
    go_back(app)
    expect(page.locator(opened)).to_have_count(0)
    expect(page.get_by_role("dialog", name="New message")).to_be_visible()


@pytest.mark.thorough
def test_a_notice_is_above_the_mail_that_is_being_sent(start: Callable[..., App]) -> None:
    app = start(**NARROW)
    page = app.open()
    page.get_by_role("button", name="Compose").tap()
    ready(page)
    fill(page)
    page.get_by_role("button", name="Send", exact=True).tap()
    sending = page.locator(".sending")
    sending.wait_for()
    app.press("j", "e")
    notice = page.locator(".toasts .toast")
    notice.wait_for()
    still(page)
    assert bottom_of(notice) <= sending.evaluate("one => one.getBoundingClientRect().top")


@pytest.mark.thorough
def test_a_page_that_a_link_leads_to_begins_at_its_top_also_after_the_drawer_was_closed(
    start: Callable[..., App],
) -> None:
    app = start(Peopled(), **NARROW)
    page = app.open("/p/people", ready=".contact")
    top = "() => document.querySelector('.panel.scrolls').scrollTop"
    page.evaluate("() => document.querySelector('.panel.scrolls').scrollTo(0, 500)")
    app.until("() => document.querySelector('.panel.scrolls').scrollTop === 500")
    drawer = page.get_by_role("dialog", name="All places")
    to_place(page, "Tasks")
    page.get_by_role("heading", name="Tasks").wait_for()
    page.get_by_role("button", name="All places").tap()
    drawer.get_by_role("button", name="Close").tap()
    expect(drawer).to_have_count(0)
    app.until("() => !history.state?.drawer")
    to_place(page, "People")
    page.locator(".contact").first.wait_for()
    drawn(page)
    assert page.evaluate(top) == 0


@pytest.mark.thorough
def test_no_field_makes_the_phone_zoom_in(start: Callable[..., App]) -> None:
    app = start(AccountsAnswers(), **NARROW)
    page = app.open()
    page.get_by_role("button", name="Compose").tap()
    page.get_by_role("textbox", name="Subject").wait_for()
    assert small_fields(page) == []
    page.goto(f"{app.origin}/settings/accounts")
    page.get_by_text("Add another address").first.tap()
    assert small_fields(page) == []


@pytest.mark.thorough
def test_a_notch_and_the_bar_below_cover_nothing(start: Callable[..., App]) -> None:
    app = start(alone=True, **NARROW)
    page = app.page
    page.context.new_cdp_session(page).send("Emulation.setSafeAreaInsetsOverride", {"insets": NOTCH})
    app.open()
    parts = [
        page.get_by_role("button", name="All places"),
        page.get_by_role("link", name="Mail,").last,
        page.get_by_role("button", name="Compose"),
    ]
    for part in parts:
        assert inside(part), part
    page.get_by_role("button", name="More", exact=True).tap()
    drawer = page.get_by_role("dialog", name="All places")
    assert inside(drawer.get_by_role("button", name="Close"))
    assert inside(drawer.get_by_role("link", name="Settings"))
    drawer.get_by_role("button", name="Close").tap()
    page.get_by_role("button", name="Compose").tap()
    assert inside(page.get_by_role("button", name="Close", exact=False).last)
    assert inside(page.get_by_role("button", name="Send", exact=True))


def the_smallest_has_room_for_a_name_the_tools_and_the_times(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    page.get_by_role("combobox", name="To").press_sequentially("somebody@example.org,")
    fits = "one => one.scrollWidth <= one.clientWidth"
    assert page.locator(".person bdi").evaluate(fits)
    tools = page.get_by_role("toolbar", name="Formatting").get_by_role("button")
    assert len({round(top_of(one)) for one in tools.all() if one.is_visible()}) == 1
    page.get_by_role("button", name="Send later").tap()
    assert page.get_by_role("dialog", name="Send later").evaluate(fits)


def the_line_that_is_written_stays_above(page: Page, bar: Any) -> None:
    for _ in range(30):
        page.keyboard.press("Enter")
    assert caret_bottom(page) <= top_of(bar), "a new line begins below the bar"
    page.keyboard.type("And one more thing")
    assert caret_bottom(page) <= top_of(bar), "one writes below the bar"


def caret_bottom(page: Page) -> float:
    return float(
        page.evaluate(
            """() => {
                const { focusNode } = getSelection();
                return (focusNode.closest?.("*") ?? focusNode.parentElement).getBoundingClientRect().bottom;
            }"""
        )
    )


def open_keyboard(page: Page) -> None:
    page.evaluate(
        """covered => {
            Object.defineProperty(visualViewport, "height", { value: innerHeight - covered, configurable: true });
            visualViewport.dispatchEvent(new Event("resize"));
        }""",
        KEYBOARD_PX,
    )


def bottom_of(part: Any) -> float:
    return float(part.evaluate("one => one.getBoundingClientRect().bottom"))


def top_of(part: Any) -> float:
    return float(part.bounding_box()["y"])


def inside(part: Any) -> bool:
    box = part.bounding_box()
    assert box is not None
    return bool(box["y"] >= NOTCH["top"] and box["y"] + box["height"] <= PHONE["height"] - NOTCH["bottom"])


def small_fields(page: Page) -> list[str]:
    return list(
        page.evaluate(
            """least => [...document.querySelectorAll("input, select, textarea, [contenteditable=true]")]
                .filter(one => !["checkbox", "radio", "file"].includes(one.type))
                .filter(one => parseFloat(getComputedStyle(one).fontSize) < least).map(one => one.outerHTML)""",
            LEAST_TYPE_PX,
        )
    )


def go_back(app: App) -> None:
    """The gesture, where nothing on the page hears its key."""
    app.settled()
    app.until("() => { document.activeElement.blur(); return document.activeElement === document.body; }")
    app.press("Escape")


def to_place(page: Page, name: str) -> None:
    page.get_by_role("button", name="All places").tap()
    page.get_by_role("dialog", name="All places").get_by_role("link", name=name).tap()
