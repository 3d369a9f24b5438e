"""Rules 14 and 15 in a browser against the whole program: undo, schedule, the tick, failures, kills."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess
from tests.web.mail_rules.page_with_service import (
    MIA,
    PageWithService,
    app_page,
    seeded_service,
    sent_from,
    start_seeded,
)
from tests.web.writer import address, ready, text, window

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]

SHORT_HOLD = {"SVC_UNDO_SEND_SECONDS": "2"}
"""Over before a killed program serves again."""
AWAY = ("net::ERR_", "WebSocket", "503")
"""What a browser says of a program that was killed."""
MORNING = 10


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with seeded_service(tmp_path_factory.mktemp("seeded")) as process:
        yield process


@pytest.fixture
def app(browser: Browser, service: ServiceProcess) -> Iterator[PageWithService]:
    with app_page(browser, service) as opened:
        yield opened


def test_undo_takes_a_held_message_back_with_all_its_words(app: PageWithService) -> None:
    page = app.inbox()
    sends(app, "Second thoughts", "I am furious about the boots.")
    notice(page, "Second thoughts").get_by_role("button", name="Undo").click()
    ready(page)
    expect(text(page)).to_have_text("I am furious about the boots.")
    app.picture("rule-14-undone")
    assert outgoing(app, "Second thoughts")["state"] == "cancelled"
    assert sent_from(app.service, MIA, "Second thoughts") == []
    page.get_by_role("button", name="Delete the draft").click()
    expect(window(page)).to_have_count(0)


def test_a_held_message_can_be_taken_back_after_a_reload_too(app: PageWithService) -> None:
    page = app.inbox()
    sends(app, "Still held", "Words.")
    notice(page, "Still held").wait_for()
    page.reload()
    notice(page, "Still held").get_by_role("button", name="Undo").click()
    ready(page)
    expect(text(page)).to_have_text("Words.")
    assert sent_from(app.service, MIA, "Still held") == []


def test_a_message_is_scheduled_by_a_preset_and_stands_in_the_task_queue(
    browser: Browser, service: ServiceProcess
) -> None:
    zone, today = where_it_is_morning()
    with app_page(browser, service, timezone_id=zone) as app:
        page = app.inbox()
        writes(app, "Posters for the quay", "They are dry.")
        page.get_by_role("button", name="Send later").click()
        panel = page.get_by_role("dialog", name="Send later")
        offered = panel.get_by_role("option")
        expect(offered.first).to_contain_text("Later today")
        expect(offered.nth(1)).to_contain_text("Tomorrow")
        expect(offered.last).to_contain_text("Next Monday" if today.isoweekday() == 1 else "In a week")
        app.picture("rule-15-presets", dark=True, phone=True)
        offered.nth(1).click()
        page.get_by_text(re.compile("^It goes out .* 08:00")).wait_for()
        page.get_by_role("link", name=re.compile("^Tasks, 1: 1 scheduled")).click()
        expect(task(page, "Posters for the quay")).to_contain_text("08:00")
        expect(page.get_by_role("region", name="Scheduled")).to_contain_text("Posters for the quay")
        app.picture("rule-15-tasks", dark=True, phone=True)
        due = datetime.fromisoformat(outgoing(app, "Posters for the quay")["sendAt"]).astimezone(ZoneInfo(zone))
        assert (due.hour, due.minute, due.date()) == (8, 0, today.date() + timedelta(days=1))
        is_moved_to_a_day_and_time_of_ones_own(app, zone)
        is_taken_back_from_the_queue(app)


def test_the_tick_delivers_what_is_due_while_one_looks_on(app: PageWithService) -> None:
    page = app.inbox()
    schedules_for_later(app, "By the clock")
    app.go("/p/tasks")
    expect(task(page, "By the clock")).to_contain_text("Scheduled")
    soon = (datetime.now(UTC) + timedelta(seconds=3)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    app.service.mutate("mail.reschedule", id=outgoing(app, "By the clock")["id"], sendAt=soon)
    expect(page.get_by_role("region", name="In the last 24 hours")).to_contain_text("By the clock")
    expect(task(page, "By the clock")).to_contain_text("Sent")
    assert len(sent_from(app.service, MIA, "By the clock")) == 1
    app.picture("rule-15-delivered")


def test_what_the_provider_refuses_fails_with_its_reason_and_goes_out_on_the_persons_word(app: PageWithService) -> None:
    page = app.inbox()
    app.service.mutate("fake.mail.fault", address=MIA, operation="send", fault=403)
    sends(app, "Refused at first", "Please.")
    notice(page, "Refused at first").get_by_role("button", name="Send now").click()
    page.get_by_text("A message was not sent.").wait_for()
    app.picture("rule-15-trouble")
    page.get_by_role("link", name="Look at it").click()
    row = task(page, "Refused at first")
    expect(row).to_contain_text("The provider refuses this (403).")
    app.picture("rule-15-failed", dark=True)
    row.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("region", name="In the last 24 hours")).to_contain_text("Refused at first")
    assert len(sent_from(app.service, MIA, "Refused at first")) == 1


def test_an_answer_that_never_came_is_settled_by_what_the_mailbox_holds(app: PageWithService) -> None:
    page = app.inbox()
    app.service.mutate("fake.mail.fault", address=MIA, operation="send", fault="lost-answer")
    sends(app, "Did it arrive?", "I wonder.")
    notice(page, "Did it arrive?").get_by_role("button", name="Send now").click()
    app.eventually(lambda: outgoing(app, "Did it arrive?")["state"] == "sent")
    app.go("/p/tasks")
    expect(page.get_by_role("region", name="In the last 24 hours")).to_contain_text("Did it arrive?")
    assert len(sent_from(app.service, MIA, "Did it arrive?")) == 1


def test_a_kill_while_a_message_is_held_loses_nothing(browser: Browser, tmp_path: Path) -> None:
    with InstalledService(tmp_path) as service:
        start_seeded(service)
        with app_page(browser, service) as app:
            app.tolerated += AWAY
            page = app.inbox()
            sends(app, "Held in the dark", "Still mine.")
            notice(page, "Held in the dark").wait_for()
            service.kill()
            page.get_by_text("Reconnecting to the server.").wait_for()
            app.picture("rule-14-killed")
            start_seeded(service)
            page.get_by_text("Reconnecting to the server.").wait_for(state="detached")
            notice(page, "Held in the dark").get_by_role("button", name="Undo").click()
            ready(page)
            expect(text(page)).to_have_text("Still mine.")
            assert outgoing(app, "Held in the dark")["state"] == "cancelled"
            assert sent_from(service, MIA, "Held in the dark") == []
        assert service.stop() == 0


def test_what_came_due_while_the_killed_program_was_away_goes_once_and_the_page_says_so(
    browser: Browser, tmp_path: Path
) -> None:
    with InstalledService(tmp_path) as service:
        start_seeded(service, **SHORT_HOLD)
        with app_page(browser, service) as app:
            app.tolerated += AWAY
            page = app.inbox()
            sends(app, "Due in the dark", "It went.")
            service.kill()
            start_seeded(service, **SHORT_HOLD)
            page.get_by_text("Reconnecting to the server.").wait_for(state="detached")
            app.eventually(lambda: outgoing(app, "Due in the dark")["state"] in {"sent", "uncertain"})
            page.get_by_role("link", name=re.compile("^Tasks")).click()
            expect(task(page, "Due in the dark")).to_contain_text("Sent")
            expect(notice(page, "Due in the dark")).to_have_count(0)
            assert len(sent_from(service, MIA, "Due in the dark")) == 1
        assert service.stop() == 0
        assert service.command("fsck", "--deep").stdout == "ok\n"


def is_moved_to_a_day_and_time_of_ones_own(app: PageWithService, zone: str) -> None:
    page = app.page
    page.get_by_role("button", name="Another time: Posters for the quay").click()
    panel = page.get_by_role("dialog", name="Send later")
    year = datetime.now(UTC).year + 1
    panel.get_by_role("combobox").fill(f"4 March {year} at 9:15")
    expect(panel.get_by_role("option").first).to_contain_text(f"4 Mar {year}, 09:15")
    app.press("Enter")
    expect(task(page, "Posters for the quay")).to_contain_text(f"4 Mar {year}, 09:15")
    due = datetime.fromisoformat(outgoing(app, "Posters for the quay")["sendAt"])
    assert due.astimezone(ZoneInfo(zone)).strftime("%m-%d %H:%M") == "03-04 09:15"


def is_taken_back_from_the_queue(app: PageWithService) -> None:
    page = app.page
    page.get_by_role("button", name="Cancel: Posters for the quay").click()
    page.get_by_role("button", name="Don’t send it: Posters for the quay").click()
    page.get_by_text("It is among your drafts.").wait_for()
    expect(task(page, "Posters for the quay")).to_contain_text("Taken back")
    assert outgoing(app, "Posters for the quay")["state"] == "cancelled"
    assert sent_from(app.service, MIA, "Posters for the quay") == []


def schedules_for_later(app: PageWithService, subject: str) -> None:
    page = app.page
    writes(app, subject, "Tick.")
    page.get_by_role("button", name="Send later").click()
    page.get_by_role("dialog", name="Send later").get_by_role("option", name="Tomorrow").first.click()
    expect(window(page)).to_have_count(0)


def writes(app: PageWithService, subject: str, body: str) -> None:
    page = app.page
    app.press("c")
    ready(page)
    page.get_by_label("From").select_option(label=MIA)
    address(page, "ann@sea.example")
    page.get_by_label("Subject").fill(subject)
    text(page).click()
    page.keyboard.type(body)


def sends(app: PageWithService, subject: str, body: str) -> None:
    writes(app, subject, body)
    app.press("Control+Enter")
    expect(window(app.page)).to_have_count(0)


def notice(page: Page, subject: str) -> Locator:
    return page.get_by_role("group", name=f"Sending: {subject}")


def task(page: Page, subject: str) -> Locator:
    return page.get_by_role("listitem").filter(has_text=subject)


def outgoing(app: PageWithService, subject: str) -> dict[str, Any]:
    return next(one for one in app.service.query("mail.outgoing") if one["subject"] == subject)


def where_it_is_morning() -> tuple[str, datetime]:
    """A zone in which it is mid-morning, so that each preset has its place; and the time there."""
    now = datetime.now(UTC)
    ahead = (MORNING - now.hour + 11) % 24 - 11
    zone = f"Etc/GMT{-ahead:+d}" if ahead else "Etc/UTC"  # POSIX counts the other way
    return zone, now.astimezone(ZoneInfo(zone))
