"""Drafts: saved while one types, kept by a crash and a lost connection, contested by another tab."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.browser import PATIENCE_MS, App, intercept
from tests.web import fake_mail
from tests.web.fake_server import FakeAnswers, Refusal
from tests.web.writer import compose, draft, fill, ready, saved, taken, text, window

pytestmark = pytest.mark.browser


@pytest.fixture
def another_tab(app: App) -> Callable[[], Page]:
    return app.another_tab


def draft_from_the_list(page: Page, subject: str) -> None:
    page.get_by_role("button", name="Drafts (1)").click()
    page.get_by_role("group", name="Drafts").get_by_role("button", name=subject).click()
    ready(page)


@pytest.mark.thorough
def test_what_is_typed_is_saved_at_the_latest_as_it_closes_and_stands_under_drafts(app: App) -> None:
    page = compose(app)
    fill(page, subject="Tides")
    app.press("Escape")
    expect(window(page)).to_have_count(0)
    draft(app, subject="Tides", html="<div>High at nine.</div>")
    page.get_by_role("button", name="Continue").click()
    ready(page)
    text(page).fill("High at ten.")
    saved(page)
    app.press("Escape")
    expect(window(page)).to_have_count(0)
    draft_from_the_list(page, "Tides")
    expect(text(page)).to_contain_text("High at ten.")
    expect(text(page)).to_be_focused()
    draft(app, html="<div>High at ten.</div>")


@pytest.mark.thorough
def test_a_browser_that_was_closed_offers_what_was_being_written_and_another_tab_does_not(
    app: App, another_tab: Callable[[], Page]
) -> None:
    page = compose(app)
    fill(page, subject="Half a th")
    saved(page)
    other = another_tab()
    other.get_by_role("button", name="Drafts (1)").wait_for()
    expect(other.get_by_text("You were writing")).to_have_count(0)
    other.close()
    page.reload()
    page.get_by_text("You were writing “Half a th”.").wait_for()
    page.get_by_role("button", name="Continue").click()
    ready(page)
    expect(text(page)).to_contain_text("High at nine.")
    draft(app)
    app.press("Control+Enter")
    page.locator(".sending").wait_for()
    page.reload()
    page.locator(".sending").wait_for()
    expect(page.get_by_text("You were writing")).to_have_count(0)


@pytest.mark.thorough
def test_a_message_that_cannot_be_saved_outlives_a_crash_of_the_browser_and_does_not_close(app: App) -> None:
    app.tolerated = ("503",)
    app.answers.failing["mail.saveDraft"] = Refusal("SERVICE_UNAVAILABLE", 503, "The disk is full.")
    page = compose(app)
    fill(page, subject="Unsaved")
    expect(page.locator(".save-state")).to_contain_text("Not saved yet: The disk is full.")
    page.reload()
    app.answers.failing.clear()
    page.get_by_role("button", name="Continue").click()
    ready(page)
    expect(page.get_by_label("Subject")).to_have_value("Unsaved")
    saved(page)
    draft(app, subject="Unsaved")
    app.answers.failing["mail.saveDraft"] = Refusal("SERVICE_UNAVAILABLE", 503, "The disk is full.")
    text(page).fill("High at ten.")
    app.press("Escape")
    expect(page.locator(".save-state")).to_contain_text("Not saved yet: The disk is full.")
    expect(window(page)).to_have_count(1)
    app.answers.failing.clear()
    app.press("Escape")
    expect(window(page)).to_have_count(0)
    draft(app, html="<div>High at ten.</div>")


@pytest.mark.thorough
def test_a_deleted_draft_is_deleted_also_if_the_page_is_left_at_once(app: App) -> None:
    page = compose(app)
    fill(page)
    saved(page)
    page.get_by_role("button", name="Delete the draft", exact=True).click()
    page.get_by_text("Draft deleted.").wait_for()
    assert len(app.answers.drafts) == 1, "it can still be restored"
    page.reload()
    app.wait(lambda: not app.answers.drafts, what="the draft to be deleted")


@pytest.mark.share(2)
@pytest.mark.thorough
@pytest.mark.parametrize("closes", [False, True], ids=["goes on", "is closed"])
def test_a_message_whose_first_saving_was_never_answered_is_one_draft(app: App, closes: bool) -> None:
    """The server has it, and the browser does not know: it says the same again, and then the words that came since."""
    app.tolerated = ("net::ERR_FAILED", "503")
    page = compose(app)
    lost: list[object] = []

    def lose(route: Route) -> None:
        if lost:
            route.fallback()
        else:
            lost.append(route.fetch())
            route.abort()

    intercept(page, "**/trpc/mail.saveDraft*", lose)
    fill(page, subject="Once")
    expect(page.locator(".save-state")).to_contain_text("Not saved yet: The server can't be reached.")
    if closes:
        page.reload()
        page.get_by_role("button", name="Continue").click()
        ready(page)
    else:
        app.answers.failing["mail.saveDraft"] = Refusal("SERVICE_UNAVAILABLE", 503, "The disk is full.")
        text(page).fill("Low at two.")
        expect(page.locator(".save-state")).to_contain_text("Not saved yet: The disk is full.")
        app.answers.failing.clear()
    text(page).fill("Low at three.")
    saved(page)
    draft(app, subject="Once", html="<div>Low at three.</div>")
    assert len(app.answers.drafts) == 1


@pytest.mark.share(2)
@pytest.mark.thorough
@pytest.mark.parametrize(("choice", "kept"), [("Keep mine", "mine"), ("Load the other", "theirs")])
def test_two_tabs_that_write_the_same_draft_are_told_and_nothing_is_overwritten_unasked(
    app: App, another_tab: Callable[[], Page], choice: str, kept: str
) -> None:
    app.tolerated = ("409",)
    app.answers.add_draft(subject="Shared", html="<div>first</div>")
    page = app.open()
    draft_from_the_list(page, "Shared")
    other = another_tab()
    draft_from_the_list(other, "Shared")
    text(other).fill("theirs")
    saved(other)
    text(page).fill("mine")
    page.get_by_text("This draft was changed in another window").wait_for()
    draft(app, html="<div>theirs</div>")
    page.get_by_role("button", name=choice).click()
    expect(text(page)).to_have_text(kept)
    saved(page)
    draft(app, html=f"<div>{kept}</div>")
    other.close()


@pytest.mark.thorough
def test_a_draft_that_another_tab_has_sent_can_be_kept_as_a_new_one(app: App, another_tab: Callable[[], Page]) -> None:
    app.tolerated = ("404",)
    app.answers.add_draft(subject="Shared", to=["ann@sea.example"], html="<div>first</div>")
    page = app.open()
    draft_from_the_list(page, "Shared")
    other = another_tab()
    draft_from_the_list(other, "Shared")
    other.get_by_role("button", name="Send", exact=True).click()
    expect(window(other)).to_have_count(0)
    other.close()
    text(page).fill("and more")
    page.get_by_text("This draft was sent or deleted in another window.").wait_for()
    page.get_by_role("button", name="Keep mine as a new draft").click()
    saved(page)
    draft(app, html="<div>and more</div>")
    taken(app)


@pytest.mark.thorough
def test_beginning_another_message_keeps_the_first_as_a_draft(app: App) -> None:
    page = compose(app)
    fill(page, subject="One")
    page.get_by_role("button", name="Compose", exact=True).click()
    page.get_by_text("Your other message is kept under Drafts.").wait_for()
    ready(page)
    expect(page.get_by_label("Subject")).to_have_value("")
    expect(window(page)).to_have_count(1)
    draft(app, subject="One")


@pytest.mark.thorough
def test_a_message_on_its_way_is_neither_kept_nor_deleted_and_the_next_waits_for_it(app: App) -> None:
    page = compose(app)
    fill(page)
    sent = app.hold("mail.send")
    app.press("Control+Enter")
    sent.asked()
    app.press("Escape")
    page.get_by_text("It is being sent.").wait_for()
    page.get_by_role("button", name="Delete the draft").click()
    page.get_by_role("button", name="Compose", exact=True).click()
    expect(page.get_by_label("Subject")).to_have_value("Tides")
    sent.let_go()
    expect(page.get_by_label("Subject")).to_have_value("")
    taken(app, state="held")
    expect(page.get_by_text(re.compile("Kept as a draft|Draft deleted|kept under Drafts"))).to_have_count(0)


@pytest.mark.thorough
def test_a_send_whose_answer_was_lost_goes_out_once_when_it_is_sent_again(app: App) -> None:
    app.tolerated = ("Failed to load resource",)
    page = compose(app)
    fill(page)

    def lose_the_answer(route: Route) -> None:
        route.fetch()
        route.abort()

    intercept(page, "**/trpc/mail.send*", lose_the_answer)
    app.press("Control+Enter")
    expect(page.get_by_text("The server can’t be reached.")).to_be_visible(timeout=PATIENCE_MS)
    page.unroute("**/trpc/mail.send*")
    app.press("Control+Enter")
    expect(window(page)).to_have_count(0)
    taken(app)


@pytest.mark.thorough
def test_a_draft_of_another_program_is_continued_from_its_thread(start: Callable[..., App]) -> None:
    answers = FakeAnswers()
    answers.begun_elsewhere = {
        "subject": "Begun elsewhere",
        "html": "<div>High at nine.</div>",
        "to": ["a@sea.example"],
    }
    thread = answers.thread("thr_01")
    answers.details["thr_01"] = fake_mail.detail(thread)
    message = answers.details["thr_01"]["messages"][-1]
    message["labels"] = thread["labels"] = [{"id": "DRAFT", "name": "Draft", "color": None}]
    to = {"name": "", "address": "a@sea.example", "title": None}
    thread["draft"] = {"sender": "", "to": [to], "others": 0, "snippet": "High at nine."}
    thread["draft"] |= {"at": fake_mail.at(days=1), "by": None}
    app = start(answers)
    page = app.open("/p/mail/drafts", ready=".drafts-list")
    others = page.get_by_role("list", name="From other programs").get_by_role("link")
    expect(others).to_have_count(1)
    others.filter(has_text="High at nine.").click()
    page.locator("iframe").first.wait_for()
    page.get_by_role("button", name="Continue writing").click()
    ready(page)
    expect(text(page)).to_contain_text("High at nine.")
    expect(window(page).get_by_role("heading")).to_have_text("Begun elsewhere")
    assert app.called("mail.takeUpDraft") == [{"messageId": message["id"]}]
    app.press("Escape")
    expect(window(page)).to_have_count(0)
    page.get_by_role("button", name="Continue writing").click()
    ready(page)
    assert len(answers.drafts) == 1


def test_a_draft_of_a_mailbox_that_is_shared_with_me_is_its_owners_to_continue(start: Callable[..., App]) -> None:
    answers = FakeAnswers()
    thread = answers.thread("thr_01")
    answers.details["thr_01"] = fake_mail.detail(thread)
    answers.details["thr_01"]["messages"][-1]["labels"] = [{"id": "DRAFT", "name": "Draft", "color": None}]
    next(one for one in answers.accounts if one["id"] == thread["accountId"])["access"] = "act"
    page = start(answers).open("/p/mail/t/thr_01", ready="iframe")
    expect(page.locator(".card-draft").first).to_be_visible()
    expect(page.get_by_role("button", name="Continue writing")).to_have_count(0)


@pytest.mark.thorough
def test_what_the_mailbox_does_not_have_is_said_at_the_draft_and_in_its_window(start: Callable[..., App]) -> None:
    answers = FakeAnswers()
    why = "Not copied to the mailbox: This mail is larger than the 35 MiB that can be sent."
    answers.add_draft(subject="Tides", notes=[why])
    page = start(answers).open()
    page.get_by_role("button", name="Drafts (1)").click()
    row = page.get_by_role("group", name="Drafts").get_by_role("button", name="Tides")
    expect(row).to_contain_text(why)
    row.click()
    ready(page)
    expect(window(page).locator(".compose-notes")).to_have_text(why)


@pytest.mark.thorough
def test_the_list_of_drafts_is_walked_by_keys_and_what_is_deleted_there_comes_back(app: App) -> None:
    page = compose(app)
    for subject in ("First", "Second"):
        if subject != "First":
            app.press("c")
            ready(page)
        fill(page, subject=subject)
        saved(page)
        app.press("Escape")
        expect(window(page)).to_have_count(0)
    app.press("g", "d")
    page.wait_for_url("**/p/mail/drafts")
    rows = page.locator(".drafts-list .drafts-row")
    app.press("j", "j")
    expect(rows.nth(1)).to_be_focused()
    app.press("#")
    expect(rows).to_have_count(1)
    expect(rows).to_be_focused()
    app.press("z")
    expect(rows).to_have_count(2)
    assert not app.calls("mail.undo"), "what is taken back is the draft, not a step on mail before it"
    app.press("k", "o")
    ready(page)
    page.get_by_role("button", name="Delete the draft", exact=True).click()
    expect(rows).to_have_count(1)
    app.press("z")
    ready(page)
    assert len(app.answers.drafts) == 2
