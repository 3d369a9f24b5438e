"""The task queue: what is scheduled, in trouble or gone, in plain words, live, and what one can do about each."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import App
from tests.web.fake_compose import instant
from tests.web.fake_server import Refusal
from tests.web.writer import draft, ready, text, window

pytestmark = pytest.mark.browser


def tasks(app: App) -> Page:
    return app.open("/p/tasks", ready=".tasks-frame :is(h2, .empty-title)")


def row(page: Page, subject: str) -> Locator:
    return page.get_by_role("listitem").filter(has_text=subject)


def ago(**before: float) -> str:
    return instant(datetime.now(UTC) - timedelta(**before))


def test_an_empty_queue_says_how_to_schedule(app: App) -> None:
    page = tasks(app)
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    expect(page.get_by_text("The clock beside Send")).to_be_visible()


def test_each_state_has_its_words_and_its_deeds(app: App) -> None:
    answers = app.answers
    answers.add_outgoing(subject="Soon", to=["Ann <ann@x.example>", "b@x.example", "c@x.example", "d@x.example"])
    answers.add_outgoing(subject="Late", state="overdue", sendAt=ago(hours=13))
    answers.add_outgoing(subject="Refused", state="failed", attempts=1, lastError="No such mailbox")
    answers.add_outgoing(subject="Lost", state="uncertain", attempts=1)
    answers.add_outgoing(subject="Going", state="transmitting")
    quota: dict[str, Any] = {"lastError": "The quota is used up", "nextAttemptAt": ago(seconds=-90)}
    answers.add_outgoing(subject="Once more", attempts=3, **quota)
    answers.add_outgoing(subject="Gone", state="sent", sendAt=ago(hours=1))
    page = tasks(app)
    deeds: dict[str, tuple[str, list[str]]] = {
        "Soon": ("Goes out", ["Edit", "Send now", "Another time", "Cancel"]),
        "Late": ("more than 12 hours ago", ["Edit", "Send now", "Another time", "Cancel"]),
        "Refused": ("No such mailbox.", ["Try again", "Edit", "Put away"]),
        "Lost": ("the provider’s answer never came", ["Send again", "Edit", "Put away"]),
        "Going": ("It is being handed to the mail provider.", []),
        "Once more": ("The quota is used up. Next attempt", ["Edit", "Send now", "Another time", "Cancel"]),
        "Gone": ("Sent ", []),
    }
    for subject, (words, buttons) in deeds.items():
        expect(row(page, subject)).to_contain_text(words)
        expect(row(page, subject).get_by_role("button")).to_have_text(buttons)
    expect(row(page, "Soon")).to_contain_text("Ann, b@x.example, c@x.example and 1 other")
    expect(page.get_by_role("link", name="Tasks, 5: 2 scheduled, 3 need your decision")).to_be_visible()


def test_rows_move_before_the_eyes(app: App) -> None:
    page = tasks(app)
    key = app.answers.add_outgoing(subject="Moving")
    app.answers.move_outgoing(key, state="scheduled")
    expect(page.get_by_role("region", name="Scheduled").get_by_text("Moving")).to_be_visible()
    app.answers.move_outgoing(key, state="sent")
    expect(page.get_by_role("region", name="In the last 24 hours").get_by_text("Moving")).to_be_visible()
    expect(page.get_by_text("The clock beside Send")).to_be_visible()


def test_edit_takes_it_back_and_opens_it(app: App) -> None:
    app.answers.add_outgoing(subject="Soon", was={"subject": "Soon", "html": "<div>the words</div>"})
    page = tasks(app)
    page.get_by_role("button", name="Edit: Soon").click()
    ready(page)
    expect(text(page)).to_have_text("the words")
    expect(row(page, "Soon")).to_contain_text("Taken back")
    app.press("Escape")
    expect(window(page)).to_have_count(0)


@pytest.mark.thorough
def test_cancel_asks_and_leaves_a_draft(app: App) -> None:
    app.answers.add_outgoing(subject="Soon")
    page = tasks(app)
    page.get_by_role("button", name="Cancel: Soon").click()
    page.get_by_role("button", name="Don’t send it").click()
    expect(page.get_by_text("It is among your drafts.")).to_be_visible()
    draft(app)


@pytest.mark.thorough
def test_the_queue_is_walked_and_worked_off_by_keyboard(app: App) -> None:
    app.answers.add_outgoing(subject="Soon")
    app.answers.add_outgoing(subject="Old", state="failed")
    app.answers.add_outgoing(subject="Wrong", state="failed", was={"subject": "Wrong", "html": "<div>the words</div>"})
    page = tasks(app)
    app.press("j")
    expect(row(page, "Wrong")).to_be_focused()
    app.press("j", "j", "j")
    expect(row(page, "Soon")).to_be_focused()
    app.press("h")
    expect(page.get_by_role("dialog", name="Send later")).to_be_visible()
    app.press("Escape")
    expect(page.get_by_role("dialog", name="Send later")).to_have_count(0)
    app.press("Home", "ArrowDown")
    expect(row(page, "Old")).to_be_focused()
    app.press("#")
    page.get_by_role("button", name="Put it away: Old").press("Enter")
    expect(row(page, "Old")).to_have_count(0)
    app.press("k")
    expect(row(page, "Soon")).to_be_focused()
    app.press("Control+Enter")
    expect(row(page, "Soon")).to_contain_text("Being sent")
    app.press("Home", "?")
    expect(page.get_by_role("dialog")).to_contain_text("Send now, or again")
    app.press("Escape")
    expect(row(page, "Wrong")).to_be_focused()
    app.press("Enter")
    ready(page)
    expect(text(page)).to_have_text("the words")
    expect(row(page, "Wrong")).to_have_count(0)
    expect(page.get_by_role("link", name="Tasks", exact=True)).to_be_visible()


def test_what_may_have_been_sent_is_edited_only_after_a_warning(app: App) -> None:
    app.answers.add_outgoing(subject="Lost", state="uncertain")
    page = tasks(app)
    page.get_by_role("button", name="Edit: Lost").click()
    expect(page.get_by_text("If the first one did arrive, this is a second one.")).to_be_visible()
    assert app.calls("mail.dismissOutgoing") == []
    page.get_by_role("button", name="Edit it: Lost").click()
    ready(page)


@pytest.mark.thorough
def test_another_time_moves_it(app: App) -> None:
    app.answers.add_outgoing(subject="Soon")
    page = tasks(app)
    page.get_by_role("button", name="Another time: Soon").click()
    panel = page.get_by_role("dialog", name="Send later")
    page.keyboard.type("4 mar 2031 9:15")
    expect(panel.get_by_role("option").first).to_contain_text("4 Mar 2031, 09:15")
    expect(panel.get_by_text(re.compile("Time zone: "))).to_be_visible()
    app.press("Enter")
    expect(page.get_by_role("dialog", name="Send later")).to_have_count(0)
    expect(page.get_by_role("listitem").filter(has_text="Soon")).to_contain_text("4 Mar 2031, 09:15")


@pytest.mark.parametrize(
    ("state", "press", "procedure"),
    [
        ("scheduled", ["Send now: Soon"], "mail.reschedule"),
        ("overdue", ["Send now: Soon"], "mail.retrySend"),
        ("failed", ["Try again: Soon"], "mail.retrySend"),
        ("uncertain", ["Send again: Soon", "Send it again: Soon"], "mail.retrySend"),
    ],
)
def test_a_word_of_the_person_sends_it(app: App, state: str, press: list[str], procedure: str) -> None:
    key = app.answers.add_outgoing(subject="Soon", state=state)
    page = tasks(app)
    for name in press:
        assert app.calls(procedure) == []
        page.get_by_role("button", name=name).click()
    expect(row(page, "Soon")).to_contain_text("Being sent")
    assert app.called(procedure)[0]["id"] == key


def test_a_refusal_is_told_beside_the_button(app: App) -> None:
    app.tolerated = ("409",)
    app.answers.add_outgoing(subject="Soon")
    page = tasks(app)
    app.answers.failing["mail.reschedule"] = Refusal("CONFLICT", 409, "It is on its way already.")
    page.get_by_role("button", name="Send now: Soon").click()
    expect(row(page, "Soon").get_by_role("alert")).to_have_text("It is on its way already.")


@pytest.mark.thorough
def test_a_signature_is_written_in_the_settings_and_used(app: App) -> None:
    page = app.open("/settings/signatures", ready=".signature .rich-text[contenteditable=true]")
    editor = page.get_by_role("textbox", name="Signature of mia@ternandtide.example")
    editor.click()
    page.keyboard.type("Mia ")
    app.press("Control+b")
    page.keyboard.type("Tern")
    page.get_by_role("button", name="Save the signature of mia@ternandtide.example").click()
    expect(page.get_by_text("Signature saved.")).to_be_visible()
    assert app.called("mail.setSignature") == [{"accountId": "acc_mia", "html": "<div>Mia&nbsp;<b>Tern</b></div>"}]
    page.get_by_role("link", name="svc, to the inbox").click()
    page.locator("[data-thread]").first.wait_for()
    app.press("c")
    ready(page)
    expect(text(page).locator("[data-signature] b")).to_have_text("Tern")
