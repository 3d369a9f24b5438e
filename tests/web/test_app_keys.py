"""The keyboard: j k Enter u Esc e and the overlay, and when the keys rest."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web.fake_server import Refusal

pytestmark = pytest.mark.browser


@pytest.mark.thorough
def test_j_and_k_move_along_the_rows_enter_opens_and_u_and_escape_go_back(app: App) -> None:
    page = app.open()
    page.get_by_role("link", name="Unread, Jonas Feld").first.wait_for()
    app.press("e", "j", "k", "k")  # without a selection, and on the first row, a key does nothing
    app.selects("thr_00")
    assert app.calls("mail.archive") == []
    app.press("j", "j", "k")
    app.selects("thr_01")
    app.focuses("thr_01")
    app.press("k", "Enter")  # it opens, and is read
    page.locator("iframe").first.wait_for()
    app.at("/p/mail/t/thr_00")
    app.until("() => document.querySelector('[role=tab][aria-selected=true]').textContent === 'Unified ·3'")
    assert app.called("mail.open") == [{"threadId": "thr_00"}]
    assert app.answers.thread("thr_00")["unread"] is False
    app.press("j")  # from thread to thread, while one is open
    page.wait_for_url("**/t/thr_01")
    app.press("k")
    page.wait_for_url("**/t/thr_00")
    page.go_back()
    app.at("/p/mail")
    app.focuses("thr_00")
    app.press("l")
    page.get_by_role("dialog", name="Labels").wait_for()
    page.go_forward()
    app.at("/p/mail/t/thr_00")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator("iframe").first.wait_for()
    app.press("j")
    page.wait_for_url("**/t/thr_01")
    for key in ("u", "Escape"):
        page.locator("iframe").first.wait_for()
        app.press(key)
        page.locator(".thread").first.wait_for(state="detached")
        app.at("/p/mail")
        app.focuses("thr_01")
        if key == "u":
            app.press("Enter")
    app.go_to_section("Skipped the inbox")  # who leaves the row for another section stays there
    app.row("thr_skip5").wait_for()
    app.settled()
    expect(app.row("thr_skip5")).to_be_in_viewport()


@pytest.mark.thorough
def test_e_archives_and_goes_on_with_the_next_and_it_can_be_undone(app: App) -> None:
    page = app.open()
    app.press("j", "j", "e")
    app.selects("thr_02")
    assert app.called("mail.archive") == [{"threadIds": ["thr_01"]}]
    page.get_by_role("button", name="Undo").click()
    app.row("thr_01").wait_for()
    assert app.called("mail.undo") == [{}]
    page.get_by_text("Back from the archive: Paint samples arrived").wait_for()
    app.row("thr_00").click()
    page.locator("iframe").first.wait_for()
    app.press("e")  # of an open thread the next one opens
    page.wait_for_url("**/t/thr_01")
    assert app.called("mail.archive", times=2)[-1] == {"threadIds": ["thr_00"]}
    app.press("u")
    app.focuses("thr_01")
    app.go_to_section("Skipped the inbox")
    page.get_by_role("grid", name="Skipped the inbox").locator("#row-thr_00").wait_for()


@pytest.mark.thorough
def test_e_archives_an_open_thread_that_no_list_holds(app: App) -> None:
    app.tolerated = ("503",)
    app.answers.failing["mail.threads"] = Refusal("SERVICE_UNAVAILABLE", 503, "The database is busy.")
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    app.press("e")
    page.get_by_role("button", name="Undo").wait_for()
    assert app.called("mail.archive") == [{"threadIds": ["thr_00"]}]


def test_a_refused_archive_puts_the_row_back_and_says_why(app: App) -> None:
    app.tolerated = ("503",)
    page = app.open()
    app.answers.failing["mail.archive"] = Refusal("SERVICE_UNAVAILABLE", 503, "The disk is full.")
    app.press("j", "e")
    page.get_by_text("Could not archive: The disk is full.").wait_for()
    app.row("thr_00").wait_for()
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    expect(page.get_by_role("tab", selected=True)).to_have_text("Unified ·4")


@pytest.mark.thorough
def test_a_click_into_a_mail_gives_the_keyboard_back_however_late_its_frame_is_said_to_have_it(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    box = page.locator("iframe").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 40, box["y"] + 40)
    app.until("() => document.activeElement?.matches('.card')")
    app.press("u")
    page.locator(".thread").first.wait_for(state="detached")
    app.row("thr_00").click()
    page.locator("iframe").first.wait_for()
    app.settled()
    page.evaluate(
        """() => {
            const { get } = Object.getOwnPropertyDescriptor(Document.prototype, "activeElement");
            let looks = 5;
            addEventListener("blur", () => Object.defineProperty(document, "activeElement", {
                get: () => looks-- > 0 ? document.body : get.call(document) }), { once: true });
        }"""
    )
    page.locator("iframe").last.click()
    expect(page.locator("article.card").last).to_be_focused()
    app.press("j")
    page.wait_for_url("**/t/thr_01")


@pytest.mark.thorough
def test_keys_rest_in_the_overlay_that_lists_them_in_fields_and_with_modifiers(app: App) -> None:
    page = app.open()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")  # who goes by Tab skips the navigation
    expect(page.get_by_role("button", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")
    page.evaluate("document.activeElement.blur()")
    app.press("Control+j", "Alt+j")
    app.selects(None)
    app.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    dialog.wait_for()
    keys = "j ↓ k ↑ Enter u Esc e c r a f / z h s l Shift u # i m ! Ctrl u . "
    keys += "x Shift j Shift k Shift x * Ctrl a Ctrl Enter Ctrl Shift Enter Ctrl Shift l Ctrl ; Ctrl Shift p "
    keys += "g i g s g z g d g t g a Home End v u v m v a v s ? Ctrl k v n"
    expect(dialog.locator("kbd")).to_have_text(keys.split(" "))
    app.press("j")
    app.selects(None)  # keys rest while the overlay is open
    app.press("Escape")
    dialog.wait_for(state="hidden")
    app.press("j")
    app.selects("thr_00")
    page.get_by_role("button", name="Fold Inbox").focus()  # Enter on a button presses the button
    app.press("Enter")
    page.get_by_role("button", name="Unfold Inbox").wait_for()
    app.at("/p/mail")
    app.press("Enter")
    app.row("thr_00").wait_for()
    page.get_by_role("banner").get_by_role("button", name="Connect another account").click()
    page.get_by_label("Address of the mailbox").fill("")
    page.keyboard.type("jek?")
    expect(page.get_by_label("Address of the mailbox")).to_have_value("jek?")
    app.selects("thr_00")
    assert app.calls("mail.archive") == []


PRESSED_ON_SIGHT = """([shown, key]) => {
    window.afterThat = new Promise(done => {
        const watching = new MutationObserver(() => {
            if (!document.querySelector(shown)) return;
            watching.disconnect();
            const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
            document.activeElement.dispatchEvent(event);
            const { activeElement } = document;
            done([event.defaultPrevented, activeElement.ariaLabel ?? activeElement.className]);
        });
        watching.observe(document, { childList: true, subtree: true });
    });
}"""
"""Presses a key in the moment in which something stands in the document, before it is painted."""


def test_a_key_right_after_a_dialog_was_closed_is_not_for_its_field(app: App) -> None:
    page = app.open()
    app.row("thr_00").wait_for()
    app.press("Control+k")
    page.get_by_role("combobox", name="Command").wait_for()
    has_the_focus_still = page.evaluate(
        """() => {
            document.querySelector("dialog[open]").close();
            const field = document.activeElement;
            field.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true, cancelable: true }));
            return field.matches("[role=combobox]");
        }"""
    )
    assert has_the_focus_still  # until the browser draws the page
    app.selects("thr_00")


def test_the_palette_offers_a_place_once_though_a_key_leads_there_as_well(app: App) -> None:
    page = app.open()
    app.press("Control+k")
    for typed in ("snoozed", "go to snoozed"):
        page.get_by_role("combobox", name="Command").fill(typed)
        expect(page.get_by_role("option", name="Snoozed")).to_have_count(1)


@pytest.mark.thorough
def test_keys_work_and_the_focus_is_there_as_soon_as_something_is_shown(app: App) -> None:
    page = app.open()
    for before, shown, key, focused in (
        (["Control+k"], "#palette-list .chooser-item", "ArrowDown", "Command"),
        (["j", "l"], "#label-choice-list .chooser-item", "ArrowDown", "Label"),
        (["Enter"], ".thread", "?", "thread-subject"),
    ):
        page.evaluate(PRESSED_ON_SIGHT, [shown, key])
        app.press(*before)
        assert page.evaluate("window.afterThat") == [True, focused]
        app.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        app.settled()


@pytest.mark.thorough
def test_the_keys_of_a_page_work_as_soon_as_it_is_shown(start: Callable[..., App]) -> None:
    app = start(alone=True)
    page = app.page
    page.add_init_script(f"({PRESSED_ON_SIGHT})(['h1', location.pathname === '/p/mail' ? 'c' : 'Escape'])")
    for path in ("/p/mail", "/p/tasks", "/settings/images"):
        page.goto(app.origin + path)
        assert page.evaluate("window.afterThat.then(([pressed]) => pressed)"), path
