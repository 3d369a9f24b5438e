"""Formatting what one writes: by key, by button, by a mark at the start of a line; off again; and on a phone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import App
from tests.web.test_app_looks import NARROW, WIDE, check, check_in_a_light, small_targets
from tests.web.writer import compose, fill, paste, ready, taken, text

pytestmark = pytest.mark.browser


def written(page: Page) -> str:
    """As it would be sent, without the line that stands below anything but a plain one."""
    html = str(text(page).evaluate("(one) => one.innerHTML")).replace("&nbsp;", " ")
    return html.removesuffix("<div><br></div>")


def button(page: Page, name: str) -> None:
    page.get_by_role("toolbar", name="Formatting").get_by_role("button", name=name, exact=True).click()


@pytest.mark.thorough
def test_lines_and_words_are_formatted_by_key_and_by_mark_and_sent_so(app: App) -> None:
    page = compose(app)
    fill(page, body="# Tides")
    expect(text(page).locator("h2")).to_have_text("Tides")
    app.press("Enter")
    page.keyboard.type("- high")
    app.press("Enter")
    page.keyboard.type("low")
    app.press("Enter", "Enter")
    page.keyboard.type("> as the harbour said")
    app.press("Enter", "Enter")
    page.keyboard.type("Run ")
    page.keyboard.type("tide")
    app.press(*["Shift+ArrowLeft"] * 4, "Control+e", "ArrowRight")
    page.keyboard.type("today, in ")  # the arrow key left a space behind the code
    app.press("Control+b")
    page.keyboard.type("bold")
    app.press("Control+b", "Control+Enter")
    mail = taken(app, state="held")
    html = app.answers.origins[mail["id"]]["was"]["html"].replace("&nbsp;", " ")
    assert html == (
        "<h2>Tides</h2><ul><li>high</li><li>low</li></ul><blockquote><div>as the harbour said</div></blockquote>"
        "<div>Run <code>tide</code> today, in <b>bold</b></div><div><br></div>"
    )


@pytest.mark.thorough
def test_what_was_put_on_is_taken_off_and_undo_gives_it_back(app: App) -> None:
    page = compose(app)
    fill(page, body="one")
    app.press("Enter")
    page.keyboard.type("two")
    app.press("Control+a", "Control+Alt+1")
    assert written(page) == "<h2>one</h2><h2>two</h2>"
    app.press("Control+Alt+2")
    assert written(page) == "<h3>one</h3><h3>two</h3>"
    app.press("Control+Alt+2", "Control+Shift+9", "Control+b")
    assert written(page) == "<blockquote><div><b>one</b></div><div><b>two</b></div></blockquote>"
    app.press("Control+\\")
    assert written(page) == "<div>one</div><div>two</div>"
    button(page, "Undo")
    expect(text(page).locator("b").first).to_be_visible()
    button(page, "Redo")
    expect(text(page).locator("b")).to_have_count(0)
    app.press("Control+Shift+8", "Control+\\")
    assert written(page) == "<div>one</div><div>two</div>"
    app.press("Control+e")
    assert written(page).startswith("<pre>one\ntwo")
    app.press("Control+\\")
    assert written(page) == "<div>one</div><div>two</div>"


@pytest.mark.thorough
def test_marks_are_only_text_where_something_else_stands_on_the_line(app: App) -> None:
    page = compose(app)
    fill(page, body="a - b")
    app.press("Enter")
    page.keyboard.type("1. first")
    app.press("Enter", "Enter")
    page.keyboard.type("- ")
    expect(text(page).locator("ul")).to_have_count(1)
    app.press("Control+z")
    expect(text(page).locator("ul")).to_have_count(0)
    assert "<ol><li>first</li></ol>" in written(page)
    assert written(page).startswith("<div>a - b</div>")


@pytest.mark.thorough
def test_pasting_as_plain_text_leaves_the_format_behind(app: App) -> None:
    page = compose(app)
    app.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    fill(page, body="here: ")
    paste(text(page), html="<b>salt</b>", plain="salt")
    expect(text(page).locator("b")).to_have_text("salt")
    app.press(*["Shift+ArrowLeft"] * 4, "Control+c", "ArrowRight")
    page.keyboard.type(" ")
    app.press("Control+b")  # leaves bold
    app.press("Control+Shift+v")
    expect(text(page)).to_contain_text("salt salt")
    expect(text(page).locator("b")).to_have_count(1)


@pytest.mark.look
def test_the_toolbar_folds_on_a_phone_and_passes_axe(start: Callable[..., App]) -> None:
    app = start(**NARROW, color_scheme="dark")
    page = app.open()
    page.get_by_role("button", name="Compose", exact=True).click()
    ready(page)
    text(page).click()
    page.keyboard.type("# Walls")
    app.press("Enter")
    page.keyboard.type("Quoted")
    check(page, "writing-phone-folded")
    expect(page.get_by_role("button", name="Quote", exact=True)).to_be_hidden()
    button(page, "More formatting")
    button(page, "Quote")
    expect(text(page).locator("blockquote")).to_have_text("Quoted")
    assert "\n".join(small_targets(page)) == ""
    check(page, "writing-phone-formats")


@pytest.mark.look
def test_the_toolbar_stands_in_one_line_where_there_is_room(start: Callable[..., App]) -> None:
    app = start(**WIDE)
    page = compose(app)
    fill(page, body="# Walls")
    app.press("Enter")
    page.keyboard.type("> as we said")
    app.press("Enter", "Enter")
    page.keyboard.type("``` ls -l")
    check_in_a_light(page, "writing-formats")
    expect(page.get_by_role("button", name="More formatting")).to_be_hidden()
    expect(page.get_by_role("button", name="Code", exact=True)).to_have_attribute("aria-pressed", "true")
