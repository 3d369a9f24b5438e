"""Images in mail: remote ones load when asked, through the proxy, as data; the mail's own parts stand below it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.mail.images.pictures import GIF, PNG, SVG
from tests.support.browser import App
from tests.web import fake_mail
from tests.web.fake_images import no_image
from tests.web.fake_server import FakeAnswers

pytestmark = pytest.mark.browser

A, B, C = (f"https://img.example/{name}.png" for name in "abc")
HTML = (
    "<p>Look:</p><img data-remote='0' width='300' height='150' alt='A harbour'>"
    "<p><img data-remote='1'></p><img data-remote='2' width='1' height='1'><p>The end</p>"
)
SOURCE = "() => document.querySelector('iframe')?.srcdoc ?? ''"
REFUSED = "Failed to load resource"


def answers_with(**fields: Any) -> FakeAnswers:
    answers = FakeAnswers()
    detail = fake_mail.detail(answers.thread("thr_01"))
    letter = {"html": HTML, "blockedImages": 3, "remoteImages": [A, B, C], **fields}
    detail["messages"] = [{**detail["messages"][0], **letter}]
    answers.details["thr_01"] = detail
    answers.images = {A: (200, "image/png", PNG), B: (200, "image/gif", GIF), C: (200, "image/gif", GIF)}
    return answers


def opened(start: Callable[..., App], answers: FakeAnswers, **options: Any) -> App:
    app = start(answers, **options)
    app.open("/p/mail/t/thr_01", ready="iframe")
    return app


def images_in_frame(app: App, count: int) -> list[dict[str, Any]]:
    """Once so many are there and drawn."""
    images = app.page.frame_locator("iframe").locator("img[src^='data:']")
    expect(images).to_have_count(count)
    app.wait(lambda: bool(images.evaluate_all("all => all.every(one => one.complete)")), what="the images to be drawn")
    found: list[dict[str, Any]] = images.evaluate_all(
        """all => all.map(one => ({
            src: one.src.slice(0, 15), wide: one.offsetWidth, high: one.offsetHeight, there: one.naturalWidth,
        }))"""
    )
    return found


def test_images_load_when_asked_for_through_the_proxy_and_are_shown_as_data(start: Callable[..., App]) -> None:
    app = opened(start, answers_with())
    expect(app.page.locator(".blocked")).to_contain_text("3 images blocked")
    assert app.answers.fetched == []
    expect(app.page.get_by_role("button", name="Dark paper")).to_have_count(0)  # in the light there is no such choice
    app.page.get_by_role("button", name="Load images").click()
    first, second = images_in_frame(app, 2)
    assert sorted(app.answers.fetched) == [A, B], "what only counts readers is not fetched"
    assert (first["src"], first["wide"], first["high"], first["there"]) == ("data:image/png;", 300, 150, 2)
    assert (second["src"], second["there"]) == ("data:image/gif;", 1)
    source = app.page.evaluate(SOURCE)
    assert "img.example" not in source
    expect(app.page.locator(".blocked")).to_have_count(0)


@pytest.mark.thorough
def test_the_frame_has_room_for_images_before_and_after_they_load(start: Callable[..., App]) -> None:
    app = opened(start, answers_with(html="<p>Look:</p><img data-remote='0' width='300' height='400'><p>x</p>"))
    has_room = """() => {
        const { offsetHeight } = document.querySelector(".frame-box");
        return 440 < offsetHeight && offsetHeight < 620;
    }"""
    app.until(has_room)
    app.page.get_by_role("button", name="Load images").click()
    app.until(f"() => ({SOURCE})().includes('data:image/png')")
    app.until(has_room)


@pytest.mark.thorough
def test_an_image_without_a_size_gets_room_for_its_own(start: Callable[..., App]) -> None:
    answers = answers_with(html="<img data-remote='0' width='300'>")
    app = opened(start, answers)
    app.page.get_by_role("button", name="Load images").click()
    app.until(f"() => ({SOURCE})().includes('data:image/png')")
    assert images_in_frame(app, 1)[0]["high"] == 300
    app.until("() => document.querySelector('.frame-box').offsetHeight > 300")


def test_a_trusted_senders_images_load_by_themselves_and_the_sandbox_and_the_policy_hold(
    start: Callable[..., App],
) -> None:
    app = opened(start, answers_with(imagesAllowed=True))
    app.until(f"() => ({SOURCE})().includes('data:image/png') && ({SOURCE})().includes('data:image/gif')")
    frame = app.page.locator("iframe")
    expect(frame).to_have_attribute("sandbox", "allow-popups allow-popups-to-escape-sandbox")
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in app.page.evaluate(SOURCE)


def fetched(app: App, *, times: int) -> None:
    """Wait until the first image was fetched so often, and the page knows it."""
    app.wait(lambda: app.answers.fetched.count(A) == times, what=f"{times} fetches of the image")
    app.settled()


NO_PICTURES = {
    "svg in png clothes": (200, "image/png", SVG),
    "svg": (200, "image/svg+xml", SVG),
    "html": (200, "text/html", PNG),
    "cut": (200, "image/png", PNG[:20]),
}


@pytest.mark.thorough
def test_what_is_no_picture_never_gets_into_the_frame_and_what_fails_says_why_in_its_place(
    start: Callable[..., App],
) -> None:
    answers = answers_with()
    app = opened(start, answers)
    app.tolerated = (REFUSED,)
    button = app.page.get_by_role("button", name=re.compile("Load images|Try again"))
    for number, (kind, answer) in enumerate(NO_PICTURES.items(), start=1):
        answers.images[A] = answer
        button.click()
        fetched(app, times=number)
        app.page.get_by_text("1 image not loaded.").wait_for()
        assert "svg" not in app.page.evaluate(SOURCE), kind
        assert "data:image/png" not in app.page.evaluate(SOURCE), kind
    answers.images[A] = no_image(504, "The image was not loaded: there was no whole answer within 5 seconds.")
    button.click()
    place = app.page.frame_locator("iframe").get_by_role("img", name="A harbour – The image was not loaded: there was")
    place.wait_for()
    assert "within 5 seconds" in (place.get_attribute("title") or "")
    answers.images[A] = (200, "image/png", PNG)
    app.page.get_by_role("button", name="Try again").click()
    app.until(f"() => ({SOURCE})().includes('data:image/png')")
    assert answers.fetched.count(B) == 1, "what is there already is not fetched again"


@pytest.mark.thorough
def test_always_for_this_sender_loads_and_trusts_and_can_be_taken_back(start: Callable[..., App]) -> None:
    app = opened(start, answers_with())
    sender = app.answers.details["thr_01"]["messages"][0]["from"]["address"]
    app.page.get_by_role("button", name="Always for this sender").click()
    app.until(f"() => ({SOURCE})().includes('data:image/png')")
    assert app.called("mail.trustSender") == [{"address": sender, "trusted": True}]
    app.page.get_by_role("button", name="Undo").click()
    app.wait(lambda: app.answers.trusted == [], what="the trust to be taken back")
    app.open("/settings/images", ready="#images-title")
    app.page.get_by_text("No senders yet").wait_for()
    assert app.answers.trusted == []


def test_the_settings_list_whose_images_load_and_ask_again(start: Callable[..., App]) -> None:
    answers = FakeAnswers()
    answers.trusted = ["noa@example.org", "news@example.org"]
    app = start(answers)
    page = app.open("/settings/images", ready=".thing")
    expect(page.locator(".thing").first).to_contain_text("20 Nov 2026")
    page.get_by_role("button", name="Ask again: noa@example.org").click()
    page.get_by_text("noa@example.org").wait_for(state="detached")
    app.wait(lambda: answers.trusted == ["news@example.org"], what="one to be trusted still")


@pytest.mark.thorough
def test_loading_shows_its_progress_and_can_be_stopped(start: Callable[..., App]) -> None:
    answers = answers_with()
    answers.held = threading.Event()
    app = opened(start, answers)
    try:
        app.page.get_by_role("button", name="Load images").click()
        app.page.get_by_text("Loading images: 0 of 2").wait_for()
        app.page.get_by_role("button", name="Stop").click()
        app.page.get_by_role("button", name="Load images").wait_for()
    finally:
        answers.held.set()
    assert "data:image" not in app.page.evaluate(SOURCE)


@pytest.mark.thorough
def test_leaving_the_message_ends_what_is_under_way(start: Callable[..., App]) -> None:
    answers = answers_with(remoteImages=[f"https://img.example/{n}.png" for n in range(40)])
    answers.details["thr_01"]["messages"][0]["html"] = "".join(f"<img data-remote='{n}'>" for n in range(40))
    answers.held = threading.Event()
    app = opened(start, answers)
    try:
        app.page.get_by_role("button", name="Load images").click()
        app.page.get_by_text("Loading images: 0 of 40").wait_for()
        app.press("u")
        app.page.locator("iframe").first.wait_for(state="detached")
    finally:
        answers.held.set()
    app.settled()
    assert len(answers.fetched) <= 8


@pytest.mark.thorough
def test_pictures_of_the_mail_itself_stand_below_it(start: Callable[..., App]) -> None:
    part = {"filename": "wall.png", "mime": "image/png", "size": len(PNG), "fileId": "fil_7"}
    drawing = {**part, "filename": "plan.svg", "mime": "image/svg+xml", "fileId": "fil_8"}
    broken = {**part, "filename": "broken.gif", "mime": "image/gif", "fileId": "fil_9"}
    parts = [part, drawing, broken]
    inline = [{**one, "contentId": "one@here"} for one in parts]
    attachments = [{**one, "sha256": "0" * 64, "damaged": False} for one in parts]
    answers = answers_with(
        html="<p>See below.</p>", blockedImages=0, remoteImages=[], inline=inline, attachments=attachments
    )
    answers.files["/files/fil_7/content"] = ("image/png", PNG)
    app = opened(start, answers)
    app.tolerated = (REFUSED,)
    picture = app.page.get_by_role("button", name="View wall.png")
    picture.wait_for()
    app.until("() => document.querySelector('.picture img')?.naturalWidth === 2")
    expect(app.page.locator(".picture img")).to_have_count(1)
    chip = app.page.get_by_role("link", name="Download plan.svg")
    expect(chip).to_have_attribute("href", "/files/fil_8/content")


COLOURED = "<p style='color:#b00020'>Sale</p>"


@pytest.mark.thorough
def test_mail_with_colours_of_its_own_is_on_light_paper_in_the_dark_unless_somebody_asks(
    start: Callable[..., App],
) -> None:
    app = opened(start, answers_with(html=COLOURED), color_scheme="dark")
    box = app.page.locator(".frame-box")
    expect(box).to_have_css("filter", "none")
    app.page.get_by_role("button", name="Dark paper").click()
    expect(box).to_have_css("filter", re.compile("invert"))
    app.page.reload()
    app.page.locator("iframe").first.wait_for()
    expect(box).to_have_css("filter", re.compile("invert"))
    app.page.get_by_role("button", name="Light paper").click()
    expect(box).to_have_css("filter", "none")


@pytest.mark.thorough
def test_mail_without_colours_is_dark_like_the_app_unless_somebody_asks(start: Callable[..., App]) -> None:
    app = opened(start, answers_with(html="<p style='color:black'>Hello</p>"), color_scheme="dark")
    box = app.page.locator(".frame-box")
    expect(box).to_have_css("filter", re.compile("invert"))
    expect(box).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    app.page.get_by_role("button", name="Light paper").click()
    expect(box).to_have_css("filter", "none")
    app.page.reload()
    app.page.locator("iframe").first.wait_for()
    expect(box).to_have_css("filter", "none")


HAVE_COLOURS = (
    ("<p>Hello</p>", False),
    ("<p style='color: #000000 !important; background: WHITE'>Hello</p>", False),
    ("<p style='color: windowtext; border: 1px solid'>Hello</p>", False),
    ("<p style='color:#202830'>As Apple and Outlook write it</p><font color='#666'>a signature</font>", False),
    ("<p style='color: rgb(34, 34, 34); background-color: #fafafa'>As Gmail writes it</p>", False),
    ("<a style='color:#1155cc'>A link</a><blockquote style='color:#5a6672'>A quotation</blockquote>", False),
    ("<blockquote style='background:#3f6b3a'>A newsletter</blockquote>", True),
    ("<p style='color:#1f497d'>As somebody chose it</p>", True),
    ("<table bgcolor='#FFFFFF'><tr><td>Hello</td></tr></table>", False),
    ("<p style='background-color:#000'>Hello</p>", True),
    ("<p style='color:white'>Hello</p>", True),
    ("<p style='margin:0;background: url(data:x)'>Hello</p>", True),
    ("<blockquote style='border-left:1px solid #ccc'>Hello</blockquote>", False),
    ("<table bgcolor='#eeeeee'><tr><td>Hello</td></tr></table>", True),
    ("<font color='red'>Hello</font>", True),
)


@pytest.mark.thorough
def test_black_on_white_is_no_choice_of_colours(app: App) -> None:
    page = app.open()
    for html, coloured in HAVE_COLOURS:
        found = page.evaluate(
            """async html => {
                const { hasColours } = await import(document.querySelector("script[src$='/app.js']").src
                    .replace("/app.js", "/mail/colours.js"));
                return hasColours(new DOMParser().parseFromString(html, "text/html").body);
            }""",
            html,
        )
        assert found is coloured, html


@pytest.mark.thorough
def test_above_a_message_stands_what_may_deceive_and_why_nothing_of_it_loads(start: Callable[..., App]) -> None:
    pixel = "<p>Read me</p><img data-remote='0' width='1' height='1'>"
    answers = answers_with(html=pixel, blockedImages=1, remoteImages=[A], imagesAllowed=True)
    backgrounds = fake_mail.detail(answers.thread("thr_02"))
    backgrounds["messages"][-1] |= {"html": "<p>Paper</p>", "blockedImages": 2, "remoteImages": []}
    deceives = fake_mail.detail(answers.thread("thr_03"))
    deceives["messages"][-1]["warnings"] = ["A link shows example.com but goes to evil.test"]
    answers.details |= {"thr_02": backgrounds, "thr_03": deceives}
    app = opened(start, answers)  # of trackers alone: only a person loads them
    bar = app.page.locator(".blocked")
    expect(bar).to_contain_text("1 image blocked")
    expect(bar.get_by_role("button")).to_have_text(["Load images"])
    assert app.answers.fetched == []
    bar.get_by_role("button", name="Load images").click()
    bar.wait_for(state="detached")
    assert len(app.answers.fetched) == 1
    app.press("j")
    app.at("/p/mail/t/thr_02")  # of backgrounds alone: nothing can be loaded
    expect(bar).to_contain_text("never loaded")
    app.press("j")
    app.at("/p/mail/t/thr_03")
    expect(app.page.get_by_role("list", name="Be careful")).to_contain_text("goes to evil.test")
