"""Races that were found by walks through the whole program, each kept as a test."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browser import PATIENCE_MS, TWICE, App, Held
from tests.web.fake_server import Refusal
from tests.web.writer import compose, fill, ready, text, window

pytestmark = pytest.mark.browser


def test_undo_leads_to_the_row_in_the_inbox_though_its_news_come_after_the_answer(app: App) -> None:
    def undo(given: dict[str, Any]) -> Any:
        app.answers.thread("thr_00").update(inInbox=True)
        return {"undone": {"id": "1", "what": "archive", "threadIds": ["thr_00"], "draftId": None}}

    app.answers.rpc_mail_undo = undo  # type: ignore[method-assign]
    page = app.open()
    app.press("j", "e")
    app.called("mail.archive")
    app.press("z")
    page.get_by_text("Back from the archive").wait_for()
    row = page.get_by_role("grid", name="Inbox").locator("#row-thr_00")
    expect(row).to_be_focused(timeout=PATIENCE_MS)
    app.answers.change("thr_00", snippet="The news of it.")
    expect(row).to_contain_text("The news of it.")
    expect(row).to_be_focused()
    app.until("() => document.querySelector('.lists').scrollTop === 0")


def test_letters_typed_right_after_the_slash_are_words_and_no_commands(app: App) -> None:
    page = app.open()
    app.press("j")
    focused = page.evaluate(
        """async () => {
            const slash = new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true });
            document.activeElement.dispatchEvent(slash);
            await Promise.resolve().then(() => {}).then(() => {}); // the next key may follow now
            return document.activeElement.getAttribute("aria-label");
        }"""
    )
    assert focused == "Search mail"


def test_letters_pressed_right_after_the_question_mark_are_no_commands(app: App) -> None:
    page = app.open()
    app.press("j")
    opened = page.evaluate(
        """async () => {
            const press = key => document.activeElement.dispatchEvent(
                new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
            press("?");
            await Promise.resolve().then(() => {}).then(() => {}); // the next key may follow now
            press("e");
            return document.querySelector("dialog.help").open;
        }"""
    )
    assert opened
    assert app.calls("mail.archive") == []


def undo_under_way(app: App) -> Held:
    """The first thread was archived, and the undo of it was pressed: its answer is held back."""
    app.open()
    app.press("j", "e")
    app.called("mail.archive")
    undo = app.hold("mail.undo")
    app.press("z")
    undo.asked()
    return undo


@pytest.mark.thorough
def test_who_goes_on_while_undo_is_on_its_way_stays_there(app: App) -> None:
    undo = undo_under_way(app)
    app.press("j", "j")
    app.focuses("thr_03")
    undo.let_go()
    app.page.get_by_text("Back from the archive").wait_for()
    app.settled()
    app.selects("thr_03")
    app.focuses("thr_03")


@pytest.mark.thorough
def test_who_goes_to_another_list_while_undo_is_on_its_way_keeps_the_selection_there(app: App) -> None:
    undo = undo_under_way(app)
    app.chord("g", "a")
    app.at("/p/mail/all")
    undo.let_go()
    app.page.get_by_text("Back from the archive").wait_for()
    app.settled()
    app.selects("thr_01")


@pytest.mark.thorough
def test_undo_takes_the_keyboard_from_no_field_when_its_answer_comes(app: App) -> None:
    undo = undo_under_way(app)
    app.press("/")
    undo.let_go()
    app.selects("thr_00")
    app.settled()
    expect(app.page.get_by_label("Search mail")).to_be_focused()


@pytest.mark.thorough
def test_keys_after_send_do_not_go_with_the_message(app: App) -> None:
    page = compose(app)
    save = app.hold("mail.saveDraft")
    fill(page, body="High at nine.")
    app.press("Control+Enter")
    save.asked()
    app.press("j")
    expect(text(page)).to_contain_text("nine.j")
    save.let_go()
    (sent,) = app.called("mail.send")
    assert sent["html"] == "<div>High at nine.</div>"


@pytest.mark.thorough
def test_letters_typed_while_a_mail_is_taken_back_go_into_it_and_are_no_commands(app: App) -> None:
    page = compose(app)
    fill(page)
    app.press("Control+Enter")
    expect(window(page)).to_have_count(0)
    app.press("j")
    app.focuses("thr_00")
    back = app.hold("mail.cancelSend")
    page.get_by_role("group", name="Sending:").get_by_role("button", name="Undo").click()
    back.asked()
    app.press("e")
    back.let_go()
    ready(page)
    expect(text(page)).to_have_text(re.compile("^e"))
    assert app.calls("mail.archive") == []


@pytest.mark.thorough
def test_the_keys_work_again_after_a_mail_was_taken_back_twice_and_too_late(app: App) -> None:
    app.tolerated = ("409",)
    page = compose(app)
    fill(page)
    app.press("Control+Enter")
    expect(window(page)).to_have_count(0)
    app.answers.failing["mail.cancelSend"] = Refusal("CONFLICT", 409, "It is on its way.")
    page.get_by_role("group", name="Sending:").get_by_role("button", name="Undo").evaluate(TWICE)
    page.get_by_text("Too late: it is on its way already.").first.wait_for()
    app.settled()
    app.press("j")
    app.focuses("thr_00")
