"""Leaving a mailing in the app: what would be done is shown first, and what was done afterwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web import fake_mail
from tests.web.fake_server import FakeAnswers
from tests.web.writer import ready, text

pytestmark = pytest.mark.browser


def answers_with(method: str, target: str) -> FakeAnswers:
    answers = FakeAnswers()
    detail = fake_mail.detail(answers.thread("thr_00"))
    detail["messages"] = detail["messages"][:1]
    message = detail["messages"][0]
    message["canUnsubscribe"] = True
    answers.details["thr_00"] = detail
    answers.mailings[message["id"]] = {"method": method, "target": target}
    return answers


@pytest.mark.thorough
def test_it_is_asked_with_the_host_in_view_then_done_and_remembered(start: Callable[..., App]) -> None:
    app = start(answers_with("one-click", "news.example"))
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    page.get_by_role("button", name="Unsubscribe").click()
    question = page.get_by_role("group", name="Unsubscribe")
    expect(question).to_contain_text("news.example")
    assert app.calls("mail.unsubscribe") == []
    question.get_by_role("button", name="Cancel").click()
    expect(question).to_have_count(0)
    page.get_by_role("button", name="Unsubscribe").click()
    question.get_by_role("button", name="Unsubscribe").click()
    expect(page.get_by_role("note")).to_contain_text("Unsubscribed at news.example")
    (called,) = app.called("mail.unsubscribe")
    assert called["method"] == "one-click"


@pytest.mark.thorough
def test_a_page_is_only_opened_by_the_person(start: Callable[..., App]) -> None:
    app = start(answers_with("link", "pages.example"))
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    page.get_by_role("button", name="Unsubscribe").click()
    expect(page.get_by_role("group", name="Unsubscribe")).to_contain_text("pages.example")
    with page.expect_popup():
        page.get_by_role("button", name="Open the page").click()
    expect(page.get_by_role("note")).to_contain_text("You opened the page at pages.example")


@pytest.mark.thorough
def test_a_question_that_comes_late_takes_the_keyboard_from_no_answer(start: Callable[..., App]) -> None:
    app = start(answers_with("one-click", "news.example"))
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    offer = app.hold("mail.unsubscribeOffer")
    app.press("Control+u")
    offer.asked()
    app.press("r")
    ready(page)
    offer.let_go()
    page.get_by_role("group", name="Unsubscribe").wait_for()
    page.keyboard.type("So we can")
    expect(text(page)).to_contain_text("So we can")
    assert app.calls("mail.unsubscribe") == []
