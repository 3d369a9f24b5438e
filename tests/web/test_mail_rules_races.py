"""What happens between two moments: found on walks through the whole program, held here for good."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browser import PATIENCE_MS, App

pytestmark = pytest.mark.browser


def test_undo_leads_to_the_row_in_the_inbox_though_its_news_come_after_the_answer(app: App) -> None:
    def undo(given: dict[str, Any]) -> Any:
        app.world.thread("thr_00").update(inInbox=True)
        return {"undone": {"id": "1", "what": "archive", "threadIds": ["thr_00"], "draftId": None}}

    app.world.rpc_mail_undo = undo  # type: ignore[method-assign]
    page = app.open()
    app.press("j", "e")
    app.called("mail.archive")
    app.press("z")
    page.get_by_text("Back from the archive").wait_for()
    row = page.get_by_role("grid", name="Inbox").locator("#row-thr_00")
    expect(row).to_be_focused(timeout=PATIENCE_MS)
    app.world.change("thr_00", snippet="The news of it.")
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
