"""What stands for images that are not shown: quiet boxes that keep a newsletter's shape, and no more room than that."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web.test_images import answers_with, opened

pytestmark = pytest.mark.browser

HTML = (
    "<table bgcolor='white' width='600'><tr><td style='background-color:#ffffff;color:black'>"
    "<img data-remote='0' width='500' height='900' alt='A harbour'>"
    "<img data-remote='1' style='width:300px;height:40px'><br>"
    "<img data-remote='2' width='500' height='12'><br>"
    "<img data-remote='3'><img data-remote='4' alt='Logo'><img data-remote='5' style='width:1px;height:1px'>"
    "<p>The end</p></td></tr></table>"
)
BOXES = """() => [...document.querySelectorAll("[data-remote]")].map(one => ({
    at: Number(one.dataset.remote), wide: one.offsetWidth, high: one.offsetHeight, role: one.getAttribute("role"),
    words: one.textContent }))"""


def test_they_keep_the_shape_of_a_newsletter_without_filling_the_screen(start: Callable[..., App]) -> None:
    addresses = [f"https://img.example/{number}.png" for number in range(6)]
    app = opened(start, answers_with(html=HTML, blockedImages=6, remoteImages=addresses))
    frame = app.page.frame_locator(".frame iframe")
    expect(frame.get_by_text("The end")).to_be_visible()
    assert frame.locator("html").evaluate(BOXES) == [
        {"at": 0, "wide": 500, "high": 400, "role": "img", "words": "A harbour"},
        {"at": 1, "wide": 300, "high": 40, "role": "img", "words": ""},
        {"at": 2, "wide": 500, "high": 12, "role": None, "words": ""},
        {"at": 4, "wide": frame.get_by_role("img", name="Logo").evaluate("one => one.offsetWidth"), "high": 32,
         "role": "img", "words": "Logo"},
    ]  # fmt: skip


@pytest.mark.thorough
def test_white_is_no_slab_on_dark_paper(start: Callable[..., App]) -> None:
    app = opened(start, answers_with(html=HTML), color_scheme="dark")
    frame = app.page.frame_locator(".frame iframe")
    for part in ("table", "td"):
        expect(frame.locator(part)).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    app.page.get_by_role("button", name="Light paper").click()
    expect(frame.locator("td")).to_have_css("background-color", "rgb(255, 255, 255)")
