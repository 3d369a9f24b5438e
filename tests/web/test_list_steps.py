"""Steps on one thread and on many: star, unread, snooze, spam, delete; picking; taking back, also after a reload."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web import fake_mail
from tests.web.fake_server import FakeAnswers, Refusal

pytestmark = pytest.mark.browser


@pytest.mark.thorough
def test_steps_on_the_selected_thread_are_keys_or_in_the_menu_of_its_row(app: App) -> None:
    page = app.open()
    app.press("ArrowDown")  # the arrows and Home walk the list from its start
    app.focuses("thr_00")
    app.press("ArrowDown", "ArrowDown", "ArrowUp")
    app.focuses("thr_01")
    app.press("Home")
    app.focuses("thr_00")
    app.press("s")
    page.get_by_role("link", name="starred, ").wait_for()
    app.press("s")
    page.get_by_role("link", name="starred, ").wait_for(state="detached")
    starred, plain = app.called("mail.setLabels", times=2)
    assert (starred["add"], plain["remove"]) == (["STARRED"], ["STARRED"])
    app.press("Shift+U")
    page.get_by_role("link", name="Unread, Jonas Feld").first.wait_for(state="detached")
    read = {"threadIds": ["thr_00"], "add": [], "remove": ["UNREAD"]}
    assert app.called("mail.setLabels", times=3)[2:] == [read]
    app.press("Shift+U")
    page.get_by_role("link", name="Unread, Jonas Feld").first.wait_for()
    assert app.called("mail.markUnread") == [{"threadIds": ["thr_00"]}]
    app.focuses("thr_00")
    page.evaluate(
        "document.activeElement.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true }))"
    )
    page.keyboard.press("End")  # of the menu, which opens below the row
    expect(page.get_by_role("button", name="Report as spam")).to_be_focused()
    app.press("Enter")
    assert app.called("mail.setLabels", times=4)[3]["threadIds"] == ["thr_00"]


@pytest.mark.thorough
def test_delete_and_spam_take_the_thread_out_of_both_sections(app: App) -> None:
    page = app.open()
    for key, label, said in (("#", "TRASH", "Moved to the trash"), ("!", "SPAM", "Moved to spam")):
        before = len(app.calls("mail.setLabels"))
        app.row("thr_00").focus()
        app.press("ArrowDown")
        app.selects("thr_01")
        app.press(key)
        page.get_by_text(said).wait_for()
        app.row("thr_01").wait_for(state="detached")
        app.selects("thr_02")  # the next one is selected
        given = app.called("mail.setLabels", times=before + 1)
        assert given[before:] == [{"threadIds": ["thr_01"], "add": [label], "remove": ["INBOX"]}]
        page.get_by_role("navigation", name="Workspace").get_by_role("link", name=label.capitalize()).click()
        app.at(f"/p/mail/l/{label.capitalize()}")
        app.row("thr_00").wait_for(state="detached")
        app.row("thr_01").wait_for()
        with page.expect_response("**/trpc/mail.setLabels*"):
            app.press("j", "i")
        app.row("thr_01").wait_for(state="detached")
        assert app.answers.thread("thr_01")["inInbox"] is True
        app.chord("g", "i")
        app.at("/p/mail")
        app.row("thr_01").wait_for()


@pytest.mark.thorough
def test_rows_are_picked_one_by_one_by_the_range_and_all_at_once_and_let_go(app: App) -> None:
    page = app.open()
    app.press("j", "x", "Shift+J", "Shift+J")
    expect(page.locator("[role=row][aria-selected=true]")).to_have_count(3)
    app.press("j", "j", "Shift+X")
    expect(page.locator("[role=row][aria-selected=true]")).to_have_count(5)
    app.press("Escape")
    expect(page.locator("[role=row][aria-selected=true]")).to_have_count(0)
    app.selects("thr_04")
    app.row("thr_06").locator(".row-pick").click()
    app.row("thr_09").click(modifiers=["Shift"])
    expect(page.locator("[role=row][aria-selected=true]")).to_have_count(4)
    app.row("thr_07").locator(".row-pick").click()
    expect(page.locator("[role=row][aria-selected=true]")).to_have_count(3)
    app.at("/p/mail")  # picking opens nothing
    bar = page.get_by_role("toolbar", name="Picked threads")
    app.press("Escape")
    bar.wait_for(state="detached")
    app.press("*")
    expect(bar).to_have_text(re.compile(r"^44"))
    app.press("*")
    bar.wait_for(state="detached")


def test_x_picks_rows_for_one_step_and_the_bar_says_how_many(app: App) -> None:
    page = app.open()
    app.press("j", "x", "j", "j", "x")
    bar = page.get_by_role("toolbar", name="Picked threads")
    expect(bar).to_have_text(re.compile(r"^2"))
    app.press("e")
    app.row("thr_00").wait_for(state="detached")
    assert app.called("mail.archive") == [{"threadIds": ["thr_00", "thr_02"]}]
    page.get_by_text("2 threads archived").wait_for()
    bar.wait_for(state="detached")
    app.selects("thr_03")
    app.focuses("thr_03")


@pytest.mark.thorough
def test_a_row_is_a_link_that_a_browser_opens_beside(app: App) -> None:
    page = app.open()
    expect(app.row("thr_02")).to_have_attribute("href", "/p/mail/t/thr_02")
    with page.context.expect_page() as by_the_middle:
        app.row("thr_02").click(button="middle")
    by_the_middle.value.wait_for_url("**/p/mail/t/thr_02")
    with page.context.expect_page() as with_control:
        app.row("thr_03").click(modifiers=["Control"])
    with_control.value.wait_for_url("**/p/mail/t/thr_03")
    app.at("/p/mail")
    expect(page.locator("[role=row][aria-selected=true]")).to_have_count(0)


@pytest.mark.thorough
def test_the_row_under_the_mouse_has_buttons_that_leave_the_selection_where_it_is(app: App) -> None:
    page = app.open()
    app.press("j")
    app.selects("thr_00")
    app.row("thr_02").hover()
    page.locator(".row-acts [data-act=star]").click()
    app.called("mail.setLabels")
    page.locator(".row-acts [data-act=archive]").click()
    expect(app.row("thr_02")).to_have_count(0)
    assert app.called("mail.archive")[0]["threadIds"] == ["thr_02"]
    app.selects("thr_00")
    app.at("/p/mail")
    page.mouse.move(700, 5)
    expect(page.locator(".row-acts")).to_have_count(0)


@pytest.mark.thorough
def test_the_right_button_opens_a_menu_for_the_row_and_for_all_that_are_picked(app: App) -> None:
    page = app.open()
    menu = page.get_by_role("group", name="This thread")
    app.row("thr_03").click(button="right")
    expect(menu.get_by_role("button", name="Open", exact=True)).to_be_focused()
    expect(menu.get_by_role("link", name="Open in a new tab")).to_have_attribute(
        "href", re.compile("/p/mail/t/thr_03$")
    )
    app.press("Escape")
    expect(menu).to_be_hidden()
    for one in ("thr_03", "thr_04"):
        app.row(one).locator(".row-pick").click()
    app.row("thr_04").click(button="right")
    page.get_by_role("group", name="2 threads picked").get_by_role("button", name="Archive").click()
    assert sorted(app.called("mail.archive")[0]["threadIds"]) == ["thr_03", "thr_04"]


@pytest.mark.thorough
def test_z_takes_back_step_by_step_also_after_a_reload(app: App) -> None:
    page = app.open()
    app.press("j", "e")
    page.get_by_text("Archived").wait_for()
    app.press("s", "#")
    page.get_by_text("Moved to the trash").wait_for()
    app.wait(lambda: len(app.answers.steps) == 3, what="three steps at the server")
    assert [what for what, _ in app.answers.steps] == ["archive", "labels", "trash"]
    page.reload()
    app.row("thr_02").wait_for()
    app.press("z")
    page.get_by_text("Back from the trash: Paint samples").wait_for()
    app.row("thr_01").wait_for()
    app.focuses("thr_01")
    app.press("z")
    page.get_by_text("Labels as before").wait_for()
    app.press("z")
    app.row("thr_00").wait_for()
    app.press("z")
    page.get_by_text("There is nothing to undo.").wait_for()


def test_what_comes_back_is_called_by_its_subject_also_before_the_news_of_it(app: App) -> None:
    trashed = app.answers.thread("thr_01")
    trashed.update(inInbox=False, hidden=True)

    def undo(given: dict[str, Any]) -> Any:
        trashed.update(inInbox=True, hidden=False)
        return {"undone": {"id": "1", "what": "trash", "threadIds": ["thr_01"], "draftId": None}}

    app.answers.rpc_mail_undo = undo  # type: ignore[method-assign]
    page = app.open()
    app.press("z")
    page.get_by_text("Back from the trash: Paint samples").wait_for()


@pytest.mark.thorough
def test_undo_waits_for_the_step_that_is_still_being_told(app: App) -> None:
    page = app.open()
    app.press("j", "e", "z")
    page.get_by_text("Back from the archive").wait_for()
    app.row("thr_00").wait_for()
    names = [name for name, _ in app.answers.calls if name in {"mail.archive", "mail.undo"}]
    assert names == ["mail.archive", "mail.undo"]


def test_a_mail_that_was_held_back_opens_again(app: App) -> None:
    page = app.open()
    draft = app.answers.add_draft(subject="Not yet")
    undone = {"id": "1", "what": "send", "threadIds": [], "draftId": draft}
    app.answers.rpc_mail_undo = lambda given: {"undone": undone}  # type: ignore[method-assign]
    app.press("z")
    page.get_by_role("dialog").get_by_role("textbox", name="Subject").wait_for()
    expect(page.get_by_role("textbox", name="Subject")).to_have_value("Not yet")


@pytest.mark.thorough
def test_a_refused_step_puts_all_rows_back_and_says_why(app: App) -> None:
    app.tolerated = ("503",)
    page = app.open()
    app.answers.failing["mail.setLabels"] = Refusal("SERVICE_UNAVAILABLE", 503, "The disk is full.")
    app.press("j", "x", "j", "x", "#")
    page.get_by_text("Could not delete: The disk is full.").wait_for()
    app.row("thr_00").wait_for()
    app.row("thr_01").wait_for()


@pytest.mark.thorough
def test_h_snoozes_until_a_preset_and_the_thread_comes_back_with_a_word(app: App) -> None:
    page = app.open()
    app.press("j", "j", "h")
    page.get_by_role("dialog", name="Snooze").get_by_role("option", name="Tomorrow").first.click()
    page.get_by_text("Snoozed until").first.wait_for()
    app.focuses("thr_02")
    given = app.called("mail.snooze")[0]
    until = datetime.fromisoformat(given["until"]).astimezone()
    assert (given["threadIds"], until.hour, until.minute) == (["thr_01"], 8, 0)
    app.chord("g", "z")
    app.row("thr_01").wait_for()
    expect(page).to_have_title(re.compile(r"^\(3\) Snoozed"))
    app.answers.change("thr_01", snoozedUntil="2020-01-01T08:00:00.000Z")
    app.chord("g", "i")
    app.row("thr_00").wait_for()
    app.answers.change("thr_01", snoozedUntil=None, inInbox=True, unread=True)
    page.get_by_text("Back from snooze: Paint samples").wait_for()
    page.get_by_role("link", name="Back from snooze").wait_for()
    page.reload()
    page.get_by_role("link", name="Back from snooze").click()
    page.locator("iframe").first.wait_for()
    app.press("u")
    page.get_by_role("link", name="Back from snooze").wait_for(state="detached")


@pytest.mark.thorough
def test_a_thread_is_snoozed_until_a_time_of_ones_own_and_brought_back(app: App) -> None:
    page = app.open()
    app.press("j", "h")
    dialog = page.get_by_role("dialog", name="Snooze")
    page.keyboard.type("2020-01-01")
    dialog.get_by_text("That is in the past.").wait_for()
    later = datetime.now(UTC) + timedelta(days=400)
    dialog.get_by_role("combobox").fill(f"{later:%Y-%m-%d} 07:30")
    expect(dialog.get_by_role("option").first).to_contain_text("07:30")
    app.press("Enter")
    dialog.wait_for(state="detached")
    app.called("mail.snooze")
    app.chord("g", "z")
    app.row("thr_00").wait_for()
    app.press("j", "i")
    app.row("thr_00").wait_for(state="detached")
    assert app.called("mail.unsnooze") == [{"threadIds": ["thr_00"]}]


@pytest.mark.thorough
def test_the_next_thread_opens_after_a_step_unless_one_wants_the_list(app: App) -> None:
    page = app.open()
    app.press("j", "Enter")
    page.wait_for_url("**/t/thr_00")
    app.press("#")
    page.wait_for_url("**/t/thr_01")
    page.evaluate("localStorage.setItem('svc.after', 'list')")
    app.press("e")
    page.wait_for_url("**/p/mail")
    app.focuses("thr_02")


KEYS_AT_ONCE = """
async keys => {
  for (const key of keys) {
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    for (let step = 0; step < 50; step += 1) await null; // the page is drawn, and not painted
  }
}
"""


@pytest.mark.thorough
def test_a_key_before_the_next_thread_is_painted_leaves_its_row_as_the_last_one(app: App) -> None:
    page = app.open()
    page.evaluate("localStorage.setItem('svc.after', 'list')")
    app.press("j", "Enter")
    page.wait_for_url("**/t/thr_00")
    page.locator("iframe").first.wait_for()
    page.evaluate(KEYS_AT_ONCE, ["j", "e"])
    page.wait_for_url("**/p/mail")
    app.focuses("thr_02")


@pytest.mark.thorough
def test_the_keys_of_the_list_rest_in_dialogs_and_fields(app: App) -> None:
    page = app.open()
    app.press("j", "h")
    page.get_by_role("dialog", name="Snooze").wait_for()
    app.press("e", "j", "z", "Escape")
    assert app.calls("mail.archive") == []
    assert app.calls("mail.undo") == []
    app.press("/")
    page.keyboard.type("e#x")
    expect(page.get_by_role("combobox", name="Search mail")).to_have_value("e#x")
    assert app.calls("mail.setLabels") == []


@pytest.fixture
def duplicate_answers() -> FakeAnswers:
    """The mail of thr_01 came to two accounts; Unified shows the one."""
    answers = FakeAnswers()
    duplicate = fake_mail.thread(
        id="thr_twin", account=fake_mail.HELLO, name="Amara Osei", subject="Paint samples arrived"
    )
    duplicate["lastMessageAt"] = answers.threads[1]["lastMessageAt"]
    answers.threads.append(duplicate)
    fake_mail.twins(answers.threads[1], duplicate)
    for one in answers.accounts:
        answers.recount(one["id"])
    return answers


@pytest.mark.thorough
def test_one_mail_in_two_accounts_is_one_row_and_counts_once(start: Callable[..., App], duplicate_answers: Any) -> None:
    app = start(duplicate_answers)
    page = app.open()
    expect(app.row("thr_twin")).to_have_count(0)
    expect(page.get_by_role("tab", name="Unified")).to_have_text("Unified ·4")
    expect(page.get_by_role("tab", name="hello@")).to_have_text("hello@ternandtide.example ·3")
    holders = app.row("thr_01").locator(".row-holders")
    assert holders.get_attribute("title") == "mia@ternandtide.example, hello@ternandtide.example"
    app.press("j", "j", "e")
    app.row("thr_01").wait_for(state="detached")
    assert app.called("mail.archive") == [{"threadIds": ["thr_01", "thr_twin"]}]
    app.until("() => document.querySelector('[role=tab]').textContent === 'Unified ·3'")
    app.press("z")
    app.row("thr_01").wait_for()
    assert len(app.called("mail.undo")) == 1


@pytest.mark.thorough
def test_an_open_twin_says_where_else_it_is_and_is_read_in_both(
    start: Callable[..., App], duplicate_answers: Any
) -> None:
    app = start(duplicate_answers)
    page = app.open("/p/mail/t/thr_01", ready="iframe")
    app.until("() => document.querySelector('[role=tab]').textContent === 'Unified ·3'")
    assert sorted(one["threadId"] for one in app.called("mail.open", times=2)) == ["thr_01", "thr_twin"]
    page.get_by_text("Also in").get_by_role("link", name="hello@ternandtide.example").click()
    page.wait_for_url("**/p/mail/a/acc_hello/t/thr_twin")
    app.settled()
    app.press("e")
    assert app.called("mail.archive") == [{"threadIds": ["thr_twin"]}], "in an account's tab it is only that one"


@pytest.mark.thorough
def test_m_mutes_a_thread_which_says_so_and_can_be_unmuted_and_taken_back(app: App) -> None:
    page = app.open()
    app.press("j", "m")
    page.get_by_text("Muted: new messages skip the inbox").wait_for()
    app.row("thr_00").wait_for(state="detached")
    assert app.called("mail.mute") == [{"threadIds": ["thr_00"]}]
    page.goto(f"{app.origin}/p/mail/t/thr_00")
    page.get_by_role("button", name="Mute", pressed=True).wait_for()
    page.get_by_role("button", name="Unmute").click()
    page.get_by_text("No longer muted").wait_for()
    assert app.called("mail.unmute") == [{"threadIds": ["thr_00"]}]
    page.get_by_role("button", name="Mute", pressed=False).wait_for()
    app.press("z")
    page.get_by_text("Muted again").wait_for()
    page.get_by_role("button", name="Unmute").wait_for()
