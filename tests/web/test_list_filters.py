"""Filters above a list: by chip and by key, kept while one goes into a thread and back, and true as things change."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.support.browser import PHONE, App
from tests.web.fake_server import FakeAnswers

pytestmark = pytest.mark.browser


def chip(app: App, name: str) -> Locator:
    return app.page.get_by_role("group", name="Show only").get_by_role("button", name=name)


@pytest.mark.thorough
def test_a_chip_narrows_both_sections_and_opens_them_again(app: App) -> None:
    page = app.open()
    chip(app, "Unread").click()
    page.wait_for_url("**/p/mail?only=unread")
    expect(app.row("thr_01")).to_have_count(1)
    expect(app.row("thr_02")).to_have_count(0)
    page.get_by_text("Nothing here is unread.").wait_for()  # below “Skipped the inbox”
    expect(chip(app, "Unread")).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(app.row("thr_01")).to_have_count(1)
    expect(app.row("thr_02")).to_have_count(0)
    chip(app, "Unread").click()
    page.wait_for_url(re.compile(r"/p/mail$"))
    expect(app.row("thr_02")).to_have_count(1)


@pytest.mark.thorough
def test_a_filter_is_kept_in_a_thread_and_back_and_what_is_read_does_not_vanish_underneath(app: App) -> None:
    page = app.open()
    app.chord("v", "u")
    page.wait_for_url("**/p/mail?only=unread")
    app.row("thr_00").click()
    page.wait_for_url("**/p/mail/t/thr_00?only=unread")
    app.called("mail.open")
    app.press("j")
    page.wait_for_url(re.compile(r"/t/(?!thr_00)\w+\?only=unread$"))
    app.press("u")
    page.wait_for_url("**/p/mail?only=unread")
    expect(app.row("thr_00")).to_have_count(1)  # it stays until the list is asked for anew
    app.chord("v", "u")
    page.wait_for_url(re.compile(r"/p/mail$"))
    app.chord("v", "u")
    expect(app.row("thr_00")).to_have_count(0)
    app.press("Escape")
    page.wait_for_url(re.compile(r"/p/mail$"))


@pytest.mark.thorough
def test_a_filter_with_nothing_to_show_says_so_and_lets_one_out(app: App) -> None:
    page = app.open()
    app.chord("v", "s")
    page.get_by_text("Nothing here is starred", exact=True).wait_for()
    page.get_by_role("button", name="Show all").click()
    expect(app.row("thr_00")).to_have_count(1)


@pytest.mark.thorough
def test_new_mail_shows_itself_where_it_passes(app: App) -> None:
    page = app.open()
    chip(app, "To me").click()
    page.wait_for_url("**?only=to-me")
    expect(app.row("thr_00")).to_have_count(1)
    other = app.answers.add(subject="To a list")
    app.answers.change(other, toMe=False)
    mine = app.answers.add(subject="To Mia")
    expect(app.row(mine)).to_have_count(1)
    page.reload()
    expect(app.row(mine)).to_have_count(1)
    expect(app.row(other)).to_have_count(0)


def test_a_search_is_narrowed_by_its_own_words(app: App) -> None:
    page = app.open("/p/mail/search?q=council")
    app.row("thr_00").wait_for()
    with page.expect_request(lambda one: "mail.search" in one.url and "council%20has%3Aattachment" in one.url):
        app.chord("v", "a")
    page.wait_for_url("**/search?q=council%20has%3Aattachment")
    expect(page.get_by_role("combobox", name="Search mail")).to_have_value("council has:attachment")
    app.chord("v", "a")
    page.wait_for_url("**/search?q=council")


@pytest.mark.thorough
def test_a_filter_holds_in_every_search_until_it_is_taken_away(app: App) -> None:
    page = app.open("/p/mail?only=attachment")
    field = page.get_by_role("combobox", name="Search mail")
    field.fill("coun")
    page.wait_for_url("**/search?q=coun&only=attachment")
    field.fill("council")
    page.wait_for_url("**/search?q=council&only=attachment")
    assert app.calls("mail.search")[-1]["query"] == "has:attachment council"
    page.get_by_role("button", name="Clear the search").click()
    page.wait_for_url("**/p/mail?only=attachment")
    field.fill("council")
    page.wait_for_url("**/search?q=council&only=attachment")
    page.keyboard.press("Enter")
    page.reload()
    app.row("thr_00").wait_for()
    expect(chip(app, "Has attachment")).to_have_attribute("aria-pressed", "true")
    chip(app, "Has attachment").click()
    page.wait_for_url("**/search?q=council")


@pytest.mark.thorough
def test_the_chips_fit_a_phone(start: Callable[..., App]) -> None:
    app = start(FakeAnswers(), viewport=PHONE, has_touch=True)
    page = app.open()
    expect(chip(app, "Unread")).to_be_hidden()
    page.get_by_role("button", name="Filters").click()
    for name in ("Unread", "To me", "Has attachment", "Starred"):
        box = chip(app, name).bounding_box()
        assert box is not None
        assert box["height"] >= 40
        assert box["x"] + box["width"] <= PHONE["width"]
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.thorough
@pytest.mark.parametrize("address", ["/p/mail/search/t/thr_00?q=filename%3Awall", "/p/mail/t/thr_00?only=attachment"])
def test_who_looks_for_a_file_sees_it_in_the_thread_without_another_click(app: App, address: str) -> None:
    messages = app.answers.details["thr_00"]["messages"]
    older, newest = messages[2], messages[-1]
    older["attachments"], newest["attachments"] = newest["attachments"], []
    file = app.open(address, ready="iframe").get_by_text("harbour-wall-elevations.pdf")
    expect(file).to_be_visible()
    app.open("/p/mail/t/thr_00", ready="iframe")
    expect(file).to_have_count(0)
