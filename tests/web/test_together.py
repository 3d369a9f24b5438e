"""Who is usually written to together is offered below To, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web.fake_server import FakeAnswers
from tests.web.test_app_looks import NARROW, check, small_targets
from tests.web.writer import address, chips, compose, ready

pytestmark = pytest.mark.browser

JONAS, AMARA, OFFICE = "jonas.feld@example.org", "amara.osei@example.org", "office@harbour.example"


def answers() -> FakeAnswers:
    made = FakeAnswers()
    made.together = {JONAS: [AMARA, OFFICE], f"{JONAS} {OFFICE}": [AMARA]}
    return made


@pytest.mark.thorough
def test_those_who_belong_together_are_added_at_a_press_and_never_twice(start: Callable[..., App]) -> None:
    app = start(answers())
    page = compose(app)
    offers = page.get_by_role("group", name="Usually written to together").get_by_role("button")
    address(page, JONAS)
    expect(offers).to_have_text(["Amara Osei", "Harbour Office", "All 2"])
    app.press("Tab")
    expect(page.get_by_label("Subject")).to_be_focused()  # they are not in the way
    app.press("Shift+Tab", "Shift+Tab", "Shift+Tab", "Shift+Tab", "Shift+Tab")
    expect(offers.nth(1)).to_be_focused()
    app.press("Enter")
    expect(chips(page)).to_have_text([JONAS, "Harbour Office"])
    expect(page.get_by_role("combobox", name="To", exact=True)).to_be_focused()
    expect(offers).to_have_text(["Amara Osei"])
    offers.click()
    expect(chips(page)).to_have_text([JONAS, "Harbour Office", "Amara Osei"])
    expect(offers).to_have_count(0)


@pytest.mark.look
def test_it_fits_a_phone_and_passes_axe_and_all_come_at_one_press(start: Callable[..., App]) -> None:
    app = start(answers(), **NARROW, color_scheme="dark")
    page = app.open()
    page.get_by_role("button", name="Compose", exact=True).click()
    ready(page)
    address(page, JONAS)
    expect(page.get_by_role("button", name="Add Amara Osei")).to_be_visible()
    assert "\n".join(small_targets(page)) == ""
    check(page, "writing-phone-together")
    page.get_by_role("button", name="Add all 2").click()
    expect(chips(page)).to_have_text([JONAS, "Amara Osei", "Harbour Office"])
