"""Rules 13 and 14 in a browser against the whole program: compose, reply, forward, and what leaves, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import EmailMessage

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
    seeded_service,
    sent_from,
)
from tests.web.writer import address, chips, people, ready, saved, text, window

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]

TIDES = b"time;height\n09:00;high\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with seeded_service(tmp_path_factory.mktemp("seeded")) as process:
        yield process


@pytest.fixture
def app(browser: Browser, service: ServiceProcess) -> Iterator[PageWithService]:
    with app_page(browser, service) as opened:
        yield opened


def test_a_message_with_all_fields_leaves_as_it_was_written(app: PageWithService) -> None:
    page = app.inbox()
    app.press("c")
    ready(page)
    page.get_by_label("From").select_option(label=STUDIO)
    page.get_by_role("button", name="Cc", exact=True).click()
    page.get_by_role("button", name="Bcc", exact=True).click()
    address(page, "Ruth Adeyemi <ruth.adeyemi@harbourline.example>", "callum@sea.example")
    address(page, "priya@ternandtide.example", field="Cc")
    address(page, "archive@ternandtide.example", field="Bcc")
    page.get_by_label("Subject").fill("Tide table — Größe A2, 潮")
    writes_with_every_format(app)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Attach files").click()
    chooser.value.set_files({"name": "tide täble.csv", "mimeType": "text/csv", "buffer": TIDES})
    expect(page.get_by_role("list", name="Attachments")).to_contain_text("tide täble.csv")
    saved(page)
    app.picture("rule-13-compose", dark=True, phone=True)
    app.press("Control+Enter")
    app.picture("rule-14-held")
    sends_now(app, "Tide table — Größe A2, 潮")
    (message,) = sent_from(app.service, STUDIO, "Tide table — Größe A2, 潮")
    carries_the_fields(message)
    carries_the_words_twice(message)
    (file,) = message.iter_attachments()
    assert (file.get_filename(), file.get_content_type(), file.get_content()) == (
        "tide täble.csv",
        "text/csv",
        TIDES.decode(),
    )


def test_what_was_sent_stands_among_ones_own_mail_at_once(app: PageWithService) -> None:
    writes_to(app, "ann@sea.example", "A copy for me")
    sends_now(app, "A copy for me")
    stored = "select labels from mail_messages where account_id = ? and subject = 'A copy for me'"
    mias = account(app.service, MIA)["id"]
    assert app.service.rows(stored, mias) == [('["SENT"]',)]
    app.service.mutate("fake.mail.syncNow", address=MIA)
    assert app.service.rows(stored, mias) == [('["SENT"]',)]
    assert len(sent_from(app.service, MIA, "A copy for me")) == 1


def test_r_answers_within_the_thread_and_from_the_account_that_received_it(app: PageWithService) -> None:
    page = app.inbox()
    thread_id = app.thread("Would you come on Small Hours?")["id"]
    app.open("Would you come on Small Hours?")
    app.press("r")
    ready(page)
    expect(people(page)).to_contain_text("To Theo Nakamura-Bell")
    people(page).click()
    expect(chips(page)).to_have_text(["Theo Nakamura-Bell"])
    expect(page.get_by_label("From", exact=True).locator("option:checked")).to_have_text(STUDIO)
    text(page).click()
    page.keyboard.type("Thursday, gladly. Which biscuits?")
    page.get_by_role("button", name="Show the quoted message").click()
    expect(page.frame_locator(".quote iframe").locator("body")).to_contain_text("forty minutes")
    app.picture("rule-10-reply", dark=True)
    app.press("Control+Enter")
    sends_now(app, "Re: Would you come on Small Hours?")
    expect(page.locator("article.card")).to_have_count(2)
    app.picture("rule-14-own-copy")
    (message,) = sent_from(app.service, STUDIO, "Re: Would you come on Small Hours?")
    asked, ours = message_ids(app, thread_id)
    assert message["Message-ID"] == ours
    assert (message["In-Reply-To"], message["References"]) == (asked, asked)
    assert "> I make a small radio programme" in plain(message)
    assert plain(message).startswith("Thursday, gladly. Which biscuits?")


def test_a_longer_thread_is_referred_to_as_a_whole(app: PageWithService) -> None:
    subject = "Re: Winter timetable: the 17:40 problem"
    page = app.inbox()
    earlier = message_ids(app, app.thread(subject)["id"])
    app.open(subject)
    app.press("r")
    ready(page)
    text(page).click()
    page.keyboard.type("The proof is tomorrow’s.")
    app.press("Control+Enter")
    sends_now(app, subject)
    (message,) = sent_from(app.service, MIA, subject)
    assert len(earlier) == 3
    assert message["In-Reply-To"] == earlier[-1]
    assert message["References"].split() == earlier


def test_a_answers_all_and_f_forwards_with_the_files(app: PageWithService) -> None:
    injected = arrives(
        app.service,
        "Who brings the ladder?",
        attachments=[{"filename": "ladder.txt", "mime": "text/plain", "text": "Six metres."}],
    )
    page = app.inbox()
    app.open("Who brings the ladder?")
    app.press("a")
    ready(page)
    expect(people(page)).to_contain_text("To Harbour Office")
    app.press("Escape")
    expect(window(page)).to_have_count(0)
    app.press("f")
    ready(page)
    expect(page.get_by_role("list", name="Attachments").last).to_contain_text("ladder.txt")
    address(page, "ben.aldous@signwrite.example")
    app.picture("rule-13-forward")
    app.press("Control+Enter")
    sends_now(app, "Fwd: Who brings the ladder?")
    (message,) = sent_from(app.service, MIA, "Fwd: Who brings the ladder?")
    (file,) = message.iter_attachments()
    assert (file.get_filename(), file.get_content().strip()) == ("ladder.txt", "Six metres.")
    assert "The tide is at nine." in plain(message)
    assert message["In-Reply-To"] is None
    assert injected["threadId"]


def test_a_draft_survives_a_closed_browser(browser: Browser, service: ServiceProcess) -> None:
    with app_page(browser, service) as app:
        page = app.inbox(f"/p/mail/a/{account(service, HOME)['id']}")
        app.press("c")
        ready(page)
        page.get_by_label("Subject").fill("Half a thought")
        text(page).click()
        page.keyboard.type("What if the shelf")
        saved(page)
    with app_page(browser, service) as app:
        page = app.inbox()
        page.get_by_role("button", name="Drafts (1)").click()
        app.picture("rule-13-drafts")
        page.get_by_role("button", name="Half a thought").click()
        ready(page)
        expect(text(page)).to_have_text("What if the shelf")
        expect(page.get_by_label("From").locator("option:checked")).to_have_text(HOME)
        page.get_by_role("button", name="Delete the draft").click()
        expect(window(page)).to_have_count(0)


def writes_with_every_format(app: PageWithService) -> None:
    page = app.page
    text(page).click()
    page.keyboard.type("High water is at ")
    app.press("Control+b")
    page.keyboard.type("nine")
    app.press("Control+b")
    page.keyboard.type(", and it is ")
    app.press("Control+i")
    page.keyboard.type("cold")
    app.press("Control+i")
    page.keyboard.type(". See the table")
    app.press("Shift+Control+ArrowLeft", "Control+k")
    page.get_by_label("Address of the link").fill("https://harbour.example/tides")
    app.press("Enter", "End", "Enter")
    page.get_by_role("button", name="Bulleted list").click()
    page.keyboard.type("boots")
    app.press("Enter")
    page.keyboard.type("soup")


def writes_to(app: PageWithService, recipient: str, subject: str, body: str = "High at nine.") -> None:
    page = app.inbox()
    app.press("c")
    ready(page)
    page.get_by_label("From").select_option(label=MIA)
    address(page, recipient)
    page.get_by_label("Subject").fill(subject)
    text(page).click()
    page.keyboard.type(body)
    app.press("Control+Enter")


def sends_now(app: PageWithService, subject: str) -> None:
    page = app.page
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


def message_ids(app: PageWithService, thread_id: str) -> list[str]:
    """The Message-IDs of a thread, oldest first."""
    found = "select message_id_header from mail_messages where thread_id = ? order by sent_at, id"
    return [f"<{str(row[0]).strip('<>')}>" for row in app.service.rows(found, thread_id)]
