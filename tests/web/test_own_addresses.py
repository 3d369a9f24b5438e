"""The addresses of an account in the app: added under Settings, chosen under From, and "me" in every list."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web import fake_mail
from tests.web.fake_accounts import AccountsAnswers
from tests.web.fake_mail import HELLO, HOME, MIA, kept_here
from tests.web.fake_server import MODULES
from tests.web.test_accounts_page import card, opened
from tests.web.writer import draft, people, ready, saved, taken, text

pytestmark = pytest.mark.browser

STUDIO = "studio@tern.example"


def with_studio(**fields: object) -> AccountsAnswers:
    answers = AccountsAnswers()
    known = answers.addresses_of({"accountId": MIA})
    answers.set_account(MIA, addresses=[*known, fake_mail.own_address(STUDIO, **fields)])
    return answers


@pytest.mark.thorough
def test_an_address_is_added_made_the_default_and_removed(start: Callable[..., App]) -> None:
    app = opened(start)
    mia = card(app.page, MIA)
    mia.get_by_text("Add another address").click()
    typed = mia.get_by_label("Another address of mia@ternandtide.example")
    add = mia.get_by_role("button", name="Add", exact=True)
    expect(add).to_be_disabled()
    typed.fill(STUDIO)
    mia.get_by_label("Its name in From").fill("The Studio")
    add.click()
    row = mia.get_by_role("listitem").filter(has_text=STUDIO)
    expect(row).to_contain_text("The Studio")
    expect(typed).to_have_value("")
    assert app.called("mail.setAddress") == [{"accountId": MIA, "address": STUDIO, "name": "The Studio"}]
    row.get_by_role("button", name="Make default").click()
    expect(row).to_contain_text("new mail is from it")
    expect(row.get_by_role("button", name="Make default")).to_have_count(0)
    row.get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)
    expect(mia.get_by_role("listitem").filter(has_text="new mail is from it")).to_contain_text(
        "mia@ternandtide.example"
    )


@pytest.mark.thorough
def test_the_providers_addresses_are_told_and_are_not_removed_here(start: Callable[..., App]) -> None:
    mia = card(opened(start, with_studio(source="provider", confirmed=False)).page, MIA)
    mia.get_by_text("2 addresses").click()
    row = mia.get_by_role("listitem").filter(has_text=STUDIO)
    expect(row).to_contain_text("not confirmed at the provider yet")
    expect(row.get_by_role("button")).to_have_count(0)


@pytest.mark.thorough
def test_a_reply_is_from_the_address_that_the_mail_came_to_also_after_a_reload(start: Callable[..., App]) -> None:
    answers = with_studio()
    answers.reached = STUDIO
    app = start(answers)
    page = app.open()
    app.press("j", "r")
    ready(page)
    expect(people(page)).to_contain_text(f"from {STUDIO}")
    people(page).click()
    sender = page.get_by_label("From", exact=True)
    expect(sender).to_have_value(f"{MIA} {STUDIO}")
    expect(sender.locator("option")).to_have_text(
        [
            "mia@ternandtide.example",
            f"{STUDIO}, by mia@ternandtide.example",
            "hello@ternandtide.example",
            "mia.tern@post.example (needs to be connected again)",
        ]
    )
    text(page).press_sequentially("Yes.")
    saved(page)
    assert draft(app, accountId=MIA)["fromAddress"] == STUDIO
    app.settled()
    page.reload()
    page.get_by_role("button", name="Continue").click()
    ready(page)
    expect(people(page)).to_contain_text(f"from {STUDIO}")
    app.press("Control+Enter")
    taken(app, accountId=MIA)
    (sent,) = app.called("mail.send")
    assert sent["fromAddress"] == STUDIO


@pytest.mark.thorough
def test_another_address_is_chosen_and_another_account_leaves_none_behind(start: Callable[..., App]) -> None:
    app = start(with_studio())
    page = app.open()
    app.press("c")
    ready(page)
    sender = page.get_by_label("From")
    sender.select_option(f"{MIA} {STUDIO}")
    text(page).press_sequentially("Hello")
    saved(page)
    assert draft(app, accountId=MIA, fromAddress=STUDIO)
    sender.select_option(HELLO)
    saved(page)
    assert draft(app, accountId=HELLO, fromAddress="hello@ternandtide.example")


@pytest.mark.thorough
def test_an_address_that_was_removed_is_shown_as_such(start: Callable[..., App]) -> None:
    app = start(AccountsAnswers())
    app.answers.add_draft(accountId=HOME, fromAddress=STUDIO, subject="Tides")
    page = app.open()
    page.get_by_role("button", name="Drafts").click()
    page.get_by_text("Tides").click()
    ready(page)
    expect(page.get_by_label("From").locator("option:checked")).to_have_text(
        f"{STUDIO} (no address of this account any more)"
    )


@pytest.mark.thorough
@pytest.mark.parametrize("alone", [True, False])
def test_a_mailbox_that_can_not_send_says_so_before_one_writes(start: Callable[..., App], alone: bool) -> None:
    answers = AccountsAnswers()
    if alone:
        answers.accounts = [one for one in answers.accounts if one["id"] == HOME]
    answers.set_account(HOME, **kept_here())
    answers.add_draft(accountId=HOME, subject="Tides")
    page = start(answers).open()
    page.get_by_role("button", name="Drafts").click()
    page.get_by_text("Tides").click()
    ready(page)
    note = page.get_by_role("status").filter(has_text="is kept on this server alone, so it can’t send.")
    note.wait_for()
    if alone:
        note.get_by_role("button", name="Connect an account").click()
        page.get_by_role("dialog", name="Connect").wait_for()
    else:
        page.get_by_label("From").select_option(HELLO)
        note.wait_for(state="detached")


ANSWERED = (
    (["jonas@x.example", STUDIO.upper()], False, STUDIO),
    (["Studio+boats@tern.example"], False, STUDIO),
    (["list@lists.example"], False, "mia@ternandtide.example"),
    (["jonas@x.example"], True, STUDIO),
)
"""To whom a mail went, whether it is an own one, and from where its answer comes."""


def test_every_own_address_is_me_and_an_answer_begun_without_the_server_is_from_the_same(
    start: Callable[..., App],
) -> None:
    answers = with_studio()
    mine = answers.thread("thr_01")
    mine["sender"] = {**mine["sender"], "address": "Studio+boats@tern.example", "name": "Someone"}
    app = start(answers)
    page = app.open()
    expect(app.row("thr_01").locator(".row-sender")).to_contain_text("me")
    for to, own, found in ANSWERED:
        thread = answers.thread("thr_00")
        detail = {**fake_mail.detail(thread), "thread": thread}
        message = detail["messages"][-1]
        message.update(to=[{"name": "", "address": one} for one in to], cc=[], own=own)
        if own:
            message["from"] = {"name": "", "address": STUDIO}
        wanted = {"kind": "replyAll", "messageId": message["id"], "accounts": answers.accounts, "signature": ""}
        ready = page.evaluate(
            f"""async ([detail, wanted]) =>
                (await import("{MODULES}/offline/prepared.js")).preparedFrom(detail, wanted)""",
            [detail, wanted],
        )
        assert ready["fromAddress"] == found, to
        assert not any("tern.example" in one.lower() for one in (*ready["to"], *ready["cc"])), to
