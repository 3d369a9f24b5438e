"""A setting is found by its section's name and by what stands in it, from the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import PHONE, App
from tests.web.fake_identity import JONAS, IdentityAnswers, signed_in

pytestmark = pytest.mark.browser


def settings(start: Callable[..., App], answers: IdentityAnswers | None = None, **options: Any) -> tuple[App, Page]:
    app = start(answers or IdentityAnswers(), **options)
    return app, app.open("/settings", ready=".who")


def links(page: Page) -> Locator:
    return page.locator(".settings-list a")


def test_slash_finds_by_what_a_section_holds_and_enter_opens_the_first(start: Callable[..., App]) -> None:
    app, page = settings(start)
    app.press("/")
    field = page.get_by_role("searchbox", name="Find a setting")
    expect(field).to_be_focused()
    field.press_sequentially("QUIET h")
    expect(links(page)).to_have_text(["NotificationsQuiet hours"])
    field.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Notifications")
    expect(field).to_be_focused()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("signature", ["Signatures"]),
        ("senders trusted", ["ImagesTrusted senders"]),
        ("dark", ["DisplayDark"]),
        ("mail accounts password", ["AccountsPassword"]),
        ("ccounts", []),
    ],
)
def test_every_word_begins_one_of_a_setting(start: Callable[..., App], text: str, found: list[str]) -> None:
    _, page = settings(start)
    page.get_by_role("searchbox", name="Find a setting").fill(text)
    expect(links(page)).to_have_text(found)
    expect(page.locator(".settings-none")).to_have_text("" if found else "No setting has these words.")


def test_a_section_that_only_admins_see_is_found_by_nobody_else(start: Callable[..., App]) -> None:
    _, page = settings(start, IdentityAnswers(me=signed_in(JONAS)))
    page.get_by_role("searchbox", name="Find a setting").fill("google")
    expect(links(page)).to_have_count(0)
    expect(page.get_by_role("status").filter(has_text="No setting has these words.")).to_be_visible()


def test_escape_takes_the_words_away_then_leaves_the_field_then_the_settings(start: Callable[..., App]) -> None:
    app, page = settings(start)
    every = links(page).count()
    field = page.get_by_role("searchbox", name="Find a setting")
    field.fill("images")
    expect(links(page)).to_have_count(1)
    field.press("Escape")
    expect(field).to_have_value("")
    expect(links(page)).to_have_count(every)
    field.press("Escape")
    expect(field).not_to_be_focused()
    app.press("Escape")
    page.locator("[data-thread]").first.wait_for()


@pytest.mark.thorough
def test_the_sections_stand_below_headings_and_fold_on_a_phone(
    start: Callable[..., App],
) -> None:
    _, page = settings(start, viewport=PHONE)
    groups = page.locator(".settings-group")
    expect(groups.first).to_be_hidden()
    unfold = page.get_by_role("button", name="Profile General")
    expect(unfold).to_have_attribute("aria-expanded", "false")
    unfold.click()
    expect(page.get_by_role("group", name="Mail").get_by_role("link", name="Signatures")).to_be_visible()
    expect(groups.first.get_by_role("heading")).to_have_text("General")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.get_by_role("link", name="Signatures").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Signatures")
    expect(groups.first).to_be_hidden()  # folds again by itself, and names the new one
    page.get_by_role("searchbox", name="Find a setting").fill("quiet")
    expect(links(page)).to_have_text(["NotificationsQuiet hours"])
    page.get_by_role("searchbox", name="Find a setting").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Notifications")
