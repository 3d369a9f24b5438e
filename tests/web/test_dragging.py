"""Rows that are dragged with the mouse onto the navigation."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.support.browser import App
from tests.web import fake_mail
from tests.web.fake_server import FakeAnswers

pytestmark = pytest.mark.browser

MANY = 520
"""More than can be picked one by one."""


@pytest.fixture
def mail(app: App) -> App:
    app.open()
    return app


def link(app: App, name: str) -> Locator:
    return app.page.get_by_role("navigation", name="Workspace").get_by_role("link", name=re.compile(f"^{name}"))


def drag(app: App, thread_id: str, to: Locator) -> None:
    app.row(thread_id).drag_to(to)


@pytest.mark.thorough
def test_onto_a_label_it_is_filed_and_with_ctrl_it_stays_in_the_inbox(mail: App) -> None:
    drag(mail, "thr_00", link(mail, "Travel"))
    assert given(mail, "mail.setLabels", 0) == (["thr_00"], ["Travel"], ["INBOX"])
    expect(mail.row("thr_00")).to_have_count(0)
    expect(mail.page.get_by_text("Archived as “Travel”")).to_be_visible()
    mail.page.keyboard.down("Control")
    drag(mail, "thr_01", link(mail, "Travel"))
    mail.page.keyboard.up("Control")
    assert given(mail, "mail.setLabels", 1) == (["thr_01"], ["Travel"], None)
    expect(mail.row("thr_01").locator("[data-label=Travel]")).to_have_count(1)
    mail.at("/p/mail")  # nothing was opened


@pytest.mark.thorough
def test_a_picked_row_takes_all_picked_along(mail: App) -> None:
    mail.press("j", "x", "j", "x")
    expect(mail.page.locator("[role=row][aria-selected=true]")).to_have_count(2)
    drag(mail, "thr_01", link(mail, "Trash"))
    threads, _, removed = given(mail, "mail.setLabels", 0)
    assert (sorted(threads), removed) == (["thr_00", "thr_01"], ["INBOX"])
    expect(mail.page.get_by_text("2 threads moved to the trash")).to_be_visible()


@pytest.mark.thorough
def test_all_that_match_go_together_and_no_star_is_taken_away(start: Callable[..., App]) -> None:
    rows = fake_mail.many(MANY)
    for row in rows:
        row["starred"] = True
    app = start(FakeAnswers(threads=rows))
    app.open()
    app.press("*", "*")
    app.page.get_by_text(f"All {MANY} threads in Inbox are picked.").last.wait_for()
    drag(app, "thr_m000000", link(app, "Starred"))  # all have one
    drag(app, "thr_m000000", link(app, "Spam"))
    assert [one["do"] for one in app.called("mail.actOnAll")] == ["spam"]


@pytest.mark.thorough
def test_onto_the_places(mail: App) -> None:
    drag(mail, "thr_00", link(mail, "All mail"))
    assert mail.called("mail.archive")[0]["threadIds"] == ["thr_00"]
    drag(mail, "thr_01", link(mail, "Starred"))
    assert mail.called("mail.setLabels")[0]["add"] == ["STARRED"]
    drag(mail, "thr_02", link(mail, "Spam"))
    assert mail.called("mail.setLabels", times=2)[1]["add"] == ["SPAM"]
    drag(mail, "thr_03", link(mail, "Snoozed"))
    mail.page.get_by_role("dialog", name="Snooze").wait_for()


@pytest.mark.thorough
def test_where_it_would_change_nothing_nothing_happens(mail: App) -> None:
    for name in ("Inbox", "Sent", "Drafts", "Files"):
        drag(mail, "thr_00", link(mail, name))
    drag(mail, "thr_01", link(mail, "Starred"))
    assert mail.called("mail.setLabels")[0]["threadIds"] == ["thr_01"]
    drag(mail, "thr_01", link(mail, "Starred"))  # the star is not taken away
    drag(mail, "thr_00", link(mail, "All mail"))
    mail.called("mail.archive")
    mail.page.keyboard.down("Control")
    drag(mail, "thr_08", link(mail, "Travel"))  # it has the label
    mail.page.keyboard.up("Control")
    assert [name for name, _ in mail.answers.calls if name == "mail.setLabels"] == ["mail.setLabels"]
    drag(mail, "thr_02", link(mail, "hello@"))  # a mail stays in its account
    assert mail.calls("mail.unarchive") == []
    expect(mail.page.locator(".dragged-over, .drag-image")).to_have_count(0)
    mail.at("/p/mail")


@pytest.mark.thorough
def test_the_link_below_the_pointer_shows_whether_it_takes_it(mail: App) -> None:
    carried = {"dataTransfer": mail.page.evaluate_handle("() => new DataTransfer()"), "bubbles": True}
    mail.row("thr_00").dispatch_event("dragstart", carried)
    for name, takes in (("Sent", False), ("Travel", True), ("Files", False), ("Trash", True)):
        link(mail, name).dispatch_event("dragover", carried)
        expect(mail.page.locator(".dragged-over")).to_have_count(int(takes))
    mail.row("thr_04").dispatch_event("dragover", carried)
    expect(mail.page.locator(".dragged-over")).to_have_count(0)
    link(mail, "Travel").dispatch_event("dragover", carried)
    mail.row("thr_00").dispatch_event("dragend", carried)
    expect(mail.page.locator(".dragged-over")).to_have_count(0)
    link(mail, "Travel").dispatch_event("drop", carried)  # of something else: no row is dragged any more
    assert mail.calls("mail.setLabels") == []


def given(app: App, name: str, at: int) -> tuple[Any, Any, Any]:
    call = app.called(name, times=at + 1)[at]
    return call["threadIds"], call.get("addNames"), call.get("remove")
