"""The keyboard: j k Enter u Esc e and the overlay, and when the keys rest."""

from __future__ import annotations

import pytest

from tests.web.conftest import App
from tests.web.fake_server import Refusal

pytestmark = pytest.mark.browser


def test_j_and_k_move_the_selection_and_the_focus_along_the_rows(app: App) -> None:
    app.open()
    app.press("j")
    assert app.selected() == "thr_00"
    app.press("j", "j", "k")
    assert app.selected() == "thr_01"
    assert app.page.evaluate("document.activeElement.dataset.thread") == "thr_01"


def test_k_on_the_first_row_and_e_without_a_selection_do_nothing(app: App) -> None:
    app.open()
    app.press("e", "j", "k", "k")
    assert app.selected() == "thr_00"
    assert app.calls("mail.archive") == []


def test_enter_opens_the_selected_thread_and_marks_it_read(app: App) -> None:
    page = app.open()
    page.get_by_role("option", name="Unread, Jonas Feld").first.wait_for()
    app.press("j", "Enter")
    page.wait_for_selector("iframe")
    assert app.path() == "/p/mail/t/thr_00"
    app.until("() => document.querySelector('[role=tab][aria-selected=true]').textContent === 'Unified ·3'")
    assert app.called("mail.open") == [{"threadId": "thr_00"}]
    assert app.world.thread("thr_00")["unread"] is False


@pytest.mark.parametrize("key", ["u", "Escape"])
def test_u_and_escape_go_back_to_the_list_and_the_row(app: App, key: str) -> None:
    page = app.open()
    app.press("j", "j", "Enter")
    page.wait_for_selector("iframe")
    app.press(key)
    page.wait_for_selector(".thread", state="detached")
    assert app.path() == "/p/mail"
    assert page.evaluate("document.activeElement.dataset.thread") == "thr_01"


def test_e_archives_the_selected_row_and_goes_on_with_the_next(app: App) -> None:
    page = app.open()
    app.press("j", "j", "e")
    assert app.selected() == "thr_02"
    assert app.called("mail.archive") == [{"threadIds": ["thr_01"]}]
    skipped = page.get_by_role("listbox", name="Skipped the inbox")
    page.get_by_role("button", name="Skipped the inbox", exact=True).click()
    skipped.locator("#row-thr_01").wait_for()


def test_e_archives_the_open_thread_and_opens_the_next(app: App) -> None:
    page = app.open()
    app.press("j", "Enter")
    page.wait_for_selector("iframe")
    app.press("e")
    page.wait_for_url("**/t/thr_01")
    assert app.called("mail.archive") == [{"threadIds": ["thr_00"]}]


def test_e_archives_an_open_thread_that_no_list_holds(app: App) -> None:
    app.tolerated = ("503",)
    app.world.failing["mail.threads"] = Refusal("SERVICE_UNAVAILABLE", 503, "The database is busy.")
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    app.press("e")
    page.get_by_role("button", name="Undo").wait_for()
    assert app.called("mail.archive") == [{"threadIds": ["thr_00"]}]


def test_archiving_can_be_undone(app: App) -> None:
    page = app.open()
    app.press("j", "e")
    page.get_by_role("button", name="Undo").click()
    app.row("thr_00").wait_for()
    assert app.called("mail.undo") == [{}]
    page.get_by_text("Back from the archive: Quote for the harbour mural").wait_for()


def test_a_refused_archive_puts_the_row_back_and_says_why(app: App) -> None:
    app.tolerated = ("503",)
    page = app.open()
    app.world.failing["mail.archive"] = Refusal("SERVICE_UNAVAILABLE", 503, "The disk is full.")
    app.press("j", "e")
    page.get_by_text("Could not archive: The disk is full.").wait_for()
    app.row("thr_00").wait_for()
    assert page.get_by_role("button", name="Undo").count() == 0
    assert page.get_by_role("tab", selected=True).text_content() == "Unified ·4"


def test_j_and_k_walk_from_thread_to_thread_while_one_is_open(app: App) -> None:
    page = app.open()
    app.press("j", "Enter")
    page.wait_for_url("**/t/thr_00")
    app.press("j")
    page.wait_for_url("**/t/thr_01")
    app.press("k")
    page.wait_for_url("**/t/thr_00")
    page.go_back()
    assert app.path() == "/p/mail"


def test_the_overlay_lists_the_keys_that_work_and_no_others(app: App) -> None:
    page = app.open()
    app.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    dialog.wait_for()
    keys = "j k Enter u Esc e x Shift j Shift k Shift x * s l h Shift u # ! i z c r a f / g i g s g z g t ? Ctrl k"
    assert " ".join(dialog.locator("kbd").all_text_contents()) == keys
    app.press("j")
    assert app.selected() is None, "keys rest while the overlay is open"
    app.press("Escape")
    dialog.wait_for(state="hidden")
    app.press("j")
    assert app.selected() == "thr_00"


def test_keys_rest_while_a_field_has_the_focus_and_with_modifiers(app: App) -> None:
    page = app.open()
    app.press("Control+j", "Alt+j")
    assert app.selected() is None
    page.get_by_role("button", name="Connect another account").click()
    page.get_by_label("Mail address").fill("")
    page.keyboard.type("jek?")
    assert page.get_by_label("Mail address").input_value() == "jek?"
    assert app.selected() is None


def test_enter_on_a_button_presses_the_button(app: App) -> None:
    page = app.open()
    app.press("j")
    page.get_by_role("button", name="Fold Inbox").focus()
    app.press("Enter")
    page.get_by_role("button", name="Unfold Inbox").wait_for()
    assert app.path() == "/p/mail"


def test_a_click_into_the_message_leaves_the_keyboard_with_the_page(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    box = page.locator("iframe").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 40, box["y"] + 40)
    app.until("() => document.activeElement?.matches('.card')")
    app.press("u")
    page.wait_for_selector(".thread", state="detached")
