"""Blocking a sender in the app: asked where to, done with what is here, undone, and seen in the settings."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browser import App

pytestmark = pytest.mark.browser

LOOKS = os.environ.get("SVC_LOOKS")
"""A folder for pictures of the pages, where somebody wants to look at them."""


@pytest.mark.thorough
def test_a_sender_is_blocked_with_what_is_here_and_unblocked_in_the_settings(start: Callable[..., App]) -> None:
    app = start()
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    more = page.locator(".card-more").last
    more.click()
    page.get_by_role("button", name="Block sender").click()
    page.keyboard.press("Escape")
    expect(more).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Block sender").click()
    dialog = page.get_by_role("dialog", name="Block sender")
    expect(dialog).to_contain_text("Also move what is here: 2 threads")
    if LOOKS:
        page.screenshot(path=f"{LOOKS}/block.png")
    dialog.get_by_label("Spam").check()
    dialog.get_by_role("button", name="Block").click()
    page.get_by_text("and 2 threads moved to spam").wait_for()
    expect(dialog).to_have_count(0)
    (blocked,) = app.called("mail.blockSender")
    (moved,) = app.called("mail.actOnAll")
    assert (blocked["to"], blocked["everywhere"], moved["do"]) == ("spam", True, "spam")
    assert blocked["group"] == moved["group"]
    page.get_by_role("button", name="Undo").click()
    app.called("mail.undo")
    page.goto(f"{app.origin}/settings/blocked")
    page.get_by_text("To spam, in all your accounts").wait_for()
    if LOOKS:
        page.screenshot(path=f"{LOOKS}/blocked.png")
    assert app.complaints() == []
    page.get_by_role("button", name="Unblock").click()
    page.get_by_text("Nobody is blocked").wait_for()


def test_what_is_here_goes_also_if_it_is_pressed_before_it_is_counted(start: Callable[..., App]) -> None:
    app = start()
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    page.locator(".card-more").last.click()
    counted = app.hold("mail.selectAll")
    page.get_by_role("button", name="Block sender").click()
    page.get_by_role("dialog", name="Block sender").get_by_role("button", name="Block").click()
    counted.asked()
    counted.let_go()
    page.get_by_text("and 2 threads moved to the trash").wait_for()


@pytest.mark.thorough
def test_what_is_here_can_stay_and_it_can_hold_in_one_account(start: Callable[..., App]) -> None:
    app = start()
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    page.keyboard.press("Control+k")
    page.keyboard.type("block")
    page.get_by_role("option", name=re.compile("^Block .+@")).click()
    dialog = page.get_by_role("dialog", name="Block sender")
    dialog.get_by_role("checkbox").uncheck()
    dialog.get_by_role("radio").last.check()
    page.keyboard.press("Enter")
    (blocked,) = app.called("mail.blockSender")
    assert blocked["everywhere"] is False
    expect(dialog).to_have_count(0)
    assert app.calls("mail.actOnAll") == []
    assert app.called("mail.selectAll", times=2)[1]["accountId"] == app.answers.thread("thr_00")["accountId"]
