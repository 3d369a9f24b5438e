"""Rules 13 and 14 in a browser against the whole program: compose, reply, forward, and what leaves, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import EmailMessage

import pytest
from playwright.sync_api import Browser, expect

from tests.support.process import ServiceProcess
from tests.web.mail_rules.desk import HOME, MIA, STUDIO, Desk, account, arrives, mock_world, sent_from, sitting
from tests.web.writer import address, chips, people, ready, saved, text, window

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]

TIDES = b"time;height\n09:00;high\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with mock_world(tmp_path_factory.mktemp("world")) as process:
        yield process


@pytest.fixture
def desk(browser: Browser, service: ServiceProcess) -> Iterator[Desk]:
    with sitting(browser, service) as opened:
        yield opened


def test_a_message_with_all_fields_leaves_as_it_was_written(desk: Desk) -> None:
    page = desk.inbox()
    desk.press("c")
    ready(page)
    page.get_by_label("From").select_option(label=STUDIO)
    page.get_by_role("button", name="Cc", exact=True).click()
    page.get_by_role("button", name="Bcc", exact=True).click()
    address(page, "Ruth Adeyemi <ruth.adeyemi@harbourline.example>", "callum@sea.example")
    address(page, "priya@ternandtide.example", field="Cc")
    address(page, "archive@ternandtide.example", field="Bcc")
    page.get_by_label("Subject").fill("Tide table — Größe A2, 潮")
    writes_with_every_format(desk)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Attach files").click()
    chooser.value.set_files({"name": "tide täble.csv", "mimeType": "text/csv", "buffer": TIDES})
    expect(page.get_by_role("list", name="Attachments")).to_contain_text("tide täble.csv")
    saved(page)
    desk.picture("rule-13-compose", dark=True, phone=True)
    desk.press("Control+Enter")
    desk.picture("rule-14-held")
    sends_now(desk, "Tide table — Größe A2, 潮")
    (message,) = sent_from(desk.service, STUDIO, "Tide table — Größe A2, 潮")
    carries_the_fields(message)
    carries_the_words_twice(message)
    (file,) = message.iter_attachments()
    assert (file.get_filename(), file.get_content_type(), file.get_content()) == (
        "tide täble.csv",
        "text/csv",
        TIDES.decode(),
    )


def test_what_was_sent_stands_among_ones_own_mail_at_once(desk: Desk) -> None:
    writes_to(desk, "ann@sea.example", "A copy for me")
    sends_now(desk, "A copy for me")
    stored = "select labels from mail_messages where account_id = ? and subject = 'A copy for me'"
    mias = account(desk.service, MIA)["id"]
    assert desk.service.rows(stored, mias) == [('["SENT"]',)]
    desk.service.mutate("fake.mail.syncNow", address=MIA)
    assert desk.service.rows(stored, mias) == [('["SENT"]',)]
    assert len(sent_from(desk.service, MIA, "A copy for me")) == 1


def test_r_answers_within_the_thread_and_from_the_account_that_received_it(desk: Desk) -> None:
    page = desk.inbox()
    thread_id = desk.thread("Would you come on Small Hours?")["id"]
    desk.open("Would you come on Small Hours?")
    desk.press("r")
    ready(page)
    expect(people(page)).to_contain_text("To Theo Nakamura-Bell")
    people(page).click()
    expect(chips(page)).to_have_text(["Theo Nakamura-Bell"])
    expect(page.get_by_label("From", exact=True).locator("option:checked")).to_have_text(STUDIO)
    text(page).click()
    page.keyboard.type("Thursday, gladly. Which biscuits?")
    page.get_by_role("button", name="Show the quoted message").click()
    expect(page.frame_locator(".quote iframe").locator("body")).to_contain_text("forty minutes")
    desk.picture("rule-10-reply", dark=True)
    desk.press("Control+Enter")
    sends_now(desk, "Re: Would you come on Small Hours?")
    expect(page.locator("article.card")).to_have_count(2)
    desk.picture("rule-14-own-copy")
    (message,) = sent_from(desk.service, STUDIO, "Re: Would you come on Small Hours?")
    asked, ours = message_ids(desk, thread_id)
    assert message["Message-ID"] == ours
    assert (message["In-Reply-To"], message["References"]) == (asked, asked)
    assert "> I make a small radio programme" in plain(message)
    assert plain(message).startswith("Thursday, gladly. Which biscuits?")


def test_a_longer_thread_is_referred_to_as_a_whole(desk: Desk) -> None:
    subject = "Re: Winter timetable: the 17:40 problem"
    page = desk.inbox()
    earlier = message_ids(desk, desk.thread(subject)["id"])
    desk.open(subject)
    desk.press("r")
    ready(page)
    text(page).click()
    page.keyboard.type("The proof is tomorrow’s.")
    desk.press("Control+Enter")
    sends_now(desk, subject)
    (message,) = sent_from(desk.service, MIA, subject)
    assert len(earlier) == 3
    assert message["In-Reply-To"] == earlier[-1]
    assert message["References"].split() == earlier


def test_a_answers_all_and_f_forwards_with_the_files(desk: Desk) -> None:
    injected = arrives(
        desk.service,
        "Who brings the ladder?",
        attachments=[{"filename": "ladder.txt", "mime": "text/plain", "text": "Six metres."}],
    )
    page = desk.inbox()
    desk.open("Who brings the ladder?")
    desk.press("a")
    ready(page)
    expect(people(page)).to_contain_text("To Harbour Office")
    desk.press("Escape")
    expect(window(page)).to_have_count(0)
    desk.press("f")
    ready(page)
    expect(page.get_by_role("list", name="Attachments").last).to_contain_text("ladder.txt")
    address(page, "ben.aldous@signwrite.example")
    desk.picture("rule-13-forward")
    desk.press("Control+Enter")
    sends_now(desk, "Fwd: Who brings the ladder?")
    (message,) = sent_from(desk.service, MIA, "Fwd: Who brings the ladder?")
    (file,) = message.iter_attachments()
    assert (file.get_filename(), file.get_content().strip()) == ("ladder.txt", "Six metres.")
    assert "The tide is at nine." in plain(message)
    assert message["In-Reply-To"] is None
    assert injected["threadId"]


def test_a_draft_survives_a_closed_browser(browser: Browser, service: ServiceProcess) -> None:
    with sitting(browser, service) as desk:
        page = desk.inbox(f"/p/mail/a/{account(service, HOME)['id']}")
        desk.press("c")
        ready(page)
        page.get_by_label("Subject").fill("Half a thought")
        text(page).click()
        page.keyboard.type("What if the shelf")
        saved(page)
    with sitting(browser, service) as desk:
        page = desk.inbox()
        page.get_by_role("button", name="Drafts (1)").click()
        desk.picture("rule-13-drafts")
        page.get_by_role("button", name="Half a thought").click()
        ready(page)
        expect(text(page)).to_have_text("What if the shelf")
        expect(page.get_by_label("From").locator("option:checked")).to_have_text(HOME)
        page.get_by_role("button", name="Delete the draft").click()
        expect(window(page)).to_have_count(0)


def writes_with_every_format(desk: Desk) -> None:
    page = desk.page
    text(page).click()
    page.keyboard.type("High water is at ")
    desk.press("Control+b")
    page.keyboard.type("nine")
    desk.press("Control+b")
    page.keyboard.type(", and it is ")
    desk.press("Control+i")
    page.keyboard.type("cold")
    desk.press("Control+i")
    page.keyboard.type(". See the table")
    desk.press("Shift+Control+ArrowLeft", "Control+k")
    page.get_by_label("Address of the link").fill("https://harbour.example/tides")
    desk.press("Enter", "End", "Enter")
    page.get_by_role("button", name="Bulleted list").click()
    page.keyboard.type("boots")
    desk.press("Enter")
    page.keyboard.type("soup")


def writes_to(desk: Desk, recipient: str, subject: str, body: str = "High at nine.") -> None:
    page = desk.inbox()
    desk.press("c")
    ready(page)
    page.get_by_label("From").select_option(label=MIA)
    address(page, recipient)
    page.get_by_label("Subject").fill(subject)
    text(page).click()
    page.keyboard.type(body)
    desk.press("Control+Enter")


def sends_now(desk: Desk, subject: str) -> None:
    page = desk.page
    page.get_by_role("group", name=f"Sending: {subject}").get_by_role("button", name="Send now").click()
    page.get_by_text(f"Sent: {subject}").wait_for()


def carries_the_fields(message: EmailMessage) -> None:
    assert message["From"].addresses[0].addr_spec == STUDIO
    assert [one.addr_spec for one in message["To"].addresses] == [
        "ruth.adeyemi@harbourline.example",
        "callum@sea.example",
    ]
    assert [one.addr_spec for one in message["Cc"].addresses] == ["priya@ternandtide.example"]
    assert message["To"].addresses[0].display_name == "Ruth Adeyemi"
    assert message["Message-ID"].endswith("@ternandtide.example>")
    assert message["Date"].datetime is not None


def carries_the_words_twice(message: EmailMessage) -> None:
    words = "High water is at nine, and it is cold. See the table \n(https://harbour.example/tides)\n\n- boots\n- soup"
    assert plain(message) == words
    html = message.get_body(("html",))
    assert isinstance(html, EmailMessage)
    written = html.get_content().replace("&nbsp;", " ").replace("\N{NO-BREAK SPACE}", " ")
    assert "<b>nine</b>" in written
    assert "<i>cold</i>" in written
    assert 'href="https://harbour.example/tides"' in written
    assert "<li>" in written


def plain(message: EmailMessage) -> str:
    body = message.get_body(("plain",))
    assert isinstance(body, EmailMessage)
    return str(body.get_content()).replace("\r\n", "\n")


def message_ids(desk: Desk, thread_id: str) -> list[str]:
    """The Message-IDs of a thread, oldest first."""
    found = "select message_id_header from mail_messages where thread_id = ? order by sent_at, id"
    return [f"<{str(row[0]).strip('<>')}>" for row in desk.service.rows(found, thread_id)]
