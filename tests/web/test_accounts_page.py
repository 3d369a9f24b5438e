"""The settings' page of mail accounts: what it tells, what can be done there, and how it looks."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.peers.needs import AXE, needs
from tests.support.browser import App
from tests.web import fake_mail
from tests.web.fake_accounts import AccountsAnswers, damage
from tests.web.fake_mail import HELLO, HOME, MIA
from tests.web.fake_server import Refusal
from tests.web.test_app_looks import SIZES, check_in_a_light, small_targets

pytestmark = pytest.mark.browser

PATH = "/settings/accounts"


def card(page: Page, account_id: str) -> Locator:
    return page.locator(f"section[aria-labelledby=account-{account_id}]")


def opened(start: Callable[..., App], answers: AccountsAnswers | None = None) -> App:
    app = start(answers or AccountsAnswers())
    app.open(PATH, ready=".account")
    return app


@pytest.mark.thorough
def test_what_is_damaged_is_counted_and_unfolds_into_parts_and_reasons(start: Callable[..., App]) -> None:
    well = card(opened(start, AccountsAnswers(damage=damage())).page, MIA)
    well.get_by_text("2, 1 can't be mended").wait_for()
    well.get_by_text("Mended lately").wait_for()
    well.get_by_text("2 parts of messages damaged on this server").click()
    well.get_by_text("It can't be mended: The provider does not have this message any more.").wait_for()
    well.get_by_text("It will be mended by itself: The account is not connected").wait_for()
    well.get_by_text("plans.pdf").wait_for()


CAUSES = {
    "revoked": "Access was revoked",
    "scope": "Access to mail was not granted",
    "api-off": "The Gmail API is switched off",
    "clock": "The clock of this server is wrong",
}


@pytest.mark.thorough
def test_each_account_says_how_it_stands_and_what_the_server_says_is_seen_at_once(start: Callable[..., App]) -> None:
    answers = AccountsAnswers()
    app = opened(start, answers)
    page = app.page
    well = card(page, MIA)
    for words in ("Up to date", "At the provider", "4,212", "4,211", "4 of 6,000 units", "1 message passed over"):
        well.get_by_text(words).first.wait_for()
    reading = card(page, HELLO)
    reading.get_by_text("3,120 of 48,211 messages, about 2 h 20 min left").wait_for()
    reading.get_by_text("Only your own folders are read here. 12 folders of other people or of a group").wait_for()
    reading.get_by_text("“Public/News”, “shared/בוב 7”, 10 more.").wait_for()
    expect(reading.locator("bdi").get_by_text("shared/בוב 7")).to_be_visible()  # its direction ends with it
    lost = card(page, HOME)
    lost.get_by_text("Access for testing has ended").wait_for()
    expect(lost.get_by_role("link", name="Reconnect")).to_have_attribute(
        "href", "/oauth/mail/start?email=mia.tern%40post.example"
    )
    expect(lost.get_by_role("link", name="Publish the app")).to_have_count(1)
    for cause, title in CAUSES.items():
        answers.causes[HOME] = cause
        answers.set_account(HOME, problem=f"It is {cause}.")
        lost.get_by_text(title).wait_for()
    well.get_by_text("1 change not yet at the provider").click()
    well.get_by_text("Mooring plan").wait_for()
    well.get_by_text("3 attempts").wait_for()
    well.get_by_text("1 message passed over").click()
    well.get_by_text("without its content").wait_for()
    well.get_by_role("button", name="Retry: messages passed over").click()
    well.get_by_text("1 message passed over").wait_for(state="detached")
    assert app.called("mail.retryFailures") == [{"accountId": MIA}]
    answers.set_account(MIA, state="waiting", problem="Gmail can't be reached: no connection.")
    well.get_by_text("Gmail can't be reached: no connection.").wait_for()
    well.get_by_text("Next attempt").wait_for()
    well.get_by_role("button", name="Try now").wait_for()


@pytest.mark.thorough
def test_an_account_is_synced_anew_disconnected_and_erased_after_a_question(start: Callable[..., App]) -> None:
    app = opened(start, AccountsAnswers(notice="Google could not be told that access has ended."))
    app.tolerated = ("500", "503")
    page = app.page
    well = card(page, MIA)
    well.get_by_role("button", name="Resync").click()
    assert app.calls("mail.resync") == []
    well.get_by_role("button", name="Resync").click()
    well.get_by_text("0 of 4,212 messages").wait_for()
    app.answers.failing["mail.disconnect"] = Refusal("SERVICE_UNAVAILABLE", 503, "The service is stopping.")
    well.get_by_role("button", name="Disconnect").click()
    dialog = page.get_by_role("dialog", name="Disconnect mia@ternandtide.example")
    dialog.get_by_text("4,211 messages stay readable").wait_for()
    dialog.get_by_role("button", name="Disconnect").click()
    dialog.get_by_role("alert").get_by_text("The service is stopping.").wait_for()  # a refusal is told there
    app.answers.failing.clear()
    dialog.get_by_role("button", name="Disconnect").click()
    page.get_by_role("heading", name="Disconnected").wait_for()
    wanted = {"accountId": MIA, "erase": False}
    assert app.called("mail.disconnect", times=2) == [wanted, wanted]
    well.get_by_text("could not be told").wait_for()
    expect(well.get_by_role("link", name="Connect again")).to_have_attribute("href", re.compile("email=mia"))
    card(page, HELLO).get_by_role("button", name="Disconnect").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Erase the mail here").check()
    erase = dialog.get_by_role("button", name="Erase")
    expect(erase).to_be_disabled()
    dialog.get_by_label("to erase it").fill("hello@ternandtide")
    expect(erase).to_be_disabled()
    dialog.get_by_label("to erase it").fill(" Hello@ternandtide.example")
    erase.click()
    card(page, HELLO).wait_for(state="detached")
    assert app.called("mail.disconnect", times=3)[-1] == {"accountId": HELLO, "erase": True}


@pytest.mark.thorough
def test_an_account_that_is_only_here_syncs_with_nothing_and_is_erased_by_its_name(start: Callable[..., App]) -> None:
    answers = AccountsAnswers()
    answers.accounts[0].update(provider="imap", signIn="password")
    answers.accounts[1].update(fake_mail.kept_here(), address="Old Mail", state="caught-up", progress=None, messages=1)
    page = opened(start, answers).page
    kept = card(page, HELLO)
    kept.get_by_text("Kept on this server alone. 1 mail.").wait_for()
    expect(kept.locator(".account-foot").get_by_role("button")).to_have_text(["Erase"])
    expect(kept.get_by_text("At the provider")).to_have_count(0)
    expect(kept.get_by_label("Your name in From")).to_have_count(0)
    kept.get_by_role("button", name="Erase").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("it is kept on this server alone").wait_for()
    dialog.get_by_label("to erase it").fill("old mail")
    dialog.get_by_role("button", name="Erase").click()
    kept.wait_for(state="detached")
    card(page, MIA).get_by_role("button", name="Disconnect").click()
    page.get_by_role("dialog").get_by_text("it works until you revoke it at the provider").wait_for()


@pytest.mark.thorough
def test_nothing_is_green_while_the_server_is_away(start: Callable[..., App]) -> None:
    app = start()
    app.tolerated = ("WebSocket", "ERR_CONNECTION", "503")
    app.open()
    app.page.locator(".sync-dot.good").first.wait_for()
    app.answers.has_socket = False
    app.answers.cut_sockets()
    app.page.locator(".sync-button").get_by_text("Not connected to the server").wait_for()
    expect(app.page.locator(".sync-dot.good")).to_have_count(0)


def test_somebody_who_is_signed_out_does_not_knock_at_the_socket(start: Callable[..., App]) -> None:
    app = start(AccountsAnswers(me=fake_mail.me(mode="claimed")))
    app.tolerated = ("401",)
    knocked: list[str] = []
    app.page.on("websocket", lambda socket: knocked.append(socket.url))
    app.watch_traffic()
    app.open("/p/mail", ready=".login-card")
    app.traffic.quiet()
    assert knocked == []


@pytest.mark.look
@needs(AXE)
def test_the_page_passes_axe_and_fits(start: Callable[..., App], size: str) -> None:
    app = start(AccountsAnswers(), **SIZES[size])
    page = app.open(PATH, ready=".account")
    for words in ("1 change not yet", "1 message passed over"):
        card(page, MIA).get_by_text(words).click()
    check_in_a_light(page, f"accounts-{size}")
    if size == "phone":
        assert small_targets(page) == []
    card(page, MIA).get_by_role("button", name="Disconnect").click()
    page.get_by_label("Erase the mail here").check()
    check_in_a_light(page, f"accounts-{size}-erase")
