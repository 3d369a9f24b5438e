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
    page = app.open()
    told = page.get_by_role("status")

    # The list: whose mail it is, what stands in it, and where one is.
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

    # Its buttons are cells of the row: the arrows lead into them, along a column, and back. Tab has one stop.
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
    app.press("ArrowDown")
    app.selects("thr_01")
    assert focused(page)["role"] == "button"
    expect(inbox.get_by_role("checkbox")).to_have_count(1)
    app.press("Home")
    app.focuses("thr_01")
    app.press("ArrowUp")
    app.focuses("thr_00")
    expect(inbox.get_by_role("gridcell").filter(has=page.get_by_role("button"))).to_have_count(0)

    # What else can be done with it, for who has no menu key; the focus goes there and back.
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

    # A thread: its subject has the focus, each message is an article that says who wrote it.
    app.press("Enter")
    expect(page.get_by_role("heading", name="Quote for the harbour mural", level=1)).to_be_focused()
    expect(page).to_have_title("(3) Quote for the harbour mural – svc")
    expect(page.get_by_role("region", name="Thread")).to_be_visible()
    expect(page.get_by_role("toolbar", name="Thread")).to_be_visible()
    newest = page.get_by_role("article").last
    expect(newest).to_have_accessible_name("Message from Jonas Feld")
    expect(newest.locator("iframe")).to_have_attribute("title", "Message from Jonas Feld")

    # The next one, and back: the subject is spoken each time.
    app.press("j")
    expect(page.get_by_role("heading", level=1).first).to_be_focused()
    app.at("/p/mail/t/thr_01")
    app.press("k")
    app.at("/p/mail/t/thr_00")
    expect(page.get_by_role("heading", name="Quote for the harbour mural", level=1)).to_be_focused()

    # An answer: the field says what it is, sending is told, and so is taking it back.
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

    # Filing: told politely, and taken back by its key.
    app.press("Escape", "u")
    app.at("/p/mail")
    app.focuses("thr_00")
    app.press("e")
    expect(told.get_by_text("Archived")).to_be_visible()
    app.press("z")
    app.called("mail.undo")
    app.focuses("thr_00")
