"""What a person types while the editor still loads: it goes into the text, and not to the page's keys."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.browser import App, intercept, until
from tests.web.fake_server import FakeAnswers, Refusal
from tests.web.writer import draft, give, paste, png, ready, saved, text, window

pytestmark = pytest.mark.browser


def without_an_editor(page: Page) -> Callable[[], None]:
    """Holds back every script that is loaded from now on, as the editor's is. What it returns has them arrive."""
    held = list[Route]()
    intercept(page, "**/*.js", lambda route: held.append(route))

    def arrive() -> None:
        until(page, lambda: bool(held), what="the page to ask for the editor")
        addresses = [one.request.url for one in held]
        page.unroute("**/*.js")  # which lets them go on
        page.evaluate("async all => { await Promise.all(all.map(one => import(one))); }", addresses)

    return arrive


@pytest.mark.thorough
def test_words_typed_before_the_editor_has_loaded_stand_in_the_answer_and_writing_goes_on_behind_them(app: App) -> None:
    app.answers.signatures["acc_mia"] = "<div>Mia</div>"
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


@pytest.mark.thorough
def test_what_is_pasted_while_an_answer_is_prepared_stands_in_it(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    prepare = app.hold("mail.prepare")
    app.press("r")
    prepare.asked()
    paste(page.locator("body"), plain="See it:")
    give(page.locator("body"), "paste", ("a.png", "image/png", png(40, 20)))
    prepare.let_go()
    expect(text(page).locator("img")).to_have_count(1)
    saved(page)
    assert draft(app)["html"].startswith('<div>See it:<img src="cid:')


@pytest.mark.thorough
def test_a_picture_pasted_before_the_editor_has_loaded_is_a_file_until_then(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    arrive = without_an_editor(page)
    app.press("r")
    expect(text(page)).to_be_focused()
    page.keyboard.type("See it:")
    give(text(page), "paste", ("a.png", "image/png", png(40, 20)))
    expect(page.locator(".compose-file .attachment-name")).to_have_text(["a.png"])
    arrive()
    expect(text(page).locator("img")).to_have_count(1)
    expect(page.locator(".compose-file")).to_have_count(0)
    saved(page)
    assert draft(app)["html"].startswith('<div>See it:<img src="cid:')


@pytest.mark.thorough
def test_a_huge_text_pasted_before_the_editor_has_loaded_is_cut_and_that_is_said(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    arrive = without_an_editor(page)
    app.press("r")
    expect(text(page)).to_be_focused()
    page.keyboard.type("Look: ")
    paste(text(page), plain="A line that goes on for a while.\n" * 20_000)
    page.get_by_text("the first 400,000 letters were pasted").wait_for()
    page.keyboard.type(" and on")
    arrive()
    ready(page)
    saved(page)
    html = draft(app)["html"]
    assert html.startswith("<div>Look: A line that goes on for a while.</div><div>A line")
    assert " and on" in html
    assert html.count("A line") == 400_000 // len("A line that goes on for a while.\n") + 1


@pytest.mark.thorough
def test_an_answer_sent_before_the_editor_has_loaded_has_its_words(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    without_an_editor(page)
    app.press("r")
    expect(text(page)).to_be_focused()
    page.keyboard.type("Thanks & bye")
    app.press("Control+Enter")
    expect(window(page)).to_have_count(0)
    assert app.calls("mail.saveDraft")[-1]["html"] == "<div>Thanks &amp; bye</div><div><br></div>"


@pytest.mark.thorough
def test_an_editor_that_did_not_load_is_told_behind_the_words_and_comes_with_the_connection(
    start: Callable[..., App],
) -> None:
    app = start(FakeAnswers(has_socket=False))
    app.tolerated = ("net::ERR_FAILED", "WebSocket", "404")
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    intercept(page, "**/*.js", lambda route: route.abort())
    app.press("r")
    alert = page.get_by_role("alert").filter(has_text="The editor could not be loaded.")
    alert.wait_for()
    expect(text(page)).to_be_focused()
    page.keyboard.type("So far")
    app.press("Tab")
    expect(alert.get_by_role("button", name="Try again")).to_be_focused()
    page.unroute_all()
    app.answers.has_socket = True
    page.evaluate("dispatchEvent(new Event('online'))")  # at the latest now it tries again
    ready(page)
    expect(text(page)).to_contain_text("So far")
    expect(alert).to_have_count(0)


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_an_input_method_goes_on_with_its_word_when_the_editor_arrives(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    arrive = without_an_editor(page)
    app.press("r")
    expect(text(page)).to_be_focused()
    keyboard = page.context.new_cdp_session(page)
    keyboard.send("Input.imeSetComposition", {"text": "ni", "selectionStart": 2, "selectionEnd": 2})
    arrive()
    keyboard.send("Input.imeSetComposition", {"text": "niha", "selectionStart": 4, "selectionEnd": 4})
    keyboard.send("Input.insertText", {"text": "你"})
    ready(page)
    page.keyboard.type("!")
    expect(text(page).locator("div").first).to_have_text("你!")


@pytest.mark.thorough
def test_what_another_tab_saved_is_taken_without_the_words_typed_before_the_editor_has_loaded(app: App) -> None:
    app.tolerated = ("409",)
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    arrive = without_an_editor(page)
    app.press("r")
    expect(text(page)).to_be_focused()
    page.keyboard.type("mine")
    saved(page)
    with app.answers.lock:
        (key,) = app.answers.drafts
        app.answers.drafts[key].update(version=7, html="<div>theirs</div>")
    page.keyboard.type("!")
    page.get_by_role("button", name="Load the other").click()
    arrive()
    ready(page)
    expect(text(page)).to_have_text("theirs")


def answer_that_does_not_open(start: Callable[..., App], typed: str) -> App:
    """Typed while it was prepared; the notice says why it did not open, and the page's clock stands."""
    app = start(alone=True)
    app.tolerated = ("404",)
    app.answers.failing["mail.prepare"] = Refusal("NOT_FOUND", 404, "There is no such thread.")
    page = app.page
    page.clock.install()
    app.open()
    app.press("j")
    app.selects("thr_00")
    prepare = app.hold("mail.prepare")
    app.press("r")
    prepare.asked()
    page.keyboard.type(typed)
    page.clock.pause_at(datetime.now(UTC) + timedelta(seconds=5))
    prepare.let_go()

    def told() -> bool:
        page.clock.run_for(20)  # the page draws
        return page.get_by_text("Could not open the message: There is no such thread.").is_visible()

    until(page, told, what="the page to tell why")
    return app


@pytest.mark.thorough
def test_words_for_an_answer_that_does_not_open_are_no_commands_until_the_person_pauses(
    start: Callable[..., App],
) -> None:
    app = answer_that_does_not_open(start, "Pleas")
    app.page.keyboard.type("e#")
    app.page.clock.run_for(2_000)
    app.page.clock.resume()
    app.press("j")
    app.selects("thr_01")
    assert app.calls("mail.archive") == app.calls("mail.trash") == []


@pytest.mark.parametrize("typed", ["", "Pleas"])
@pytest.mark.thorough
def test_words_for_an_answer_that_did_not_open_stand_in_it_once_it_does(start: Callable[..., App], typed: str) -> None:
    """Also those that come after the failure, which may be all of them."""
    app = answer_that_does_not_open(start, typed)
    app.page.keyboard.type("e!")
    paste(app.page.locator("body"), plain=" Bye.")
    app.page.clock.resume()
    app.answers.failing.clear()
    app.page.get_by_role("button", name="Try again").click()
    ready(app.page)
    expect(text(app.page)).to_contain_text(f"{typed}e! Bye.")
    assert app.calls("mail.archive") == []


@pytest.mark.thorough
def test_words_for_the_message_that_opens_next_stand_in_it_even_if_the_one_before_is_moved_meanwhile(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    app.press("r")
    ready(page)
    kept = app.hold("mail.saveDraft")
    page.keyboard.type("First")
    page.get_by_role("button", name="Compose", exact=True).click()
    kept.asked()
    page.keyboard.type("ann@sea.example")
    page.get_by_role("button", name="More for this answer").click()
    page.get_by_role("button", name="Write in the window").click()
    expect(window(page).locator(".compose-head")).to_be_visible()
    expect(text(page)).to_contain_text("First")
    expect(text(page)).not_to_contain_text("ann@sea.example")
    kept.let_go()
    expect(page.get_by_role("combobox", name="To", exact=True)).to_have_value("ann@sea.example")
