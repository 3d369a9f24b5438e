"""A screen reader's walk through reading and answering: what Chromium's accessibility tree says, and what is told.

Names, roles and states are those that a reader speaks; what has the focus is what it speaks of.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import App

pytestmark = pytest.mark.browser


def focused(page: Page) -> dict[str, Any]:
    """The role, the name and the properties of what has the focus, as they are handed to the system."""
    session = page.context.new_cdp_session(page)
    try:
        session.send("Accessibility.enable")
        found = session.send("Runtime.evaluate", {"expression": "document.activeElement"})["result"]["objectId"]
        wanted = {"objectId": found, "fetchRelatives": False}
        (node, *_) = session.send("Accessibility.getPartialAXTree", wanted)["nodes"]
    finally:
        session.detach()
    properties = {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
    return {"role": node["role"]["value"], "name": node["name"]["value"], **properties}


@pytest.mark.thorough
def test_one_who_listens_reads_answers_sends_and_takes_back(app: App) -> None:
    app.open()
    the_list_says_whose_it_is_and_where_one_is(app)
    the_buttons_of_a_row_are_its_cells(app)
    the_menu_of_a_thread_takes_the_focus_and_gives_it_back(app)
    a_thread_says_its_subject_and_who_wrote_each_message(app)
    the_next_thread_is_spoken_too(app)
    an_answer_is_told_and_taken_back(app)
    filing_is_told_and_taken_back(app)
    another_place_says_which_it_is(app)


def the_list_says_whose_it_is_and_where_one_is(app: App) -> None:
    """The list: whose mail it is, what stands in it, and where one is."""
    page = app.page
    expect(page.get_by_role("heading", name="Unified", level=1)).to_be_attached()
    inbox = page.get_by_role("grid", name="Inbox")
    expect(inbox).to_have_attribute("aria-multiselectable", "true")
    app.press("j")
    app.focuses("thr_00")
    first = focused(page)
    assert first["role"] == "link"
    assert first["name"].startswith("Unread, Jonas Feld, Quote for the harbour mural")
    row = inbox.get_by_role("row").filter(has=app.row("thr_00"))
    expect(row).to_have_attribute("aria-rowindex", "1")
    assert int(inbox.get_attribute("aria-rowcount") or "") > 10
    app.press("x")
    expect(row).to_have_attribute("aria-selected", "true")
    app.press("x")
    expect(row).to_have_attribute("aria-selected", "false")


def the_buttons_of_a_row_are_its_cells(app: App) -> None:
    """Its buttons are cells of the row: the arrows lead into them, along a column, and back. Tab has one stop."""
    page = app.page
    inbox = app.page.get_by_role("grid", name="Inbox")
    row = inbox.get_by_role("row").filter(has=app.row("thr_00"))
    app.press("ArrowRight")
    assert (focused(page)["role"], focused(page)["name"]) == ("checkbox", "Pick")
    app.press("Enter")
    expect(row).to_have_attribute("aria-selected", "true")
    app.press("Space", "End")
    expect(row).to_have_attribute("aria-selected", "false")
    assert focused(page)["name"] == "Star"
    app.press("Enter")
    app.called("mail.setLabels")
    expect(row.get_by_role("button", name="Take the star away")).to_be_focused()
    expect(page.get_by_role("status").get_by_text("Starred", exact=True)).to_be_attached()
    app.press("ArrowDown")
    app.selects("thr_01")
    assert focused(page)["role"] == "button"
    expect(inbox.get_by_role("checkbox")).to_have_count(1)
    app.press("Home")
    app.focuses("thr_01")
    app.press("ArrowUp")
    app.focuses("thr_00")
    expect(inbox.get_by_role("gridcell").filter(has=page.get_by_role("button"))).to_have_count(0)


def the_menu_of_a_thread_takes_the_focus_and_gives_it_back(app: App) -> None:
    """What else can be done with it, for who has no menu key; the focus goes there and back."""
    page = app.page
    inbox = app.page.get_by_role("grid", name="Inbox")
    expect(inbox).to_have_accessible_description(
        "The menu key, or ., opens all that can be done with a thread; the right arrow leads to its buttons."
    )
    app.press(".")
    menu = page.get_by_role("group", name="This thread")
    expect(menu.get_by_role("button", name="Open", exact=True)).to_be_focused()
    page.keyboard.press("End")
    expect(menu.get_by_role("button", name="Report as spam")).to_be_focused()
    page.keyboard.press("Escape")
    app.focuses("thr_00")


def a_thread_says_its_subject_and_who_wrote_each_message(app: App) -> None:
    """A thread: its subject has the focus, each message is an article that says who wrote it."""
    page = app.page
    app.press("Enter")
    expect(page.get_by_role("heading", name="Quote for the harbour mural", level=1)).to_be_focused()
    expect(page).to_have_title("(3) Quote for the harbour mural – svc")
    expect(page.get_by_role("region", name="Thread")).to_be_visible()
    expect(page.get_by_role("toolbar", name="Thread")).to_be_visible()
    newest = page.get_by_role("article").last
    expect(newest).to_have_accessible_name("Message from Jonas Feld")
    expect(newest.locator("iframe")).to_have_attribute("title", "Message from Jonas Feld")


def the_next_thread_is_spoken_too(app: App) -> None:
    """The next one, and back: the subject is spoken each time."""
    page = app.page
    app.press("j")
    expect(page.get_by_role("heading", level=1).first).to_be_focused()
    app.at("/p/mail/t/thr_01")
    app.press("k")
    app.at("/p/mail/t/thr_00")
    expect(page.get_by_role("heading", name="Quote for the harbour mural", level=1)).to_be_focused()


def an_answer_is_told_and_taken_back(app: App) -> None:
    """An answer: the field says what it is, sending is told, and so is taking it back."""
    page = app.page
    told = app.page.get_by_role("status")
    app.press("r")
    body = page.get_by_role("textbox", name="Message")
    expect(body).to_be_focused()
    assert focused(page)["multiline"] is True
    page.keyboard.type("Yes, gladly.")
    app.press("Control+Enter")
    app.called("mail.send")
    notice = page.get_by_role("group", name="Sending:")
    expect(told.filter(has=notice)).to_have_count(1)
    notice.get_by_role("button", name="Undo").click()
    expect(body).to_be_focused()
    expect(body).to_contain_text("Yes, gladly.")


def filing_is_told_and_taken_back(app: App) -> None:
    """Filing: told politely, and taken back by its key."""
    told = app.page.get_by_role("status")
    app.press("Escape", "u")
    app.at("/p/mail")
    app.focuses("thr_00")
    app.press("e")
    expect(told.get_by_text("Archived")).to_be_visible()
    app.press("z")
    app.called("mail.undo")
    app.focuses("thr_00")


def another_place_says_which_it_is(app: App) -> None:
    """Steps that nothing shows in words are told; and a place of the navigation, where the focus stays on its link."""
    page = app.page
    told = page.get_by_role("status")
    app.press("U")
    expect(told.get_by_text("Marked as unread")).to_be_attached()
    page.get_by_role("navigation", name="Workspace").get_by_role("link", name="Drafts").press("Enter")
    expect(told.get_by_text("Drafts", exact=True)).to_be_attached()
    expect(page.get_by_role("heading", name="Drafts, Unified", level=1)).to_be_attached()
