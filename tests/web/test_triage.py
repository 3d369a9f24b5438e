"""Kinds of mail in the app: what a person says stays said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web.fake_server import FakeAnswers

pytestmark = pytest.mark.browser


class Sorting(FakeAnswers):
    """All mail needs a reply."""

    def rpc_triage_get(self, given: dict[str, Any]) -> Any:
        return {"enabled": True, "asksModel": False, "learned": []}

    def rpc_triage_of(self, given: dict[str, Any]) -> Any:
        return [{"threadId": one, "kind": "reply", "because": "a rule", "by": "rule"} for one in given["threadIds"]]

    def rpc_triage_correct(self, given: dict[str, Any]) -> Any:
        return {"learned": None}


@pytest.mark.thorough
def test_a_kind_that_one_says_is_not_undone_by_an_answer_that_was_asked_for_before(start: Callable[..., App]) -> None:
    app = start(Sorting())
    page = app.open()
    expect(app.row("thr_00").locator(".chip.kind")).to_have_text("Needs reply, ")
    held = app.hold("triage.of")
    app.row("thr_00").click()
    held.asked()
    expect(page.get_by_role("button", name="Kind: Needs reply")).to_be_visible()
    page.keyboard.press("3")
    app.called("triage.correct")
    expect(page.get_by_role("button", name="Kind: Reading")).to_be_visible()
    held.let_go()
    app.settled()
    expect(page.get_by_role("button", name="Kind: Reading")).to_be_visible()
    page.get_by_role("button", name="Kind: Reading").click()
    menu = page.get_by_role("group", name="Kind of mail").bounding_box()
    assert menu is not None
    assert menu["width"] < menu["height"] * 1.5, "its entries stand one below the other, and it is no wider than they"


@pytest.mark.thorough
def test_of_two_kinds_for_one_thread_the_later_one_reaches_the_server_last(start: Callable[..., App]) -> None:
    app = start(Sorting())
    page = app.open()
    kind = app.row("thr_00").locator(".chip.kind")
    expect(kind).to_have_text("Needs reply, ")
    app.press("j")
    app.selects("thr_00")
    held = app.hold("triage.correct")
    app.press("3")
    held.asked()
    app.press("4")
    expect(kind).to_have_text("Receipts, ")
    held.let_go()
    expect(page.get_by_text("Receipts.", exact=True)).to_be_visible()
    assert [one["kind"] for one in app.called("triage.correct", times=2)] == ["reading", "receipt"]
    expect(kind).to_have_text("Receipts, ")
