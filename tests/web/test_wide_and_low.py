"""A wide window is used, and so is the little height of a phone on its side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import FloatRect, Locator, expect

from tests.support.browser import App
from tests.web.test_app_looks import check
from tests.web.test_people import Peopled

pytestmark = [pytest.mark.browser, pytest.mark.look, pytest.mark.share(2)]

WIDE: dict[str, Any] = {"viewport": {"width": 1920, "height": 1080}}
SIDEWAYS: dict[str, Any] = {"viewport": {"width": 844, "height": 390}, "has_touch": True, "is_mobile": True}
LEAST_ROWS = 5


def box(one: Locator) -> FloatRect:
    found = one.bounding_box()
    assert found
    return found


def beside(one: Locator, other: Locator) -> bool:
    left, right = box(one), box(other)
    return left["x"] + left["width"] < right["x"] and abs(left["y"] - right["y"]) < right["height"]


def test_at_1920_tasks_and_people_stand_in_two_columns_in_the_middle(start: Callable[..., App]) -> None:
    app = start(Peopled(), **WIDE)
    page = app.open("/p/people", ready=".people-suggested .thing")
    assert beside(page.locator(".people-all"), page.locator(".people-suggested"))
    check(page, "people-wide")
    page.get_by_role("searchbox").fill("jonas")
    expect(page.get_by_role("status").get_by_text("1 person")).to_be_visible()
    expect(page.locator(".people-suggested")).to_be_visible()  # nothing moves while one types
    app.answers.add_outgoing(subject="Later")
    app.answers.move_outgoing(app.answers.add_outgoing(subject="Gone"), state="sent")
    page.goto(f"{app.origin}/p/tasks")
    region = page.get_by_role("region", name="Scheduled")
    region.wait_for()
    assert beside(region, page.get_by_role("region", name="In the last 24 hours"))
    frame, panel = box(page.locator(".tasks-frame")), box(page.locator(".panel"))
    assert abs((frame["x"] - panel["x"]) * 2 + frame["width"] - panel["width"]) < 2, "in the middle"
    check(page, "tasks-wide")


def test_a_phone_on_its_side_has_room_for_rows_for_an_answer_and_for_a_new_mail(start: Callable[..., App]) -> None:
    app = start(**SIDEWAYS)
    page = app.open()
    rows = page.locator("[data-thread]").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).filter(({ bottom }) => bottom <= innerHeight).length"
    )
    assert rows >= LEAST_ROWS
    check(page, "list-sideways")
    page.locator("[data-thread]").first.tap()
    page.locator("iframe").first.wait_for()
    page.get_by_role("button", name="Reply", exact=True).last.tap()
    page.get_by_role("textbox", name="Message").wait_for()
    assert page.evaluate("document.documentElement.scrollHeight") == SIDEWAYS["viewport"]["height"]
    page.goto(f"{app.origin}/p/mail")
    page.get_by_role("button", name="Compose").tap()
    page.get_by_role("textbox", name="Message").wait_for()
    assert box(page.locator(".compose")) == {"x": 0, "y": 0, **SIDEWAYS["viewport"]}
    check(page, "compose-sideways")
