"""What a person types while the editor is still being loaded: it is theirs, and no key of the page behind."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.browser import App, until
from tests.web.writer import draft, ready, saved, text, window

pytestmark = pytest.mark.browser


def without_an_editor(page: Page) -> Callable[[], None]:
    """Holds back every script that is loaded from now on, as the editor's is. What it returns lets them arrive."""
    held = list[Route]()
    page.route("**/*.js", lambda route: held.append(route))

    def arrive() -> None:
        until(page, lambda: bool(held), what="the page to ask for the editor")
        page.unroute("**/*.js")  # which lets them go on

    return arrive


def test_words_typed_before_the_editor_has_loaded_stand_in_the_answer_and_writing_goes_on_behind_them(app: App) -> None:
    app.world.signatures["acc_mia"] = "<div>Mia</div>"
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    arrive = without_an_editor(page)
    app.press("r")
    expect(text(page)).to_be_focused()
    page.keyboard.type("je <3")
    app.press("Enter")
    page.keyboard.type("Go ")
    arrive()
    ready(page)
    expect(text(page).locator("[data-signature]")).to_have_text("Mia")
    page.keyboard.type("on.")
    app.press("Enter")
    page.keyboard.type("u")
    saved(page)
    assert draft(app)["html"].startswith("<div>je &lt;3</div><div>Go on.</div><div>u</div>")
    assert app.calls("mail.archive") == []


def test_an_answer_sent_before_the_editor_has_loaded_has_its_words(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    without_an_editor(page)
    app.press("r")
    expect(text(page)).to_be_focused()
    page.keyboard.type("Thanks & bye")
    app.press("Control+Enter")
    expect(window(page)).to_have_count(0)
    assert app.calls("mail.saveDraft")[-1]["html"].startswith("<div>Thanks &amp; bye</div>")


def test_a_snippet_can_be_saved_once_its_text_can_be_written(app: App) -> None:
    page = app.open("/settings/snippets", ready="text=New snippet")
    arrive = without_an_editor(page)
    page.get_by_role("button", name="New snippet").click()
    save = page.get_by_role("button", name="Save", exact=True)
    expect(save).to_be_disabled()
    page.get_by_label("Name, one word").fill("bye")
    text_of_it = page.get_by_role("textbox", name="Text of the snippet")
    text_of_it.click()
    page.keyboard.type("See you")
    arrive()
    save.click()
    expect(page.get_by_role("button", name="Edit bye")).to_be_visible()
    (kept,) = app.called("mail.saveSnippet")
    assert kept["html"] == "<div>See you</div>"
