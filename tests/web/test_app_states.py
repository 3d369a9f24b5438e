"""What the page says when there is nothing to show, something to do, or no server."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import APIResponse, Route, expect

from tests.sizes import SLOW
from tests.support.browser import App, intercept, milliseconds, until
from tests.web import fake_mail
from tests.web.fake_server import MODULES, FakeAnswers

pytestmark = pytest.mark.browser

FIRST_DRAW = """new MutationObserver((_, observer) => {
    if (!document.querySelector(".shell:not(.boot)")) return;
    observer.disconnect();
    window.firstDraw = document.querySelectorAll(".tabs [role=tab]").length;
}).observe(document, { subtree: true, childList: true })"""
"""Notes how many mailboxes the first draw shows."""


def test_the_front_door_leads_to_the_inbox_of_which_nothing_is_fetched_again_once_live_updates_connect(
    app: App,
) -> None:
    app.open("/")
    app.at("/p/mail")
    app.answers.add(id="thr_new")
    app.row("thr_new").wait_for()
    sections = [given["section"] for name, given in app.answers.calls if name == "mail.threads"]
    assert sections == ["inbox", "skipped"]


@pytest.mark.thorough
def test_without_an_account_the_page_says_what_to_create_and_what_to_copy(start: Callable[..., App]) -> None:
    app = start(FakeAnswers(accounts=[], threads=[]), permissions=["clipboard-read", "clipboard-write"])
    page = app.open(ready=".connect")
    headings = page.get_by_role("heading").all_inner_texts()
    page.get_by_text("your mail is stored on this machine").wait_for()
    # A password, which most people have, stands above the steps at Google.
    assert headings == ["Connect your mail", "With a password (IMAP)", "With your provider’s sign-in"]
    page.get_by_role("button", name="Microsoft").wait_for()
    page.get_by_role("button", name="Google").click()
    page.get_by_label("Client ID").wait_for()
    text = page.locator(".connect").inner_text()
    for part in ("OAuth consent screen", "Web application", "IDP_CLIENT_ID", "IDP_CLIENT_SECRET"):
        assert part in text
    page.get_by_role("button", name="Copy the redirect URI", exact=True).click()
    page.get_by_text("Copied").wait_for()
    [uri, _] = app.answers.clients[0]["callbacks"]
    app.until("async uri => await navigator.clipboard.readText() === uri", uri)


@pytest.mark.thorough
def test_a_part_of_the_app_says_that_it_is_loading_or_does_not_come_and_the_app_can_be_loaded_again(app: App) -> None:
    app.tolerated = ("net::ERR_FAILED",)
    page = app.open()
    held: list[Route] = []
    intercept(page, "**/*.js", lambda route: held.append(route))
    page.get_by_role("link", name="Pages", exact=True).first.click()
    expect(page.get_by_role("status").get_by_text("Loading", exact=True)).to_be_visible()
    for route in held:
        route.abort()
    expect(page.get_by_role("alert")).to_contain_text("This part of the app could not be loaded.")
    page.unroute_all()
    page.get_by_role("button", name="Load the app again").click()
    expect(page.get_by_role("heading", name="Pages", level=1)).to_be_visible()


def test_a_consent_that_was_refused_comes_back_as_a_notice(app: App) -> None:
    page = app.open("/p/mail?connect=no-consent")
    page.get_by_text("You did not grant access").wait_for()
    app.until("search => location.search === search", "")


@pytest.mark.thorough
def test_the_theme_can_be_chosen_and_is_remembered(app: App) -> None:
    page = app.open()
    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    dark = "light => getComputedStyle(document.documentElement).backgroundColor !== light"
    page.get_by_role("button", name="Colours: as the system").click()
    page.get_by_role("button", name="Colours: light").click()
    app.until(dark, light)
    page.reload()
    page.get_by_role("button", name="Colours: dark").wait_for()
    app.until(dark, light)


def test_an_empty_inbox_says_that_it_is_still_being_read_and_then_that_nothing_is_in_it(
    start: Callable[..., App],
) -> None:
    answers = FakeAnswers(threads=[])
    answers.accounts[0].update(state="backfilling", progress=fake_mail.reading(0, 4_000))
    page = start(answers).open(ready=".empty")
    page.get_by_text("Reading your mail").wait_for()
    expect(page.get_by_text("Inbox zero")).to_have_count(0)
    answers.set_account("acc_mia", state="caught-up", progress=None)
    page.get_by_text("Inbox zero").wait_for()
    page.get_by_text("Nothing has skipped the inbox").wait_for()


@pytest.mark.thorough
def test_a_backfill_shows_progress_and_then_how_long_it_takes(start: Callable[..., App]) -> None:
    app = start(alone=True)
    app.page.clock.install()
    page = app.open()
    listing = fake_mail.reading(500, 10_000, listing=True)
    app.answers.set_account("acc_hello", state="backfilling", progress=listing)
    strip = page.locator(".strip.reading")
    strip.get_by_text("is being listed: 500 of 10,000 messages").wait_for()
    app.answers.set_account("acc_hello", progress=fake_mail.reading(100, 10_000))
    strip.get_by_text("100 of 10,000 messages").wait_for()
    page.clock.run_for(5_000)
    app.answers.set_account("acc_hello", progress=fake_mail.reading(1_000, 10_000))
    strip.get_by_text(re.compile(r"about \d+ (s|min) left")).wait_for()
    expect(strip.get_by_role("progressbar")).to_have_attribute("value", "1000")
    app.answers.set_account("acc_mia", state="backfilling", progress=fake_mail.reading(500, 4_000))
    strip.get_by_text("2 accounts are being read, newest first: 1,500 of 14,000 messages.").wait_for()
    expect(strip).to_have_count(1)  # a strip for each would leave a phone no list
    app.answers.set_account("acc_mia", state="caught-up", progress=None)
    app.answers.set_account("acc_hello", state="caught-up", progress=None)
    strip.wait_for(state="detached")


def test_a_lost_grant_is_named_with_its_cause_and_a_way_back(start: Callable[..., App]) -> None:
    answers = FakeAnswers()
    answers.accounts[2].update(provider="gmail", state="reconnect", problem="The grant was revoked at the provider.")
    page = start(answers).open()
    strip = page.locator(".strip.warning")
    expect(strip).to_contain_text("The grant was revoked at the provider.")
    link = strip.get_by_role("link", name="Reconnect")
    expect(link).to_have_attribute("href", "/oauth/mail/start?email=mia.tern%40post.example")
    page.get_by_role("button", name="1 account needs you").wait_for()
    answers.set_account("acc_home", provider="outlook")
    expect(link).to_have_attribute("href", "/oauth/mail/start?provider=outlook&email=mia.tern%40post.example")


def test_where_the_providers_sign_in_is_not_set_up_any_more_an_admin_can_set_it_up(start: Callable[..., App]) -> None:
    """Its address would answer 501, which a browser shows as it is."""
    answers = FakeAnswers()
    answers.accounts[2].update(provider="gmail", state="reconnect", problem="The grant was revoked at the provider.")
    for way in answers.sign_ins:
        way["ready"] = False
    page = start(answers).open()
    page.locator(".strip.warning").get_by_role("link", name="Reconnect").click()
    dialog = page.get_by_role("dialog", name="Connect mia.tern@post.example again")
    dialog.get_by_text("Once, before the first account: create an OAuth client").wait_for()
    for way in answers.sign_ins:
        way["ready"] = True
    page.evaluate("dispatchEvent(new Event('focus'))")  # as after a look at the settings in another tab
    expect(dialog.get_by_role("link", name="Sign in at Google")).to_have_attribute(
        "href", "/oauth/mail/start?email=mia.tern%40post.example"
    )


def test_the_sync_panel_tells_each_accounts_state(start: Callable[..., App]) -> None:
    answers = FakeAnswers()
    answers.accounts[0].update(pending=2, failed=1)
    answers.accounts[1].update(state="waiting", problem="Google asks for a pause.")
    app = start(answers)
    page = app.open()
    page.get_by_role("button", name="Waiting for the provider").click()
    panel = page.get_by_role("dialog", name="Sync state")
    text = panel.inner_text()
    for part in ("Up to date. Last synced", "2 changes on the way", "1 message could not be read", "asks for a pause"):
        assert part in text
    app.press("Escape")
    panel.wait_for(state="hidden")
    app.at("/p/mail")


@pytest.mark.thorough
def test_without_a_socket_the_page_works_and_says_that_it_is_reconnecting(start: Callable[..., App]) -> None:
    app = start(FakeAnswers(has_socket=False))
    app.tolerated = ("WebSocket", "404")
    page = app.open()
    page.get_by_text("Reconnecting to the server.").wait_for()
    app.press("j", "Enter")
    page.locator("iframe").first.wait_for()
    with page.expect_websocket():
        page.get_by_role("button", name="Reconnect now").click()
    app.answers.has_socket = True  # only now: the button leaves with the next attempt that succeeds, whoever made it
    page.get_by_text("Reconnecting to the server.").wait_for(state="detached")


@pytest.mark.thorough
def test_a_claimed_workspace_sends_a_stranger_to_the_login_page_and_back(start: Callable[..., App]) -> None:
    app = start(FakeAnswers(me=fake_mail.me(mode="claimed")))
    app.tolerated = ("401",)
    page = app.open("/p/mail/t/thr_00", ready=".login-card")
    app.until("search => location.search === search", "?next=%2Fp%2Fmail%2Ft%2Fthr_00")
    page.get_by_label("Development login").fill("mia@ternandtide.example")
    page.get_by_role("button", name="Sign in").click()
    page.locator("iframe").first.wait_for()
    app.at("/p/mail/t/thr_00")


@pytest.mark.thorough
def test_after_login_the_way_leads_nowhere_else(start: Callable[..., App]) -> None:
    user = {"id": "usr_1", "email": "mia@ternandtide.example", "name": "Mia", "role": "admin"}
    app = start(FakeAnswers(me=fake_mail.me(mode="claimed", user=user)))
    for wanted in (
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "/%09/evil.example",
        "javascript:alert(1)",
    ):
        page = app.open(f"/login?next={wanted}", ready=".login-card")
        link = page.get_by_role("link", name="Go to your workspace")
        assert link.evaluate("link => link.origin === location.origin"), wanted
        assert "evil" not in (link.get_attribute("href") or ""), wanted


@pytest.mark.thorough
def test_news_that_comes_by_the_hundred_is_drawn_together_and_the_first_at_once(start: Callable[..., App]) -> None:
    app = start(alone=True)
    page = app.page
    frames: list[Any] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    page.clock.install()
    app.open()
    page.clock.pause_at(datetime.now(UTC) + timedelta(minutes=5))
    page.clock.run_for(1_000)
    heard = len(frames)
    names = [f"thr_new{number}" for number in range(20)]
    for name in names:
        app.answers.add(id=name, subject=name)
    until(page, lambda: len(frames) >= heard + len(names), what="the news to arrive")
    app.row(names[0]).wait_for()
    expect(app.row(names[-1])).to_have_count(0)
    turns = 0

    def drawn() -> bool:
        nonlocal turns
        turns += 1
        page.clock.run_for(16)
        return app.row(names[-1]).is_visible()

    until(page, drawn, what="all of the news to be drawn")
    assert turns <= 3 or SLOW
    page.clock.resume()


def first_rows_held(app: App) -> tuple[Route, APIResponse, list[Any]]:
    """Opens the inbox, and holds back the answer with the first rows. Also the frames of the socket so far."""
    page, held, frames = app.page, list[Route](), list[Any]()
    intercept(page, "**/trpc/*mail.threads*", lambda route: route.fallback() if held else held.append(route))
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    page.goto(app.origin + "/p/mail")
    until(page, lambda: bool(held), what="the first rows to be asked for")
    return held[0], held[0].fetch(), frames


@pytest.mark.thorough
def test_what_came_between_the_first_rows_and_the_first_news_is_there(start: Callable[..., App]) -> None:
    app = start(alone=True)
    page = app.page
    first, answer, frames = first_rows_held(app)
    app.answers.add(id="thr_between", subject="Between")
    until(page, lambda: bool(frames), what="news to be listened to")
    first.fulfill(response=answer)
    app.row("thr_between").wait_for()


def test_the_first_rows_are_asked_for_together_with_the_accounts_before_the_app_is_here(app: App) -> None:
    intercept(app.page, "**/app.js", lambda route: held.append(route))
    held: list[Route] = []
    with app.page.expect_request("**/trpc/*mail.threads*") as asked:
        app.page.goto(app.origin + "/p/mail", wait_until="commit")
    assert "mail.accounts" in asked.value.url
    until(app.page, lambda: bool(held), what="the app to be asked for")
    held[0].continue_()
    app.page.locator("[data-thread]").first.wait_for()
    assert [name for name, _ in app.answers.calls].count("mail.accounts") == 1


@pytest.mark.parametrize("comes", [True, False])
def test_the_first_draw_waits_a_moment_for_what_was_asked_before_the_app_was_here(
    start: Callable[..., App], comes: bool
) -> None:
    app = start(alone=True)
    page = app.page
    held: list[Route] = []
    page.clock.install()
    page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))
    if not comes:
        intercept(page, "**/trpc/*mail.threads*", lambda route: held.append(route))
    page.add_init_script(FIRST_DRAW)
    page.goto(app.origin + "/p/mail", wait_until="load")
    moments = milliseconds("app.js", "FIRST_ANSWER_MS")
    if not comes:
        until(page, lambda: bool(held), what="the first mail to be asked for")
        page.clock.run_for(moments - 1)
        assert page.evaluate("window.firstDraw === undefined")
    for _ in range(moments):
        page.clock.run_for(1)
        if page.evaluate("window.firstDraw !== undefined"):
            break
    assert page.evaluate("window.firstDraw > 0") == comes


def test_an_answer_without_its_age_is_fetched_again_once_live_updates_connect(app: App) -> None:
    first, answer, frames = first_rows_held(app)
    fields = {name: value for name, value in answer.headers.items() if name != "x-svc-seq"}
    until(app.page, lambda: bool(frames), what="news to be listened to")
    with app.page.expect_request("**/trpc/*mail.threads*section*inbox*"):
        first.fulfill(response=answer, headers=fields)


@pytest.mark.thorough
@pytest.mark.parametrize("stored", ["new Promise(() => {})", "Promise.reject(new Error('The disk is full.'))"])
def test_the_login_page_waits_a_moment_for_what_must_be_stored_and_comes_also_if_it_is_not(
    start: Callable[..., App], stored: str
) -> None:
    app = start(alone=True)
    app.page.clock.install()
    page = app.open()
    page.evaluate(
        f"""async () => {{
            const [{{ useStandIn }}, {{ goToLogin }}] = await Promise.all(
                ["stand_in", "rpc"].map(name => import(`{MODULES}/${{name}}.js`)));
            useStandIn({{ heard: (name, input, output) => output, strangerCame: () => {stored} }});
            goToLogin();
        }}"""
    )
    page.clock.run_for(2_500)
    page.wait_for_url("**/login**")
