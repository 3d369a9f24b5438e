"""How writing mail and the task queue look: axe-core, light, dark and phone, with screenshots in tests/shots/."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web.fake_compose import instant
from tests.web.fake_server import FakeAnswers
from tests.web.test_app_looks import NARROW, SIZES, check_in_a_light, small_targets
from tests.web.writer import address, give_file, ready, saved, text, window

pytestmark = [pytest.mark.browser, pytest.mark.look, pytest.mark.share(2)]


def answers() -> FakeAnswers:
    made = FakeAnswers()
    made.signatures["acc_mia"] = "<div>Mia Tern</div><div>Tern &amp; Tide, walls by the sea</div>"
    made.add_draft(
        subject="Half a thought", to=["Amara Osei <amara.osei@example.org>"], html="<div>About the teal</div>"
    )
    made.add_draft(html="<div>nobody yet</div>")
    late = instant(datetime.now(UTC) - timedelta(hours=14))
    made.add_outgoing(subject="Minutes of Tuesday", hasAttachments=True)
    made.add_outgoing(subject="Figures", accountId="acc_hello", sendAt=instant(datetime.now(UTC) + timedelta(hours=3)))
    made.add_outgoing(subject="Ferry on Sunday", state="overdue", sendAt=late)
    made.add_outgoing(subject="Permit", state="failed", attempts=2, lastError="The address does not exist.")
    made.add_outgoing(subject="Quote, second version", state="uncertain", attempts=1)
    made.add_outgoing(subject="Thanks", state="sent", sendAt=late)
    return made


def test_writing_mail_passes_axe_and_fits(start: Callable[..., App], size: str) -> None:
    app = start(answers(), **SIZES[size])
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    check_in_a_light(page, f"compose-{size}-answers")
    page.get_by_role("button", name="Reply to all").click()
    ready(page)
    page.keyboard.type("Spring is fine. The smaller birds, please:")
    app.press("Enter", "Control+Shift+8")
    page.keyboard.type("north wall")
    app.press("Enter")
    page.keyboard.type("the one by the slip")
    page.get_by_role("button", name="Show the quoted message").click()
    give_file(window(page), "drop", "north wall at low tide.jpg", "image/jpeg", "picture")
    page.locator(".compose-file").wait_for()
    saved(page)
    expect(page.locator(".compose-file")).to_be_in_viewport(ratio=1)
    check_in_a_light(page, f"compose-{size}-reply")
    page.get_by_role("button", name="Send later").click()
    check_in_a_light(page, f"compose-{size}-later")
    app.press("Escape")
    expect(page.get_by_role("button", name="Send later")).to_be_focused()
    text(page).click()
    app.press("Control+k")
    window(page).evaluate("card => card.scrollIntoView({ block: 'end' })")  # its bars cover no line of it at its end
    check_in_a_light(page, f"compose-{size}-link")
    app.press("Escape", "Escape")
    expect(window(page)).to_have_count(0)


def test_what_is_said_while_writing_passes_axe(start: Callable[..., App], size_or_zoom: str) -> None:
    size = size_or_zoom
    app = start(answers(), **SIZES[size])
    page = app.open()
    if page.get_by_role("button", name="More", exact=True).is_visible():  # where there is no room for a menu of them
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("link", name="Drafts, 2").click()
        page.locator(".drafts-row").first.wait_for()
    else:
        page.get_by_role("button", name="Drafts (2)").click()
    check_in_a_light(page, f"compose-{size}-drafts")
    app.press("Escape")
    page.get_by_role("button", name="Compose", exact=True).click()
    ready(page)
    address(page, "jonas.feld@example.org", "nobody at all")
    page.get_by_role("combobox", name="To", exact=True).press_sequentially("ama")
    page.locator("[role=option][aria-selected=true]", has_text="Amara").wait_for()
    check_in_a_light(page, f"compose-{size}-people")
    app.press("Enter", "Control+Enter")
    page.get_by_role("alertdialog").wait_for()
    check_in_a_light(page, f"compose-{size}-findings")
    page.get_by_role("button", name="OK").click()
    page.get_by_role("button", name="Remove nobody at all").click()
    page.get_by_label("Subject").fill("Teal")
    text(page).click()
    page.keyboard.type("Which one?")
    app.answers.hold_s = 500
    app.press("Control+Enter")
    page.locator(".sending").wait_for()
    check_in_a_light(page, f"compose-{size}-sending")


def test_the_task_queue_and_signatures_pass_axe(start: Callable[..., App], size: str) -> None:
    app = start(answers(), **SIZES[size])
    page = app.open("/p/tasks", ready=".task")
    check_in_a_light(page, f"tasks-{size}")
    page.get_by_role("button", name="Another time: Minutes of Tuesday").click()
    check_in_a_light(page, f"tasks-{size}-later")
    page.goto(f"{app.origin}/settings/signatures")
    page.locator(".signature .rich-text[contenteditable=true]").first.wait_for()
    check_in_a_light(page, f"signatures-{size}")


def test_what_a_finger_presses_while_writing_is_large_enough(start: Callable[..., App]) -> None:
    app = start(answers(), **NARROW)
    page = app.open()
    page.get_by_role("button", name="Compose", exact=True).click()
    ready(page)
    address(page, "jonas.feld@example.org")
    page.get_by_role("button", name="Send later").click()
    assert "\n".join(small_targets(page)) == ""
    page.goto(f"{app.origin}/p/tasks")
    page.locator(".task").first.wait_for()
    assert "\n".join(small_targets(page)) == ""
