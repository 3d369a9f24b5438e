"""How finding and picking look and read: axe, light, dark and phone, with screenshots in tests/shots/."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.browser import App
from tests.web import fake_mail
from tests.web.fake_server import FakeAnswers
from tests.web.test_app_looks import NARROW, SIZES, check_in_a_light, small_targets

pytestmark = [pytest.mark.browser, pytest.mark.look, pytest.mark.share(2)]


def marked_answers() -> FakeAnswers:
    """Rows with every mark there is."""
    answers = FakeAnswers()
    answers.threads[1]["starred"] = True
    answers.threads[2]["sender"]["title"] = "Nordwind (printers)"
    answers.threads[-1]["snoozedUntil"] = fake_mail.at(days=-2)
    duplicate = fake_mail.thread(id="thr_twin", account=fake_mail.HELLO, when=answers.threads[0]["lastMessageAt"])
    answers.threads.append(duplicate)
    fake_mail.twins(answers.threads[0], duplicate)
    answers.notices = ["“colour:” means nothing here."]
    return answers


def test_finding_and_picking_pass_axe_and_fit(start: Callable[..., App], size: str) -> None:
    app = start(marked_answers(), **SIZES[size])
    page = app.open()
    app.press("j", "x", "Shift+J")
    check_in_a_light(page, f"list-{size}-picked")
    app.press("ArrowRight")
    page.get_by_role("gridcell").get_by_role("checkbox", name="Pick").wait_for()
    check_in_a_light(page, f"list-{size}-buttons")
    app.press("Home", "l")
    page.get_by_role("dialog", name="Labels").get_by_role("option").first.wait_for()
    page.keyboard.type("tra")
    check_in_a_light(page, f"list-{size}-labels")
    app.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    app.press("h")
    check_in_a_light(page, f"list-{size}-snooze")
    app.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    app.press("Escape", "Control+k")
    page.get_by_role("dialog", name="Commands").get_by_role("option").first.wait_for()
    check_in_a_light(page, f"list-{size}-palette")
    app.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    app.press("/")
    check_in_a_light(page, f"list-{size}-offers")
    page.keyboard.type("council")
    page.locator("mark").first.wait_for()
    check_in_a_light(page, f"list-{size}-found")
    page.get_by_role("button", name="Clear the search").click()
    if page.get_by_role("button", name="More", exact=True).is_visible():
        page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("link", name="Travel", exact=True).wait_for()
    check_in_a_light(page, f"list-{size}-places")
    page.goto(f"{app.origin}/p/mail/t/thr_00")
    page.locator("iframe").first.wait_for()
    check_in_a_light(page, f"list-{size}-twin")


def test_what_a_finger_presses_there_is_large_enough(start: Callable[..., App]) -> None:
    app = start(marked_answers(), **NARROW)
    page = app.open("/p/mail/l/Travel")
    assert "\n".join(small_targets(page)) == ""
    app.press("j", "x")
    assert "\n".join(small_targets(page)) == ""
    page.goto(f"{app.origin}/p/mail/t/thr_00")
    page.locator("iframe").first.wait_for()
    assert "\n".join(small_targets(page)) == ""
