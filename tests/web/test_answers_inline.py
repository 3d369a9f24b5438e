"""An answer under its message: the keyboard, its place, other drafts, the window and back, archiving with it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import App, intercept
from tests.web.fake_mail import message
from tests.web.fake_server import Refusal
from tests.web.writer import chips, draft, give_file, people, ready, saved, taken, text, window

pytestmark = pytest.mark.browser

NEWEST = "[data-message=thr_00_6]"
CARD = "section.answer-card"


def answering(app: App, key: str = "r", *, thread: str = "thr_00") -> Page:
    """The thread, with an answer to its newest message begun by its key."""
    page = app.open(f"/p/mail/t/{thread}", ready="iframe")
    app.press(key)
    return ready(page)


def line(page: Page) -> Any:
    return page.locator(".answer-line")


@pytest.mark.thorough
def test_escape_keeps_the_draft_as_a_line_and_gives_the_thread_its_keys_and_once_more_the_list(app: App) -> None:
    page = answering(app)
    app.press("Escape", "Escape")  # an answer nobody wrote anything in leaves no trace
    app.at("/p/mail")
    page.locator("#row-thr_00").wait_for()
    expect(page.locator(".row-draft")).to_have_count(0)
    assert app.calls("mail.saveDraft") == []
    page.locator("#row-thr_00").click()
    page.locator("iframe").first.wait_for()
    app.press("r")
    ready(page)
    page.keyboard.type("Half a thought")
    app.press("Escape")
    expect(window(page)).to_have_count(0)
    expect(page.locator(f"{NEWEST} + .answer-line")).to_contain_text("Half a thought")
    expect(page.locator(NEWEST)).to_be_focused()
    draft(app, html="<div>Half a thought</div>")
    app.press("Escape")
    app.at("/p/mail")
    expect(page.locator("#row-thr_00 .row-draft")).to_have_text(re.compile("Draft"))


@pytest.mark.thorough
def test_each_message_has_an_answer_of_its_own_with_which_the_same_key_goes_on(app: App) -> None:
    page = answering(app)
    page.keyboard.type("So far")
    app.press("Escape")
    line(page).wait_for()
    app.press("a")
    ready(page)
    expect(text(page)).to_contain_text("So far")
    expect(people(page)).to_contain_text("To Jonas Feld, Cc Harbour Office")
    draft(app, cc=["Harbour Office <office@harbour.example>"])  # to all adds the others
    app.press("Escape")
    line(page).wait_for()
    page.locator("[data-message=thr_00_0]").focus()
    app.press("r")
    ready(page)
    expect(page.locator(f"[data-message=thr_00_0] + {CARD}")).to_have_count(1)
    expect(page.locator(f"{NEWEST} + .answer-line")).to_contain_text("So far")
    page.keyboard.type("To the first")
    line(page).click()
    ready(page)
    expect(page.locator(f"{NEWEST} + {CARD}")).to_have_count(1)
    expect(page.locator("[data-message=thr_00_0] + .answer-line")).to_contain_text("To the first")


@pytest.mark.thorough
def test_a_mail_that_comes_in_moves_neither_the_answer_nor_the_keyboard(app: App) -> None:
    page = answering(app)
    page.keyboard.type("I write")
    row = app.answers.thread("thr_00")
    known = app.answers.rpc_mail_thread({"id": "thr_00"})
    more = message(row, 8, day=0)
    app.answers.details["thr_00"] = {**app.answers.details["thr_00"], "messages": [*known["messages"], more]}
    app.answers.change("thr_00", messageCount=row["messageCount"] + 1)
    page.locator("[data-message=thr_00_8]").wait_for()
    page.keyboard.type(" on, e and j")
    expect(text(page)).to_have_text("I write on, e and j")
    expect(page.locator(f"{NEWEST} + {CARD}")).to_have_count(1)
    assert app.calls("mail.archive") == []


@pytest.mark.thorough
def test_out_of_the_answer_the_thread_has_its_keys_and_leaving_it_keeps_the_answer(app: App) -> None:
    page = answering(app)
    page.keyboard.type("Written")
    page.locator("h1").click()
    app.press("s")
    app.called("mail.setLabels")
    expect(window(page)).to_have_count(1)
    text(page).click()
    page.keyboard.type("s")
    expect(text(page)).to_contain_text("s")
    page.locator("h1").click()
    app.press("u")
    expect(page.locator("#row-thr_00 .row-draft")).to_have_count(1)  # its row says so
    draft(app, replyTo="thr_00")
    expect(window(page)).to_have_count(0)


@pytest.mark.thorough
def test_an_answer_that_cannot_be_kept_stays_in_sight_as_a_window(app: App) -> None:
    app.tolerated = ("503",)
    app.answers.failing["mail.saveDraft"] = Refusal("SERVICE_UNAVAILABLE", 503, "The disk is full.")
    page = answering(app)
    page.keyboard.type("Precious")
    expect(page.locator(".save-state")).to_contain_text("Not saved yet: The disk is full.")
    app.press("Escape")
    expect(page.locator(NEWEST)).to_be_focused()
    app.press("u")
    page.locator("section.compose").wait_for()
    expect(text(page)).to_have_text("Precious")
    app.answers.failing.clear()


@pytest.mark.thorough
def test_the_window_takes_the_answer_with_its_files_and_gives_it_back_with_the_caret_where_it_is(app: App) -> None:
    page = answering(app)
    page.keyboard.type("one three")
    for _ in range(5):
        app.press("ArrowLeft")
    app.press("Control+Shift+P")
    page.locator("section.compose .rich-text[contenteditable=true]").wait_for()
    expect(text(page)).to_be_focused()
    page.keyboard.type("two ")
    expect(line(page)).to_contain_text("written in the window")
    app.press("Control+Shift+P")
    page.locator(f"{NEWEST} ~ {CARD} .rich-text[contenteditable=true]").wait_for()
    expect(text(page)).to_be_focused()
    page.keyboard.type("and ")
    expect(text(page)).to_have_text("one two and three")
    saved(page)
    draft(app, html="<div>one two and three</div>")
    intercept(page, "**/files", lambda route: None)  # it never ends
    give_file(window(page), "drop", "film.mov", "video/quicktime", "frames")
    page.get_by_role("button", name="Cancel: film.mov").wait_for()
    app.press("Control+Shift+P")
    page.locator("section.compose").wait_for()
    page.get_by_role("button", name="Cancel: film.mov").click()
    expect(page.locator(".upload")).to_have_count(0)


@pytest.mark.thorough
def test_the_subject_and_the_full_screen_stand_in_its_menu(app: App) -> None:
    page = answering(app)
    page.get_by_role("button", name="More for this answer").click()
    page.get_by_role("button", name="Change the subject").click()
    subject = page.get_by_label("Subject")
    expect(subject).to_be_focused()
    expect(subject).to_have_value("Re: Quote for the harbour mural")
    subject.fill("Another matter")
    page.get_by_role("button", name="More for this answer").click()
    page.get_by_role("button", name="Write on the full screen").click()
    expect(page.locator("section.compose.full")).to_have_count(1)
    page.get_by_role("button", name="Full screen").click()
    expect(page.locator("section.compose.full")).to_have_count(0)
    draft(app, subject="Another matter")


@pytest.mark.thorough
def test_send_and_archive_goes_on_to_the_next_thread_and_one_undo_takes_both_back(app: App) -> None:
    page = answering(app)
    page.keyboard.type("Done.")
    app.press("Control+Shift+Enter")
    (sent,) = app.called("mail.send")
    (archived,) = app.called("mail.archive")
    assert archived == {"threadIds": ["thr_00"], "group": sent["group"]}
    app.at("/p/mail/t/thr_01")
    page.get_by_role("group", name="Sending:").get_by_role("button", name="Undo").click()
    app.at("/p/mail/t/thr_00")
    ready(page)
    expect(text(page)).to_contain_text("Done.")
    assert page.locator(".lists").evaluate("lists => lists.scrollTop") == 0  # not where it lay among the archived
    app.called("mail.unarchive")
    taken(app, state="cancelled")


@pytest.mark.thorough
def test_a_field_that_is_opened_has_the_keys_and_the_answer_stays_in_sight(app: App) -> None:
    app.page.set_viewport_size({"width": 1280, "height": 620})  # the card ends at the edge of the window
    page = answering(app)
    people(page).click()
    for name in ("Cc", "Bcc"):
        page.get_by_role("button", name=name, exact=True).click()
        field = page.get_by_role("combobox", name=name, exact=True)
        expect(field).to_be_focused()
        page.keyboard.type(f"{name}@sea.example,")
        expect(chips(page, name)).to_have_text([f"{name}@sea.example"])
    expect(page.locator(CARD)).to_be_in_viewport(ratio=1)  # nothing of it lies under its bar to send


@pytest.mark.thorough
def test_a_forward_begins_with_whom_it_goes_to(app: App) -> None:
    page = answering(app, "f")
    expect(page.get_by_role("combobox", name="To", exact=True)).to_be_focused()
    page.keyboard.type("ann@sea.example,")
    app.press("Escape")
    expect(line(page)).to_have_count(1)
    line(page).click()
    ready(page)
    people(page).click()
    expect(chips(page)).to_have_text(["ann@sea.example"])


@pytest.mark.thorough
def test_a_refusal_that_comes_after_the_thread_was_left_is_told_in_the_window(app: App) -> None:
    app.tolerated = ("403",)
    app.answers.failing["mail.send"] = Refusal("FORBIDDEN", 403, "This mailbox may not send.")
    page = answering(app)
    page.keyboard.type("Precious")
    sent = app.hold("mail.send")
    app.press("Control+Enter")
    sent.asked()
    page.locator("h1").click()
    app.press("u")
    app.at("/p/mail")
    sent.let_go()
    expect(page.locator("section.compose").get_by_role("alert")).to_have_text("Not sent: This mailbox may not send.")
    expect(text(page)).to_have_text("Precious")
