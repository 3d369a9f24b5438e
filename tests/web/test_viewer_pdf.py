"""PDFs looked at in place: drawn as they come into sight; and what a hostile one can't do."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.support.browser import PHONE, App
from tests.web import pdf_files
from tests.web.test_images import answers_with
from tests.web.test_viewer import part

pytestmark = pytest.mark.browser

PIXEL = """(page, [x, y]) => {
    const canvas = page.querySelector("canvas");
    const pixel = canvas.getContext("2d").getImageData(canvas.width * x, canvas.height * y, 1, 1);
    return [...pixel.data].slice(0, 3);
}"""
BLUE = [26, 76, 178]
"""Of 0.1, 0.3 and 0.7, in which ``pdf_files.words`` draws its square."""
IN_SQUARE = [0.13, 0.14]
TOO_LARGE = 33_554_433
STEP_WITHIN_MS = 12_000


def started(start: Callable[..., App], *files: bytes, sizes: Sequence[int] = (), **options: Any) -> App:
    """The app with a mail that has these PDFs: ``1.pdf`` and so on."""
    told = [*sizes, *map(len, files[len(sizes) :])]
    parts = [part(f"{at}.pdf", "application/pdf", at, size) for at, size in enumerate(told, 1)]
    attachments = [{**one, "sha256": one["filename"].rjust(64, "0"), "damaged": False} for one in parts]
    answers = answers_with(html="<p>See below.</p>", attachments=attachments)
    answers.files = {f"/files/fil_{at}/content": ("application/pdf", data) for at, data in enumerate(files, 1)}
    return start(answers, **options)


def looked_at(app: App) -> App:
    app.open("/p/mail/t/thr_01", ready="iframe")
    app.page.get_by_role("button", name="View 1.pdf").click()
    return app


def page_of(app: App, number: int) -> Locator:
    return app.page.locator(".viewer-page").nth(number - 1)


@pytest.mark.thorough
def test_its_pages_are_drawn_as_they_come_into_sight_and_let_go_of(start: Callable[..., App]) -> None:
    data = pdf_files.pages(*(pdf_files.words(f"Sheet {number}") for number in range(1, 10)))
    app = looked_at(started(start, data, viewport=PHONE))
    expect(app.page.get_by_role("img", name="Page 1 of 9")).to_be_visible()
    assert page_of(app, 1).evaluate(PIXEL, IN_SQUARE) == BLUE
    expect(page_of(app, 1)).to_contain_text("Sheet 1")
    expect(page_of(app, 9).locator("canvas")).to_have_count(0)
    sheets = app.page.get_by_role("group", name="Pages")
    sheets.evaluate("pages => { pages.scrollTop = pages.scrollHeight; }")
    expect(app.page.get_by_role("img", name="Page 9 of 9")).to_be_visible()
    expect(page_of(app, 1).locator("canvas")).to_have_count(0)
    assert sheets.evaluate("pages => pages.scrollWidth <= pages.clientWidth")


@pytest.mark.thorough
def test_a_hostile_one_runs_nothing_and_asks_nothing_and_its_pictures_need_no_right_of_their_own(
    start: Callable[..., App],
) -> None:
    app = started(start, pdf_files.with_scripts(), pdf_files.scanned())
    asked: list[str] = []
    app.page.on("request", lambda request: asked.append(request.url))
    app.open("/p/mail/t/thr_01", ready="iframe")
    assert not [url for url in asked if "/pdf/" in url], "the app is no larger for whoever opens no PDF"
    looked_at(app)
    expect(page_of(app, 1)).to_contain_text("Scripts")
    page_of(app, 1).click()
    assert app.page.title() != "ran"
    assert {url.removeprefix(app.origin) for url in asked if "evil" in url or not url.startswith(app.origin)} == set()
    app.at("/p/mail/t/thr_01")
    app.press("ArrowRight")
    expect(app.page.get_by_role("dialog", name="2.pdf").locator("canvas")).to_be_visible()
    assert page_of(app, 1).evaluate(PIXEL, [0.5, 0.5]) == [0, 0, 0]


@pytest.mark.thorough
def test_what_can_not_be_shown_says_so(start: Callable[..., App]) -> None:
    whole = pdf_files.pages(pdf_files.words("Cut"))
    endless_paper = pdf_files.pages(b"", size=(1, 90_000))
    noise = random.Random(7).randbytes(5_000)
    app = started(start, whole, noise, whole[:300], endless_paper, pdf_files.locked(), sizes=[TOO_LARGE])
    fetched: list[str] = []
    app.page.on("request", lambda request: fetched.append(request.url) if "/files/fil_" in request.url else None)
    looked_at(app)
    dialog, problem = app.page.get_by_role("dialog"), app.page.get_by_role("alert")
    expect(problem).to_have_text("This PDF is too large to be shown here. Download it.")
    assert fetched == [], "it is not even fetched"
    for number in (2, 3, 4):
        app.press("ArrowRight")
        expect(dialog).to_have_accessible_name(f"{number}.pdf")
        expect(problem).to_have_text("This PDF can't be shown. Download it.")
    app.press("ArrowRight")
    expect(problem).to_have_text("This PDF opens with a password only. Download it.")
    expect(dialog.get_by_role("link", name="Download")).to_have_attribute("href", "/files/fil_5/content")


@pytest.mark.thorough
def test_one_that_never_ends_is_given_up(start: Callable[..., App]) -> None:
    app = started(start, pdf_files.endless(), alone=True)
    app.page.clock.install()
    looked_at(app)
    expect(page_of(app, 1)).to_be_visible()
    app.page.clock.run_for(STEP_WITHIN_MS)
    expect(app.page.get_by_role("alert")).to_have_text("This PDF can't be shown. Download it.")
    app.press("Escape")
    expect(app.page.get_by_role("dialog")).to_have_count(0)
