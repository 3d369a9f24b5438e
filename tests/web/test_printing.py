"""One message on paper, and as plain text."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FrameLocator, expect

from svc.protocol.security import PRINTED_HASH, PRINTS_HASH
from tests.support.browser import App
from tests.web.fake_server import STATIC
from tests.web.test_images import answers_with

ASKED = """() => { if (window !== top) window.print = () => {
    document.documentElement.dataset.asked = "";
    dispatchEvent(new Event("afterprint"));
    document.documentElement.dataset.asked = "done";
}; }"""
STAYS = "() => { if (window !== top) window.print = () => { document.documentElement.dataset.asked = ''; }; }"
LETTER = (
    "<script>document.title = 'ran'</script><p onclick='alert(1)'>Our offer</p>"
    "<img data-remote='0' width='300' height='150' alt='A harbour'><blockquote data-fold>Old words</blockquote>"
)


def printed(app: App) -> FrameLocator:
    return app.page.frame_locator("iframe.printed")


def from_menu(app: App, words: str) -> None:
    app.page.get_by_role("button", name="More for this message").click()
    menu = app.page.get_by_role("group", name="This message")
    menu.get_by_role("button", name=words, exact=True).click()


def hash_of(name: str, source: str) -> str:
    """Of a string in a module, as a policy names it."""
    text = re.search(rf'const {name} =\s*"(.+)";', source)
    assert text is not None
    return f"sha256-{base64.b64encode(hashlib.sha256(text[1].encode()).digest()).decode()}"


def test_the_server_lets_that_script_run_and_no_other() -> None:
    source = (STATIC / "mail" / "printing.js").read_text()
    assert hash_of("SCRIPT", source) == PRINTS_HASH
    assert f'const SCRIPT_HASH = "{PRINTS_HASH}";' in source
    assert hash_of("PRINTED", (STATIC / "mail" / "paper.js").read_text()) == PRINTED_HASH


@pytest.mark.thorough
@pytest.mark.browser
def test_a_message_is_printed_alone_with_its_headers_and_the_images_that_are_shown(start: Callable[..., App]) -> None:
    answers = answers_with(html=LETTER, folds=True, text="Our offer in words\n\nOld words", foldedLine=1)
    app = start(answers, alone=True, color_scheme="dark")
    app.page.add_init_script(f"({STAYS})()")
    app.tolerated = ("violates the following Content Security Policy",)
    app.open("/p/mail/t/thr_01", ready="iframe")
    app.page.get_by_role("button", name="Load images").click()
    expect(app.page.frame_locator(".frame iframe").locator("img[src^='data:']")).to_have_count(1)
    from_menu(app, "Print")
    page = printed(app)
    expect(page.locator("html[data-asked]")).to_have_count(1)
    expect(page.locator("body")).to_contain_text("From: ")
    expect(page.locator("body")).to_contain_text("Our offer")
    expect(page.locator("body")).not_to_contain_text("Old words")
    expect(page.locator("img[src^='data:']")).to_have_count(1)
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    frame = app.page.locator("iframe.printed")
    expect(frame).to_have_attribute("sandbox", "allow-scripts allow-modals")
    assert (
        page.locator("html").evaluate("() => { try { return parent.document.title; } catch { return 'shut'; } }")
        == "shut"
    )
    assert app.page.title() != "ran"
    from_menu(app, "As plain text")
    expect(app.page.locator(".card-text")).to_have_text("Our offer in words")
    from_menu(app, "Print")
    expect(page.locator("body")).to_contain_text("Our offer in words")
    from_menu(app, "As sent")
    expect(app.page.locator(".frame iframe")).to_be_visible()


@pytest.mark.thorough
@pytest.mark.browser
def test_what_was_printed_goes(start: Callable[..., App]) -> None:
    app = start(answers_with(), alone=True)
    app.page.add_init_script(f"({ASKED})()")
    app.open("/p/mail/t/thr_01", ready="iframe")
    from_menu(app, "Print")
    expect(app.page.locator("iframe.printed")).to_have_count(0)
    expect(app.page.locator(".frame iframe")).to_be_visible()


@pytest.mark.thorough
@pytest.mark.browser
def test_the_page_itself_stands_alone_on_paper_in_light_colours_and_at_full_length(start: Callable[..., App]) -> None:
    app = start(answers_with(html=LETTER + "<p>And so on</p>" * 100), alone=True, color_scheme="dark")
    app.tolerated = ("violates the following Content Security Policy",)
    page = app.open("/p/mail/t/thr_01", ready="iframe")
    page.get_by_role("button", name="Load images").click()
    picture = page.frame_locator(".frame iframe").locator("img[src^='data:']")
    expect(picture).not_to_have_css("filter", "none")
    page.emulate_media(media="print")
    expect(picture).to_have_css("filter", "none")
    expect(page.locator(".frame-box")).to_have_css("filter", "none")
    expect(page.locator("html")).to_have_css("color-scheme", "light")
    expect(page.locator(":is(nav, header.top, [role=toolbar], .list-pane):visible")).to_have_count(0)
    assert page.evaluate(
        "document.documentElement.scrollHeight > document.querySelector('.frame-box').clientHeight + 100"
    )
    page.goto(f"{app.origin}/settings/display")
    page.locator(".display-sample").wait_for()
    for media in ("screen", "print"):  # a browser that is slowed forgets it with the page
        page.emulate_media(media=media)
    assert page.evaluate("document.documentElement.scrollHeight > innerHeight")
