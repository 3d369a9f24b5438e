"""Snippets: made of a mail, put in by name, by menu and from the palette, with fields to tab through; and kept."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import App
from tests.web.fake_server import FakeAnswers
from tests.web.test_app_looks import NARROW, check, small_targets
from tests.web.writer import address, chips, compose, fill, ready, taken, text, window

pytestmark = pytest.mark.browser

VISIT = "<div>Dear {first name},</div><div>we come on {day} about {project}.</div><div>{my first name}</div>"


def answers() -> FakeAnswers:
    made = FakeAnswers()
    made.accounts[0]["senderName"] = "Mia Tern"
    made.signatures["acc_mia"] = "<div>Mia, by the sea</div>"
    made.add_snippet("visit", VISIT, subject="Our visit, {first name}")
    made.add_snippet("about", "<div>About {topic}: {cursor}</div>")
    made.add_snippet("thanks", "<div>Many <b>thanks</b>, {cursor} so long.</div>")
    made.add_snippet("team", "<div>Hello all,</div>", to=["Jonas <jonas@harbour.example>"], bcc=["boss@sea.example"])
    return made


@pytest.fixture
def app(start: Callable[..., App]) -> App:
    return start(answers())


def offered(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Snippets").get_by_role("option")


def selection(page: Page) -> str:
    return str(page.evaluate("String(getSelection())"))


@pytest.mark.thorough
def test_a_snippet_is_put_in_by_its_name_and_its_fields_are_tabbed_through(app: App) -> None:
    page = compose(app)
    address(page, "Jonas Feld <jonas@harbour.example>")
    text(page).click()
    page.keyboard.type(";v")
    expect(offered(page)).to_have_count(1)
    app.press("Enter")
    expect(text(page)).to_contain_text("Dear Jonas,")
    expect(page.get_by_label("Subject")).to_have_value("Our visit, Jonas")
    expect(text(page)).not_to_contain_text(";v")
    assert selection(page) == "{day}"
    page.keyboard.type("Monday")
    app.press("Tab")
    assert selection(page) == "{project}"
    app.press("Control+Enter")
    expect(page.get_by_role("alertdialog")).to_contain_text("There is something to fill in still: {project}.")
    app.press("Escape")
    text(page).click()
    app.press("Control+Home", "Tab")
    assert selection(page) == "{project}"
    page.keyboard.type("the wall")
    app.press("Control+Enter")
    taken(app, subject="Our visit, Jonas")
    (sent,) = app.called("mail.send")
    assert "<div>Dear Jonas,</div><div>we come on Monday about the wall.</div><div>Mia</div>" in sent["html"]


@pytest.mark.thorough
def test_a_name_typed_before_the_signature_comes_is_still_a_name(app: App) -> None:
    page = app.open()
    signature = app.hold("mail.signature")
    app.press("c")
    ready(page)
    signature.asked()
    text(page).click()
    page.keyboard.type("So ;v")
    expect(offered(page)).to_have_count(1)
    signature.let_go()
    expect(text(page)).to_contain_text("Mia, by the sea")
    app.settled()
    expect(offered(page)).to_have_count(1)
    app.press("Enter")
    expect(text(page)).to_contain_text("So Dear {first name},")
    expect(text(page)).not_to_contain_text(";v")


@pytest.mark.thorough
def test_a_line_begun_before_the_signature_comes_becomes_a_list(app: App) -> None:
    page = app.open()
    signature = app.hold("mail.signature")
    app.press("c")
    ready(page)
    text(page).click()
    page.keyboard.type("-")
    signature.asked()
    signature.let_go()
    expect(text(page)).to_contain_text("Mia, by the sea")
    page.keyboard.type(" high")
    expect(text(page).locator("li")).to_have_text("high")


@pytest.mark.thorough
def test_a_field_before_the_cursor_is_a_tab_away_and_the_next_tab_leaves_the_text(app: App) -> None:
    page = compose(app)
    text(page).click()
    page.keyboard.type(";abo")
    expect(offered(page)).to_have_count(1)
    app.press("Enter")
    page.keyboard.type("soon")
    app.press("Tab")
    assert selection(page) == "{topic}"
    app.press("Tab")
    expect(text(page)).not_to_be_focused()
    expect(text(page)).to_contain_text("About {topic}: soon")


@pytest.mark.thorough
def test_undo_takes_it_back_and_escape_leaves_the_letters(app: App) -> None:
    page = compose(app)
    fill(page, body="So ;tha")
    expect(offered(page)).to_have_count(1)
    app.press("Tab")
    expect(text(page).locator("b")).to_have_text("thanks")
    page.keyboard.type("and")
    expect(text(page)).to_contain_text("So Many thanks, and so long.")
    app.press(*["Control+z"] * 2)
    expect(text(page).locator("b")).to_have_count(0)
    expect(text(page)).to_contain_text("So ;tha")
    app.press("End")
    page.keyboard.type("n")
    expect(offered(page)).to_have_count(1)
    app.press("Escape")
    expect(offered(page)).to_have_count(0)
    expect(window(page)).to_have_count(1)
    page.keyboard.type(" a;t")
    expect(offered(page)).to_have_count(0)


@pytest.mark.thorough
def test_what_is_written_becomes_a_snippet_and_recipients_of_one_join_those_that_are_there(app: App) -> None:
    app.tolerated = ("409",)
    page = compose(app)
    fill(page, subject="Tides", body="High at {hour}.")
    page.get_by_role("button", name="Snippets").click()
    page.get_by_role("button", name="Save as snippet").click()
    page.get_by_label("Name, one word").fill("thanks")
    page.get_by_label("With its recipients").check()
    app.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("called thanks already")
    page.get_by_label("Name, one word").fill("tides")
    page.get_by_role("button", name="Save as snippet").click()
    expect(page.get_by_text("Type ;tides to put it in.")).to_be_visible()
    (kept,) = [one for one in app.answers.snippets.values() if one["name"] == "tides"]
    assert (kept["html"], kept["subject"], kept["to"]) == ("<div>High at {hour}.</div>", "Tides", ["ann@sea.example"])
    text(page).click()
    app.press("Control+;")
    page.get_by_role("combobox", name="Snippet").fill("team")
    app.press("Enter")
    expect(chips(page)).to_have_text(["ann@sea.example", "Jonas"])
    expect(chips(page, "Bcc")).to_have_text(["boss@sea.example"])
    expect(page.get_by_label("Subject")).to_have_value("Tides")
    expect(text(page)).to_be_focused()


@pytest.mark.thorough
def test_the_palette_begins_a_message_with_a_snippet(app: App) -> None:
    page = app.open()
    app.press("Control+k")
    page.get_by_role("combobox", name="Command").fill("visit")
    page.get_by_role("option", name="visit Snippet").click()
    ready(page)
    expect(text(page)).to_contain_text("Dear {first name},")
    expect(text(page).locator("[data-signature]")).to_have_text("Mia, by the sea")


@pytest.mark.thorough
def test_snippets_are_kept_in_the_settings(start: Callable[..., App]) -> None:
    app = start(answers(), **NARROW, color_scheme="dark")
    page = app.open("/settings/snippets", ready=".snippet-row")
    check(page, "writing-phone-snippets-settings")
    page.get_by_role("button", name="New snippet").click()
    page.get_by_label("Name, one word").fill("bye")
    page.get_by_role("textbox", name="Text of the snippet").click()
    page.keyboard.type("See you, {name}.")
    page.get_by_text("Subject and recipients").click()
    page.get_by_label("Subject").fill("Bye")
    check(page, "writing-phone-snippet-form")
    page.get_by_text("Subject and recipients").focus()  # while a field has the keyboard, the bar below gives way to it
    assert "\n".join(small_targets(page)) == ""
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name="Edit bye")).to_be_visible()
    page.get_by_role("button", name="Delete bye").click()
    expect(page.get_by_role("button", name="Edit bye")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Edit bye")).to_be_visible()
    (kept,) = [one for one in app.answers.snippets.values() if one["name"] == "bye"]
    assert (kept["html"], kept["subject"]) == ("<div>See you, {name}.</div>", "Bye")


@pytest.mark.share(2)
@pytest.mark.look
@pytest.mark.parametrize(("name", "look"), [("phone", NARROW), ("dark", {"color_scheme": "dark"})])
def test_what_is_offered_passes_axe(start: Callable[..., App], name: str, look: dict[str, object]) -> None:
    app = start(answers(), **look)
    page = app.open()
    page.get_by_role("button", name="Compose", exact=True).click()
    ready(page)
    text(page).click()
    page.keyboard.type("Well, ;t")
    expect(offered(page)).to_have_count(2)
    check(page, f"writing-{name}-typed-snippet")
    app.press("Escape", "Control+;")
    expect(page.get_by_role("combobox", name="Snippet")).to_be_focused()
    check(page, f"writing-{name}-snippet-menu")
