"""A step on all that match: picked by key, mouse and finger, done at once here, taken back as one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.sizes import HANGS_S
from tests.support.browser import PHONE, App, intercept, until
from tests.web import fake_mail
from tests.web.fake_server import MODULES, FakeAnswers, Refusal

pytestmark = pytest.mark.browser

MANY = 520
"""More than can be picked one by one (MAX_PICKED in static/mail/selection.js)."""
LOAD_ALL = """async base => {
    const list = (await import(base + "/mail/lists.js")).listOf("inbox", null);
    while (!list.complete) await list.more();
}"""
LOOKS = os.environ.get("SVC_LOOKS")
"""A folder for pictures of the pages, where somebody wants to look at them."""


def full() -> FakeAnswers:
    return FakeAnswers(threads=fake_mail.many(MANY))


def look(page: Page, name: str) -> None:
    if LOOKS:
        page.screenshot(path=f"{LOOKS}/{name}.png")


@pytest.mark.thorough
def test_the_key_picks_what_is_loaded_then_all_that_match_then_nothing(start: Callable[..., App]) -> None:
    app = start(full())
    page = app.open()
    bar = page.get_by_role("toolbar", name="Picked threads")
    app.press("*")
    expect(page.get_by_role("status").filter(has_text="loaded so far are picked")).to_have_count(1)
    look(page, "loaded")
    page.evaluate(LOAD_ALL, MODULES)
    app.press("Escape", "*")
    expect(page.get_by_role("status").filter(has_text="The first 500 threads are picked.")).to_have_count(1)
    app.press("*")
    expect(page.get_by_role("status").filter(has_text=f"All {MANY} threads in Inbox are picked.")).to_have_count(1)
    expect(bar).to_contain_text(str(MANY))
    look(page, "all")
    assert app.complaints() == []
    app.press("*")
    bar.wait_for(state="detached")
    app.press("Control+a", "Control+a")
    bar.wait_for()
    app.press("Escape")
    bar.wait_for(state="detached")
    assert app.calls("mail.actOnAll") == []


@pytest.mark.thorough
def test_an_action_before_the_count_waits_for_all_that_match(start: Callable[..., App]) -> None:
    app = start(full())
    page = app.open()
    held: list[Route] = []
    intercept(page, "**/trpc/mail.selectAll*", lambda route: held.append(route))
    app.press("*", "*")
    app.press("e", "e")
    waiting = page.get_by_role("status").filter(has_text="Counting all in Inbox. Your action follows.")
    expect(waiting).to_have_count(1)
    app.press("Escape", "*", "*", "e")  # picked anew: the first action no longer waits
    expect(waiting).to_have_count(1)
    until(page, lambda: len(held) == 2)
    for route in held:
        route.continue_()
    page.get_by_text(f"{MANY} threads archived").wait_for()
    assert [step["do"] for step in app.called("mail.actOnAll")] == ["archive"]
    assert app.calls("mail.archive") == []


@pytest.mark.thorough
def test_an_action_before_a_count_that_fails_changes_nothing(start: Callable[..., App]) -> None:
    app = start(full())
    page = app.open()
    app.tolerated = ("503",)
    app.answers.failing["mail.selectAll"] = Refusal("SERVICE_UNAVAILABLE", 503, "Busy.")
    held: list[Route] = []
    intercept(page, "**/trpc/mail.selectAll*", lambda route: held.append(route))
    app.press("*", "*", "#")
    until(page, lambda: len(held) == 1)
    held[0].continue_()
    page.get_by_text("Could not pick all: Busy. Nothing was changed.").wait_for()
    app.row("thr_m000000").wait_for()
    assert (app.calls("mail.setLabels"), app.calls("mail.actOnAll")) == ([], [])


@pytest.mark.thorough
def test_an_action_before_the_count_is_told_of_where_the_list_is_left(start: Callable[..., App]) -> None:
    app = start(full())
    page = app.open()
    held: list[Route] = []
    intercept(page, "**/trpc/mail.selectAll*", lambda route: held.append(route))
    app.press("*", "*", "e", "g", "d")
    page.get_by_text("Nothing was changed: you left the list before its threads were counted.").wait_for()
    until(page, lambda: len(held) == 1)
    held[0].continue_()
    app.press("g", "i")
    app.row("thr_m000000").wait_for()
    assert app.calls("mail.actOnAll") == []


@pytest.mark.thorough
def test_all_are_archived_as_one_step_and_one_undo_brings_all_back(start: Callable[..., App]) -> None:
    app = start(full())
    page = app.open()
    app.press("*", "*")
    page.get_by_text(f"All {MANY} threads in Inbox are picked.").last.wait_for()
    app.press("e")
    page.get_by_text(f"{MANY} threads archived").wait_for()
    assert app.called("mail.actOnAll") == [{"id": "blk_0", "do": "archive"}]
    expect(page.get_by_role("grid", name="Inbox", exact=True)).to_have_count(0)
    assert not any(row["inInbox"] for row in app.answers.threads)
    look(page, "archived")
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Back from the archive").wait_for()
    app.row("thr_m000000").wait_for()
    assert all(row["inInbox"] for row in app.answers.threads)
    assert app.calls("mail.archive") == []


def with_all_picked(start: Callable[..., App]) -> App:
    """At a server whose steps go on until they are stopped."""
    answers = full()
    answers.slow = True
    app = start(answers)
    app.open().locator("[data-thread]").first.wait_for()
    app.press("*", "*")
    app.page.get_by_text(f"All {MANY} threads in Inbox are picked.").last.wait_for()
    return app


@pytest.mark.thorough
def test_a_step_that_goes_on_shows_how_far_it_is_and_can_be_stopped(start: Callable[..., App]) -> None:
    app = with_all_picked(start)
    page = app.page
    app.press("#")
    strip = page.locator(".acting-strip")
    expect(strip).to_contain_text(f"Moving to the trash: 0 of {MANY} threads")
    app.row("thr_m000000").wait_for(state="detached")
    look(page, "acting")
    assert app.complaints() == []
    page.reload()
    strip.get_by_role("button", name="Stop").click()
    strip.wait_for(state="detached")
    assert app.called("mail.stopActing") == [{"id": "blk_0"}]


@pytest.mark.thorough
def test_an_answer_from_before_the_end_of_a_step_does_not_bring_it_back(start: Callable[..., App]) -> None:
    app = with_all_picked(start)
    page, answers = app.page, app.answers
    app.press("e")
    strip = page.locator(".acting-strip")
    strip.wait_for()
    asked, let_go = len(app.calls("mail.acting")), threading.Event()

    def hook() -> None:
        if len(app.calls("mail.acting")) > asked + 1:
            answers.lock.release()  # the others go on meanwhile
            let_go.wait(HANGS_S)
            answers.lock.acquire()

    answers.acting_hook = hook
    page.reload()
    strip.wait_for()
    app.settled()
    answers.forget_events()  # the running steps are fetched again
    app.called("mail.acting", times=asked + 2)
    strip.get_by_role("button", name="Stop").click()
    strip.wait_for(state="detached")
    answers.acting_hook = None
    let_go.set()
    app.settled()
    expect(strip).to_have_count(0)


@pytest.mark.thorough
def test_it_says_what_was_left_alone_and_fetches_its_list_anew(start: Callable[..., App]) -> None:
    app = with_all_picked(start)
    page, answers = app.page, app.answers
    app.press("e")
    page.locator(".acting-strip").wait_for()
    answers.add(id="thr_new", subject="Just in")
    app.row("thr_new").wait_for()
    answers.finish("blk_0", passed=2)
    page.get_by_text("2 threads left alone").wait_for()
    page.locator(".acting-strip").wait_for(state="detached")
    app.row("thr_new").wait_for()
    assert answers.thread("thr_new")["inInbox"]


def test_a_refusal_puts_everything_back(start: Callable[..., App]) -> None:
    app = start(full())
    page = app.open()
    app.press("*", "*")
    page.get_by_text(f"All {MANY} threads in Inbox are picked.").last.wait_for()
    app.tolerated = ("404",)
    app.answers.failing["mail.actOnAll"] = Refusal("NOT_FOUND", 404, "Choose again.")
    app.press("e")
    page.get_by_text("Could not archive: Choose again.").wait_for()
    app.row("thr_m000000").wait_for()
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)


@pytest.mark.thorough
def test_letting_go_of_one_row_lets_go_of_what_is_out_of_sight(start: Callable[..., App]) -> None:
    app = start(full())
    page = app.open()
    app.press("*", "*")
    page.get_by_text(f"All {MANY} threads in Inbox are picked.").last.wait_for()
    app.row("thr_m000001").locator(".row-pick").click()
    expect(page.get_by_role("toolbar", name="Picked threads")).not_to_contain_text(str(MANY))
    app.press("e")
    page.get_by_text("threads archived").wait_for()
    assert app.calls("mail.actOnAll") == []


@pytest.mark.thorough
def test_a_label_and_a_time_are_asked_for_all_that_match_and_all_that_is_snoozed_comes_back(
    start: Callable[..., App],
) -> None:
    app = start(full())
    page = app.open()
    app.press("*", "*")
    page.get_by_text(f"All {MANY} threads in Inbox are picked.").last.wait_for()
    app.press("l")
    dialog = page.get_by_role("dialog", name="Labels")
    expect(dialog).to_contain_text(f"{MANY} threads")
    dialog.get_by_role("combobox").fill("Invoices")
    page.keyboard.press("Enter")
    page.get_by_text(f"{MANY} threads labelled “Invoices”").wait_for()
    assert app.called("mail.actOnAll") == [{"id": "blk_0", "do": "label", "label": "Invoices"}]
    app.press("*", "*")
    page.get_by_text(f"All {MANY} threads in Inbox are picked.").last.wait_for()
    app.press("h")
    page.get_by_role("dialog", name="Snooze").get_by_role("combobox").fill("tomorrow 9am")
    page.keyboard.press("Enter")
    page.get_by_text(f"{MANY} threads snoozed until").wait_for()
    (_, snoozed) = app.called("mail.actOnAll", times=2)
    assert (snoozed["do"], snoozed["until"][-1]) == ("snooze", "Z")
    app.chord("g", "z")
    page.get_by_role("grid", name="Snoozed").locator("[data-thread]").first.wait_for()
    app.press("*", "*")
    page.get_by_text(f"All {MANY} threads in Snoozed are picked.").last.wait_for()
    assert app.calls("mail.selectAll")[-1] == {"snoozed": True}
    expect(page.get_by_role("toolbar", name="Picked threads").get_by_role("button", name="Archive")).to_have_count(0)
    app.press("e")
    page.get_by_text("Nothing of Snoozed is in the inbox.").wait_for()  # and no step begins
    app.press("i")
    page.get_by_text(f"{MANY} threads moved to the inbox").wait_for()
    assert app.called("mail.actOnAll", times=3)[2] == {"id": "blk_2", "do": "inbox"}


@pytest.mark.thorough
def test_with_the_mouse_and_a_filter_the_head_picks_and_a_strip_offers_the_rest(start: Callable[..., App]) -> None:
    app = start(FakeAnswers(threads=fake_mail.many(6 * MANY)))
    page = app.open("/p/mail?only=unread")
    page.get_by_role("button", name="Pick all in Inbox").click()
    page.get_by_role("button", name="Pick all among unread threads in Inbox").click()
    count = sum(row["unread"] for row in app.answers.threads)
    page.get_by_text(f"All {count} threads among unread threads in Inbox are picked.").last.wait_for()
    assert app.called("mail.selectAll") == [{"section": "inbox", "only": "unread"}]
    page.get_by_role("toolbar", name="Picked threads").get_by_role("button", name="Mark as read").click()
    page.get_by_text(f"{count} threads marked as read").wait_for()


@pytest.mark.thorough
def test_on_a_phone_the_bar_picks_all(start: Callable[..., App]) -> None:
    app = start(full(), viewport=PHONE, has_touch=True, is_mobile=True)
    page = app.open()
    page.evaluate(
        """() => document.querySelector("#row-thr_m000002").dispatchEvent(
            new PointerEvent("contextmenu", { pointerType: "touch", bubbles: true, cancelable: true }))"""
    )
    bar = page.get_by_role("toolbar", name="Picked threads")
    bar.get_by_role("button", name="Pick all").tap()
    page.get_by_role("button", name="Pick all in Inbox").last.tap()
    page.get_by_text(f"All {MANY} threads in Inbox are picked.").last.wait_for()
    look(page, "phone")
    assert app.complaints() == []
    bar.get_by_role("button", name="Archive").tap()
    page.get_by_text(f"{MANY} threads archived").wait_for()
