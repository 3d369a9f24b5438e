"""Half-written texts of the settings: a reload, as after the end of the session, loses none of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import App
from tests.web.fake_server import FakeAnswers

pytestmark = pytest.mark.browser

BEFORE = "You wrote this before, and did not save it."


@pytest.fixture
def app(start: Callable[..., App]) -> App:
    made = FakeAnswers()
    made.signatures["acc_mia"] = "<div>Mia</div>"
    made.add_snippet("bye", "<div>Good-bye</div>", subject="Bye")
    return start(made)


def kept(app: App, words: str) -> None:
    app.until("words => Object.values(localStorage).some(one => one.includes(words))", words)


def nothing_kept(app: App) -> None:
    app.until("() => !Object.keys(localStorage).some(one => one.startsWith('svc.left.'))")


def text_in(form: Locator) -> Locator:
    return form.locator(".rich-text[contenteditable=true]")


def signature(page: Page) -> Locator:
    return page.locator("form.signature").first


def snippet(page: Page, name: str) -> Locator:
    return page.get_by_role("form", name=name)


@pytest.mark.thorough
def test_a_half_written_signature_is_there_again_until_it_is_saved_or_discarded(app: App) -> None:
    page = app.open("/settings/signatures", ready=".signature .rich-text[contenteditable=true]")
    nothing_kept(app)
    text_in(signature(page)).fill("Mia, half of it")
    kept(app, "half of it")
    page.reload()
    expect(text_in(signature(page))).to_have_text("Mia, half of it")
    expect(page.get_by_text(BEFORE)).to_have_count(1)
    signature(page).get_by_role("button", name="Discard").click()
    expect(text_in(signature(page))).to_have_text("Mia")
    expect(page.get_by_text(BEFORE)).to_have_count(0)
    nothing_kept(app)
    text_in(signature(page)).fill("Mia, all of it")
    kept(app, "all of it")
    page.reload()
    expect(text_in(signature(page))).to_have_text("Mia, all of it")
    signature(page).get_by_role("button", name="Save").click()
    expect(page.get_by_text("Signature saved.")).to_be_visible()
    nothing_kept(app)
    assert "Mia, all of it" in app.answers.signatures["acc_mia"]


@pytest.mark.thorough
def test_a_half_written_snippet_is_open_again_until_it_is_saved_or_given_up(app: App) -> None:
    page = app.open("/settings/snippets", ready=".snippet-row")
    page.get_by_role("button", name="New snippet").click()
    snippet(page, "New snippet").get_by_label("Name, one word").fill("way")
    text_in(snippet(page, "New snippet")).fill("To our door")
    kept(app, "To our door")
    page.reload()
    expect(snippet(page, "New snippet").get_by_label("Name, one word")).to_have_value("way")
    expect(text_in(snippet(page, "New snippet"))).to_have_text("To our door")
    expect(page.get_by_text(BEFORE)).to_be_visible()
    snippet(page, "New snippet").get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Edit way")).to_be_visible()
    nothing_kept(app)
    page.get_by_role("button", name="Edit bye").click()
    text_in(snippet(page, "Snippet bye")).fill("Farewell")
    kept(app, "Farewell")
    page.reload()
    expect(text_in(snippet(page, "Snippet bye"))).to_have_text("Farewell")
    snippet(page, "Snippet bye").get_by_role("button", name="Cancel").click()
    nothing_kept(app)
    page.get_by_role("button", name="Edit bye").click()
    expect(text_in(snippet(page, "Snippet bye"))).to_have_text("Good-bye")
