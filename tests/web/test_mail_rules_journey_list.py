"""Rules 4 and 8 to 11 in a browser against the whole program: tabs, badges, sections, rows, and every key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.support.process import ServiceProcess
from tests.web.mail_rules.desk import HOME, MIA, STUDIO, Desk, account, arrives, labels_of, mock_world, sitting
from tests.web.writer import chips, people, ready, text, window

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]

SYSTEM = {"INBOX", "UNREAD", "STARRED", "IMPORTANT", "SENT", "DRAFT", "SPAM", "TRASH", "CHAT"}
ROWS_COMPARED = 12


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with mock_world(tmp_path_factory.mktemp("world")) as process:
        yield process


@pytest.fixture
def desk(browser: Browser, service: ServiceProcess) -> Iterator[Desk]:
    with sitting(browser, service) as opened:
        yield opened


def test_there_is_a_unified_tab_and_one_an_account_each_with_its_badge(desk: Desk) -> None:
    page = desk.inbox()
    expect(page.get_by_role("tab")).to_have_count(4)
    for address in (MIA, STUDIO, HOME):
        unread = [one for one in inbox(desk, accountId=account(desk.service, address)["id"]) if one["unread"]]
        expect(page.get_by_role("tab", name=address).locator(".tab-badge")).to_have_text(f" ·{len(unread)}")
    everywhere = [one for one in inbox(desk) if one["unread"]]
    expect(page.get_by_role("tab", name="Unified").locator(".tab-badge")).to_have_text(f" ·{len(everywhere)}")
    desk.picture("rule-08-unified", dark=True, phone=True)
    page.get_by_role("tab", name=HOME).click()
    expect(desk.row("THE lentil recipe").or_(desk.row("Sunday, and your father's shelf"))).to_be_visible()
    expect(page.locator(".section-count").first).to_have_text(
        str(len(inbox(desk, accountId=account(desk.service, HOME)["id"])))
    )
    desk.picture("rule-08-account")


def test_a_row_shows_what_the_server_knows_of_its_thread(desk: Desk) -> None:
    page = desk.inbox()
    for thread in inbox(desk)[:ROWS_COMPARED]:
        row = page.locator(f"#row-{thread['id']}")
        expect(row.locator(".row-dot .heard")).to_have_count(int(thread["unread"]))
        if not thread["writers"]:
            expect(row.locator(".row-sender bdi")).to_have_text(thread["sender"]["title"] or thread["sender"]["name"])
        expect(row.locator(".row-subject bdi")).to_have_text(thread["subject"])
        expect(row.locator(".row-snippet")).to_have_text(thread["snippet"])
        own = [label["name"] for label in thread["labels"] if label["id"] not in SYSTEM]
        expect(row.locator(".chip.label bdi")).to_have_text(own)
        expect(row.locator(".row-time")).not_to_be_empty()


def test_new_mail_appears_at_the_top_and_moves_the_badge_by_itself(desk: Desk) -> None:
    page = desk.inbox()
    before = account(desk.service, STUDIO)["unread"]
    arrives(desk.service, "A parcel of paper", address=STUDIO)
    page.get_by_role("link", name="Unread, Harbour Office, A parcel of paper").wait_for()
    expect(page.get_by_role("tab", name=f"{STUDIO}, {before + 1} unread threads")).to_be_visible()
    expect(page.locator("[data-thread]").first).to_have_attribute("data-thread", desk.thread("A parcel of paper")["id"])


def test_an_expired_history_is_mended_in_silence(desk: Desk) -> None:
    page = desk.inbox()
    arrives(desk.service, "Before the gap", address=HOME)
    desk.row("Before the gap").wait_for()
    desk.service.mutate("fake.mail.expireHistory", address=HOME)
    arrives(desk.service, "After the gap", address=HOME)
    desk.row("After the gap").wait_for()
    desk.eventually(lambda: account(desk.service, HOME)["state"] == "caught-up")
    assert account(desk.service, HOME)["problem"] is None
    expect(page.locator(".strip.warning")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)
    found = [one["subject"] for one in inbox(desk) if one["subject"].endswith("the gap")]
    assert sorted(found) == ["After the gap", "Before the gap"]


def test_j_k_and_enter_move_and_open_and_u_and_escape_go_back(desk: Desk) -> None:
    page = desk.inbox()
    first, second = (one["id"] for one in inbox(desk)[:2])
    desk.press("j")
    desk.selects(first)
    desk.press("j")
    desk.selects(second)
    desk.press("k")
    desk.selects(first)
    desk.picture("rule-10-selected")
    for way_back in ("u", "Escape"):
        desk.press("Enter")
        page.wait_for_url(f"**/p/mail/t/{first}")
        desk.frame.locator("body").wait_for()
        desk.press(way_back)
        page.wait_for_url("**/p/mail")
        expect(page.locator(f"#row-{first}")).to_be_focused()


def test_e_archives_the_selected_row_and_the_open_thread_into_the_other_section(desk: Desk) -> None:
    arrives(desk.service, "Archived from the list")
    page = desk.inbox()
    listed = desk.thread("Archived from the list")
    desk.press("j")
    desk.selects(listed["id"])
    desk.press("e")
    desk.eventually(lambda: "INBOX" not in labels_of(desk.service, listed["id"]))
    arrives(desk.service, "Archived while open")
    opened = desk.thread("Archived while open")
    desk.open("Archived while open")
    desk.press("e")
    desk.eventually(lambda: "INBOX" not in labels_of(desk.service, opened["id"]))
    expect(page.locator(".thread-subject")).not_to_have_text("Archived while open")  # the next one opened
    desk.press("u")
    desk.settled()
    desk.go_to_section("Skipped the inbox")
    for thread in (listed, opened):
        expect(desk.section("skipped").and_(page.locator(f"#row-{thread['id']}"))).to_be_visible()
    desk.picture("rule-11-skipped")
    desk.eventually(lambda: account(desk.service, MIA)["pending"] == 0)
    desk.service.mutate("fake.mail.syncNow", address=MIA)
    assert not labels_of(desk.service, opened["id"]) & {"INBOX", "UNREAD"}


def test_r_prefills_a_reply_and_c_a_blank_message_and_the_other_keys_rest_meanwhile(desk: Desk) -> None:
    arrives(desk.service, "Do you have a ladder?")
    page = desk.inbox()
    selected = desk.thread("Do you have a ladder?")["id"]
    desk.press("j")
    desk.selects(selected)
    desk.press("r")
    ready(page)
    expect(people(page)).to_contain_text("To Harbour Office")
    desk.until("() => document.activeElement.closest('.answer-card') !== null")
    window(page).focus()
    desk.press("j", "e", "r", "c", "u", "#")
    desk.settled()
    desk.selects(selected)
    expect(window(page)).to_have_count(1)
    desk.press("Escape")
    expect(window(page)).to_have_count(0)
    desk.press("c")
    ready(page)
    expect(chips(page)).to_have_count(0)
    expect(text(page)).to_have_text("")
    desk.press("Escape")
    expect(window(page)).to_have_count(0)
    assert labels_of(desk.service, selected) >= {"INBOX"}


def test_keys_are_text_while_a_field_has_the_focus(desk: Desk) -> None:
    page = desk.inbox()
    selected = inbox(desk)[0]["id"]
    desk.press("j")
    desk.selects(selected)
    page.get_by_role("combobox", name="Search mail").click()
    page.keyboard.type("je")
    expect(page.get_by_role("combobox", name="Search mail")).to_have_value("je")
    desk.press("Escape", "Escape")
    page.wait_for_url("**/p/mail")
    assert labels_of(desk.service, selected) >= {"INBOX"}


def test_a_mail_in_the_frame_does_not_keep_the_keys_to_itself(desk: Desk) -> None:
    page = desk.inbox()
    subject = inbox(desk)[0]["subject"]
    desk.open(subject)
    page.locator(".card iframe").last.click()
    expect(page.locator("article.card").last).to_be_focused()
    desk.press("j")
    expect(page.locator(".thread-subject")).not_to_have_text(subject)


def test_question_mark_teaches_every_key(desk: Desk) -> None:
    page = desk.inbox()
    desk.press("?")
    overlay = page.get_by_role("dialog", name="Keyboard shortcuts")
    for words in ("Select the next thread", "Archive the selected or open thread", "Back to the list"):
        expect(overlay).to_contain_text(words)
    desk.picture("rule-10-help", dark=True)
    desk.press("Escape")
    expect(overlay).to_have_count(0)


def inbox(desk: Desk, **wanted: Any) -> list[dict[str, Any]]:
    return list(desk.service.query("mail.threads", section="inbox", limit=200, **wanted)["threads"])
