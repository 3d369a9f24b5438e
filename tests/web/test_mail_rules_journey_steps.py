"""Steps on mail in a browser against the whole program: star, label, snooze, spam, many, search, palette, undo."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.process import ServiceProcess
from tests.web.mail_rules.page_with_service import (
    HOME,
    MIA,
    PageWithService,
    account,
    app_page,
    arrives,
    labels_of,
    seeded_service,
)

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with seeded_service(tmp_path_factory.mktemp("seeded")) as process:
        yield process


@pytest.fixture
def app(browser: Browser, service: ServiceProcess) -> Iterator[PageWithService]:
    with app_page(browser, service) as opened:
        yield opened


def test_s_stars_and_the_star_is_listed(app: PageWithService) -> None:
    page, thread_id = with_mail(app, "Worth a star")
    app.press("s")
    expect(row(page, thread_id).locator(".row-star")).to_be_visible()
    app.eventually(lambda: "STARRED" in labels_of(app.service, thread_id))
    app.chord("g", "s")
    page.wait_for_url("**Starred**")
    expect(row(page, thread_id)).to_be_visible()
    app.picture("step-starred")


def test_l_makes_a_label_puts_it_on_and_lists_by_it(app: PageWithService) -> None:
    page, thread_id = with_mail(app, "To be sorted")
    app.press("l")
    dialog = page.get_by_role("dialog", name="Labels")
    dialog.get_by_role("combobox", name="Label").fill("Harbour/Ladders")
    dialog.get_by_text("Make the label").wait_for()
    dialog.get_by_role("radio", name="Colour 4").check(force=True)
    app.picture("step-label", dark=True, phone=True)
    dialog.get_by_role("combobox", name="Label").press("Enter")
    chip = row(page, thread_id).locator(".chip.label", has_text="Harbour/Ladders")
    expect(chip).to_be_visible()
    app.eventually(lambda: [account(app.service, MIA)["id"]] == [one["accountId"] for one in made(app.service)])
    app.eventually(lambda: {one["id"] for one in made(app.service)} <= labels_of(app.service, thread_id))
    chip.click()
    page.wait_for_url("**Ladders**")
    expect(page.locator("[data-thread]")).to_have_count(1)
    app.picture("step-by-label")


def test_h_snoozes_and_the_thread_comes_back_by_itself(app: PageWithService) -> None:
    page, thread_id = with_mail(app, "Not before Monday")
    app.press("h")
    dialog = page.get_by_role("dialog", name="Snooze")
    app.picture("step-snooze", dark=True)
    dialog.get_by_role("option", name="Tomorrow").first.click()
    expect(row(page, thread_id)).to_have_count(0)
    app.eventually(lambda: "INBOX" not in labels_of(app.service, thread_id))
    app.chord("g", "z")
    page.wait_for_url("**snoozed**")
    expect(row(page, thread_id)).to_be_visible()
    app.picture("step-snoozed")
    app.chord("g", "i")
    page.wait_for_url("**/p/mail")
    soon = (datetime.now(UTC) + timedelta(seconds=10)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    app.service.mutate("mail.snooze", threadIds=[thread_id], until=soon)
    page.get_by_text("Back from snooze: Not before Monday").wait_for()
    expect(app.section("inbox").and_(row(page, thread_id))).to_contain_text("Back from snooze")
    app.picture("step-back")


def test_spam_and_trash_leave_the_page_and_can_be_brought_back(app: PageWithService) -> None:
    for key, place, label in (("!", "Spam", "SPAM"), ("#", "Trash", "TRASH")):
        page, thread_id = with_mail(app, f"Off to the {place.lower()}")
        app.press(key)
        expect(row(page, thread_id)).to_have_count(0)
        app.eventually(partial(is_labelled, app.service, thread_id, label))
        assert "INBOX" not in labels_of(app.service, thread_id)
        page.get_by_role("navigation", name="Workspace").get_by_role("link", name=place).click()
        row(page, thread_id).click()
        page.get_by_role("button", name="Move to inbox").click()
        app.eventually(partial(is_labelled, app.service, thread_id, "INBOX"))
        assert label not in labels_of(app.service, thread_id)


def test_many_are_picked_and_archived_at_once_and_come_back_at_once(app: PageWithService) -> None:
    for number in range(3):
        arrives(app.service, f"One of three, {number}")
    page = app.inbox()
    chosen = [app.thread(f"One of three, {number}")["id"] for number in range(3)]
    for thread_id in chosen:
        expect(row(page, thread_id)).to_be_visible()
    app.press("j", "x", "J", "J")
    expect(page.get_by_role("toolbar", name="Picked threads")).to_contain_text("3 picked")
    app.picture("step-many", dark=True, phone=True)
    app.press("e")
    for thread_id in chosen:
        app.eventually(partial(is_not_labelled, app.service, thread_id, "INBOX"))
    page.get_by_text("3 threads archived").wait_for()
    app.press("z")
    for thread_id in chosen:
        app.eventually(partial(is_labelled, app.service, thread_id, "INBOX"))
        expect(app.section("inbox").and_(row(page, thread_id))).to_be_visible()


def test_z_takes_back_step_after_step_also_after_a_reload(app: PageWithService) -> None:
    page, thread_id = with_mail(app, "There and back")
    app.press("s")
    app.eventually(lambda: "STARRED" in labels_of(app.service, thread_id))
    app.press("U")
    app.eventually(lambda: "UNREAD" not in labels_of(app.service, thread_id))
    app.press("e")
    app.eventually(lambda: "INBOX" not in labels_of(app.service, thread_id))
    app.reload()
    page.locator("[data-thread]").first.wait_for()
    app.press("z")
    app.eventually(lambda: "INBOX" in labels_of(app.service, thread_id))
    expect(app.section("inbox").and_(row(page, thread_id))).to_be_visible()
    app.picture("step-undone")
    app.press("z")
    app.eventually(lambda: "UNREAD" in labels_of(app.service, thread_id))
    app.press("z")
    app.eventually(lambda: "STARRED" not in labels_of(app.service, thread_id))
    app.eventually(lambda: account(app.service, MIA)["pending"] == 0)
    app.service.mutate("fake.mail.syncNow", address=MIA)
    assert labels_of(app.service, thread_id) == {"INBOX", "UNREAD"}


def test_search_finds_words_people_and_files_and_marks_what_it_found(app: PageWithService) -> None:
    page = app.inbox()
    app.press("/")
    field = page.get_by_role("combobox", name="Search mail")
    expect(field).to_be_focused()
    page.keyboard.type("lentil")
    expect(found(page)).to_have_text(["Re: THE lentil recipe"])
    expect(page.locator(".row mark").first).to_contain_text("lentil", ignore_case=True)
    app.picture("step-search", dark=True, phone=True)
    field.fill("from:theo has:attachment")
    expect(page.get_by_text("Nothing was found")).to_be_visible()
    field.fill("brightwater-bill.pdf")
    expect(found(page)).to_have_text(["Your bill for last month: less than the month before"])
    field.fill("subject:guillemot -shelf")
    expect(found(page)).to_have_text(["Re: Signage for MV Guillemot"])
    field.press("Enter")
    app.press("Enter")
    page.locator(".thread-subject", has_text="Guillemot").wait_for()
    app.press("u")
    page.wait_for_url("**/p/mail**guillemot**")
    page.reload()
    expect(found(page)).to_have_text(["Re: Signage for MV Guillemot"])


def test_the_palette_runs_a_command_and_teaches_its_key(app: PageWithService) -> None:
    page, thread_id = with_mail(app, "By name")
    app.press("Control+k")
    palette = page.get_by_role("dialog", name="Commands")
    palette.get_by_role("combobox", name="Command").fill("archive")
    first = palette.get_by_role("option").first
    expect(first).to_contain_text("Archive the selected or open thread")
    expect(first.locator("kbd")).to_have_text(["e"])
    app.picture("step-palette", dark=True, phone=True)
    app.press("Enter")
    expect(palette).to_have_count(0)
    app.eventually(lambda: "INBOX" not in labels_of(app.service, thread_id))
    app.press("Control+k")
    palette.get_by_role("combobox", name="Command").fill(HOME)
    palette.get_by_role("option").first.click()
    expect(page.get_by_role("tab", name=HOME)).to_have_attribute("aria-selected", "true")


def with_mail(app: PageWithService, subject: str) -> tuple[Page, str]:
    """A new mail, and the selection on it."""
    arrives(app.service, subject)
    page = app.inbox()
    thread_id = str(app.thread(subject)["id"])
    row(page, thread_id).wait_for()
    app.press("j")
    app.selects(thread_id)
    return page, thread_id


def made(service: ServiceProcess) -> list[dict[str, Any]]:
    return [one for one in service.query("mail.labels") if one["name"] == "Harbour/Ladders"]


def is_labelled(service: ServiceProcess, thread_id: str, label: str) -> bool:
    return label in labels_of(service, thread_id)


def is_not_labelled(service: ServiceProcess, thread_id: str, label: str) -> bool:
    return not is_labelled(service, thread_id, label)


def row(page: Page, thread_id: str) -> Locator:
    return page.locator(f"#row-{thread_id}")


def found(page: Page) -> Locator:
    return page.get_by_role("grid", name="Found").locator(".row-subject bdi")
