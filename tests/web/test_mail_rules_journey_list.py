"""Rules 4 and 8 to 11 in a browser against the whole program: tabs, badges, sections, rows, and every key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.support.process import ServiceProcess
from tests.web.mail_rules.page_with_service import (
    HOME,
    MIA,
    STUDIO,
    PageWithService,
    account,
    app_page,
    arrives,
    labels_of,
    seeded_service,
)
from tests.web.writer import chips, people, ready, text, window

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]

SYSTEM = {"INBOX", "UNREAD", "STARRED", "IMPORTANT", "SENT", "DRAFT", "SPAM", "TRASH", "CHAT"}
ROWS_COMPARED = 12


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with seeded_service(tmp_path_factory.mktemp("seeded")) as process:
        yield process


@pytest.fixture
def app(browser: Browser, service: ServiceProcess) -> Iterator[PageWithService]:
    with app_page(browser, service) as opened:
        yield opened


def test_there_is_a_unified_tab_and_one_an_account_each_with_its_badge(app: PageWithService) -> None:
    page = app.inbox()
    expect(page.get_by_role("tab")).to_have_count(4)
    for address in (MIA, STUDIO, HOME):
        unread = [one for one in inbox(app, accountId=account(app.service, address)["id"]) if one["unread"]]
        expect(page.get_by_role("tab", name=address).locator(".tab-badge")).to_have_text(f" ·{len(unread)}")
    everywhere = [one for one in inbox(app) if one["unread"]]
    expect(page.get_by_role("tab", name="Unified").locator(".tab-badge")).to_have_text(f" ·{len(everywhere)}")
    app.picture("rule-08-unified", dark=True, phone=True)
    page.get_by_role("tab", name=HOME).click()
    expect(app.row("THE lentil recipe").or_(app.row("Sunday, and your father's shelf"))).to_be_visible()
    expect(page.locator(".section-count").first).to_have_text(
        str(len(inbox(app, accountId=account(app.service, HOME)["id"])))
    )
    app.picture("rule-08-account")


def test_a_row_shows_what_the_server_knows_of_its_thread(app: PageWithService) -> None:
    page = app.inbox()
    for thread in inbox(app)[:ROWS_COMPARED]:
        row = page.locator(f"#row-{thread['id']}")
        expect(row.locator(".row-dot .heard")).to_have_count(int(thread["unread"]))
        if not thread["writers"]:
            expect(row.locator(".row-sender bdi")).to_have_text(thread["sender"]["title"] or thread["sender"]["name"])
        expect(row.locator(".row-subject bdi")).to_have_text(thread["subject"])
        expect(row.locator(".row-snippet")).to_have_text(thread["snippet"])
        own = [label["name"] for label in thread["labels"] if label["id"] not in SYSTEM]
        expect(row.locator(".chip.label bdi")).to_have_text(own)
        expect(row.locator(".row-time")).not_to_be_empty()


def test_new_mail_appears_at_the_top_and_moves_the_badge_by_itself(app: PageWithService) -> None:
    page = app.inbox()
    before = account(app.service, STUDIO)["unread"]
    arrives(app.service, "A parcel of paper", address=STUDIO)
    page.get_by_role("link", name="Unread, Harbour Office, A parcel of paper").wait_for()
    expect(page.get_by_role("tab", name=f"{STUDIO}, {before + 1} unread threads")).to_be_visible()
    expect(page.locator("[data-thread]").first).to_have_attribute("data-thread", app.thread("A parcel of paper")["id"])


def test_an_expired_history_is_mended_in_silence(app: PageWithService) -> None:
    page = app.inbox()
    arrives(app.service, "Before the gap", address=HOME)
    app.row("Before the gap").wait_for()
    app.service.mutate("fake.mail.expireHistory", address=HOME)
    arrives(app.service, "After the gap", address=HOME)
    app.row("After the gap").wait_for()
    app.eventually(lambda: account(app.service, HOME)["state"] == "caught-up")
    assert account(app.service, HOME)["problem"] is None
    expect(page.locator(".strip.warning")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)
    found = [one["subject"] for one in inbox(app) if one["subject"].endswith("the gap")]
    assert sorted(found) == ["After the gap", "Before the gap"]


def test_j_k_and_enter_move_and_open_and_u_and_escape_go_back(app: PageWithService) -> None:
    page = app.inbox()
    first, second = (one["id"] for one in inbox(app)[:2])
    app.press("j")
    app.selects(first)
    app.press("j")
    app.selects(second)
    app.press("k")
    app.selects(first)
    app.picture("rule-10-selected")
    for way_back in ("u", "Escape"):
        app.press("Enter")
        page.wait_for_url(f"**/p/mail/t/{first}")
        app.frame.locator("body").wait_for()
        app.press(way_back)
        page.wait_for_url("**/p/mail")
        expect(page.locator(f"#row-{first}")).to_be_focused()


def test_e_archives_the_selected_row_and_the_open_thread_into_the_other_section(app: PageWithService) -> None:
    arrives(app.service, "Archived from the list")
    page = app.inbox()
    listed = app.thread("Archived from the list")
    app.press("j")
    app.selects(listed["id"])
    app.press("e")
    app.eventually(lambda: "INBOX" not in labels_of(app.service, listed["id"]))
    arrives(app.service, "Archived while open")
    opened = app.thread("Archived while open")
    app.open("Archived while open")
    app.press("e")
    app.eventually(lambda: "INBOX" not in labels_of(app.service, opened["id"]))
    expect(page.locator(".thread-subject")).not_to_have_text("Archived while open")  # the next one opened
    app.press("u")
    app.settled()
    app.go_to_section("Skipped the inbox")
    for thread in (listed, opened):
        expect(app.section("skipped").and_(page.locator(f"#row-{thread['id']}"))).to_be_visible()
    app.picture("rule-11-skipped")
    app.eventually(lambda: account(app.service, MIA)["pending"] == 0)
    app.service.mutate("fake.mail.syncNow", address=MIA)
    assert not labels_of(app.service, opened["id"]) & {"INBOX", "UNREAD"}


def test_r_prefills_a_reply_and_c_a_blank_message_and_the_other_keys_rest_meanwhile(app: PageWithService) -> None:
    arrives(app.service, "Do you have a ladder?")
    page = app.inbox()
    selected = app.thread("Do you have a ladder?")["id"]
    app.press("j")
    app.selects(selected)
    app.press("r")
    ready(page)
    expect(people(page)).to_contain_text("To Harbour Office")
    app.until("() => document.activeElement.closest('.answer-card') !== null")
    window(page).focus()
    app.press("j", "e", "r", "c", "u", "#")
    app.settled()
    app.selects(selected)
    expect(window(page)).to_have_count(1)
    app.press("Escape")
    expect(window(page)).to_have_count(0)
    app.press("c")
    ready(page)
    expect(chips(page)).to_have_count(0)
    expect(text(page)).to_have_text("")
    app.press("Escape")
    expect(window(page)).to_have_count(0)
    assert labels_of(app.service, selected) >= {"INBOX"}


def test_keys_are_text_while_a_field_has_the_focus(app: PageWithService) -> None:
    page = app.inbox()
    selected = inbox(app)[0]["id"]
    app.press("j")
    app.selects(selected)
    page.get_by_role("combobox", name="Search mail").click()
    page.keyboard.type("je")
    expect(page.get_by_role("combobox", name="Search mail")).to_have_value("je")
    app.press("Escape", "Escape")
    page.wait_for_url("**/p/mail")
    assert labels_of(app.service, selected) >= {"INBOX"}


def test_a_mail_in_the_frame_does_not_keep_the_keys_to_itself(app: PageWithService) -> None:
    page = app.inbox()
    subject = inbox(app)[0]["subject"]
    app.open(subject)
    page.locator(".card iframe").last.click()
    expect(page.locator("article.card").last).to_be_focused()
    app.press("j")
    expect(page.locator(".thread-subject")).not_to_have_text(subject)


def test_question_mark_teaches_every_key(app: PageWithService) -> None:
    page = app.inbox()
    app.press("?")
    overlay = page.get_by_role("dialog", name="Keyboard shortcuts")
    for words in ("Select the next thread", "Archive the selected or open thread", "Back to the list"):
        expect(overlay).to_contain_text(words)
    app.picture("rule-10-help", dark=True)
    app.press("Escape")
    expect(overlay).to_have_count(0)


def inbox(app: PageWithService, **wanted: Any) -> list[dict[str, Any]]:
    return list(app.service.query("mail.threads", section="inbox", limit=200, **wanted)["threads"])
