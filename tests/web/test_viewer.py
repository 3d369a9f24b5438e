"""Attachments looked at in place: pictures and text, by keyboard, and what is only downloaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.mail.images.pictures import PNG
from tests.support.browser import App, intercept
from tests.web.test_images import answers_with

pytestmark = pytest.mark.browser

HOSTILE = "<script>document.title = 'ran'</script> & plain"


def part(name: str, mime: str, number: int, size: int = 60) -> dict[str, Any]:
    return {"filename": name, "mime": mime, "size": size, "fileId": f"fil_{number}"}


@pytest.fixture
def opened(start: Callable[..., App]) -> App:
    parts = [
        part("wall.png", "image/png", 1),
        part("notes.txt", "text/plain; charset=utf-8", 2, 900_000),
        part("plan.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", 3),
        part("door.png", "image/png", 4),
        part("door.png", "image/png", 5),
    ]
    attachments = [{**one, "sha256": one["filename"].rjust(64, "0"), "damaged": False} for one in parts]
    answers = answers_with(html="<p>See below.</p>", inline=[{**parts[0], "contentId": "a@b"}], attachments=attachments)
    answers.files = {f"/files/fil_{number}/content": ("image/png", PNG) for number in (1, 4, 5)}
    answers.files["/files/fil_2/content"] = ("text/plain; charset=utf-8", HOSTILE.encode())
    app = start(answers)
    app.open("/p/mail/t/thr_01", ready="iframe")
    return app


@pytest.mark.thorough
def test_they_are_walked_through_by_keyboard_and_nothing_of_them_runs(opened: App) -> None:
    page = opened.page
    first = page.get_by_role("button", name="View wall.png")
    first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_have_accessible_name("wall.png")
    expect(dialog.get_by_role("img", name="wall.png")).to_have_js_property("naturalWidth", 2)
    opened.press("ArrowRight")
    expect(dialog).to_have_accessible_name("notes.txt")
    expect(dialog.locator("pre")).to_have_text(HOSTILE)
    expect(dialog).to_contain_text("This is its beginning.")
    opened.press("End")
    expect(dialog).to_have_accessible_name("door.png")
    expect(dialog.get_by_role("button", name="Next")).to_be_disabled()
    opened.press("Home")
    expect(dialog).to_have_accessible_name("wall.png")
    opened.press("Escape")
    expect(dialog).to_have_count(0)
    expect(first).to_be_focused()
    opened.at("/p/mail/t/thr_01")
    assert page.title() != "ran"


@pytest.mark.thorough
def test_the_same_file_stands_there_once_and_all_of_them_can_be_saved_at_once(opened: App) -> None:
    listed = opened.page.get_by_role("list", name="Attachments").get_by_role("listitem")
    expect(listed).to_have_count(4)
    expect(opened.page.get_by_role("link", name="Download plan.docx")).to_have_attribute("href", "/files/fil_3/content")
    id_ = opened.page.locator("[data-message]").get_attribute("data-message")
    every = opened.page.get_by_role("link", name="Save all 3")
    expect(every).to_have_attribute("href", f"/mail/messages/{id_}/attachments")


@pytest.mark.thorough
def test_what_can_not_be_shown_says_so(opened: App) -> None:
    opened.answers.files["/files/fil_4/content"] = ("image/png", b"no picture")
    intercept(opened.page, "**/files/fil_2/content", lambda route: route.fulfill(status=503))
    opened.tolerated = ("503",)
    opened.page.get_by_role("button", name="View door.png").click()
    dialog = opened.page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_have_text("This picture can't be shown. Download it.")
    opened.press("ArrowLeft")
    expect(dialog.get_by_role("alert")).to_have_text("Could not load it: the server answered 503")
