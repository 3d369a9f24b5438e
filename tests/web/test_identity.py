"""Signing in, against the stand-in server: every state and every refusal, in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.browser import App
from tests.web import fake_mail
from tests.web.fake_identity import IdentityAnswers
from tests.web.fake_server import MODULES

pytestmark = pytest.mark.browser

SIGN_IN = "Sign in"


def stranger(**me: object) -> IdentityAnswers:
    return IdentityAnswers(me=fake_mail.me(**{"mode": "claimed", **me}))


def answers_of(app: App) -> IdentityAnswers:
    assert isinstance(app.answers, IdentityAnswers)
    return app.answers


def shown(page: Page) -> str:
    return page.locator("main").inner_text()


# Signing in


def test_the_provider_button_takes_the_invite_and_the_way_back_along(start: Callable[..., App]) -> None:
    app = start(stranger(devLogin=False, googleLogin=True))
    page = app.open("/login?invite=abc&next=%2Fsettings%2Fdevices%3Fx%3D1", ready=".login-card .button")
    link = page.get_by_role("link", name="Continue with your identity provider")
    expect(link).to_have_attribute("href", "/auth/idp/start?invite=abc&next=%2Fsettings%2Fdevices%3Fx%3D1")
    expect(page.get_by_role("heading", name="You were invited")).to_have_count(1)
    expect(page.get_by_label("Development login")).to_have_count(0)


def test_a_development_login_carries_the_invite_and_ends_where_it_began(start: Callable[..., App]) -> None:
    app = start(stranger())
    page = app.open("/login?invite=abc&next=%2Fsettings", ready="form")
    page.get_by_label("Development login").fill(" new@tern.example ")
    page.locator("form").evaluate("form => { form.requestSubmit(); form.requestSubmit(); }")
    page.get_by_role("heading", name="Profile").wait_for()
    assert answers_of(app).posts == [("/auth/dev-login", {"email": "new@tern.example", "invite": "abc"})]


@pytest.mark.thorough
def test_a_refused_sign_in_is_told_in_the_servers_words_and_can_be_tried_again(start: Callable[..., App]) -> None:
    app = start(stranger())
    app.tolerated = ("403",)
    answers_of(app).refusing = "This server takes members by invitation."
    page = app.open("/login", ready="form")
    page.get_by_label("Development login").fill("new@tern.example")
    page.get_by_role("button", name=SIGN_IN).click()
    page.get_by_role("alert").get_by_text("This server takes members by invitation.").wait_for()
    answers_of(app).refusing = None
    page.get_by_role("button", name=SIGN_IN).click()
    page.wait_for_url("**/p/mail")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("not-admitted", "This server takes members by invitation."),
        ("Call%20%2B1%20900%20555%20to%20sign%20in.", "The sign-in did not succeed."),
        ("constructor", "The sign-in did not succeed."),
    ],
)
def test_an_address_speaks_in_our_words_or_not_at_all(start: Callable[..., App], code: str, said: str) -> None:
    page = start(stranger()).open(f"/login?error={code}", ready="form")
    expect(page.get_by_role("alert")).to_contain_text(said)
    expect(page.locator("body")).not_to_contain_text("900")


@pytest.mark.thorough
def test_a_claim_link_is_not_used_up_by_being_opened(start: Callable[..., App]) -> None:
    app = start(stranger(mode="unclaimed", devLogin=False))
    page = app.open("/login?claim=s3cret", ready="form")
    page.get_by_text("You become its admin").wait_for()
    assert answers_of(app).posts == []
    page.get_by_role("button", name="Claim and sign in").click()
    page.wait_for_url("**/p/mail")
    assert answers_of(app).posts == [("/auth/claim-link", {"token": "s3cret"})]


def test_a_claim_link_that_is_too_old_says_so_and_leads_to_the_other_ways(start: Callable[..., App]) -> None:
    app = start(stranger())
    app.tolerated = ("403",)
    answers_of(app).refusing = "This link was used already or is older than 30 minutes."
    page = app.open("/login?claim=s3cret", ready="form")
    page.get_by_role("button", name=SIGN_IN).click()
    page.get_by_role("alert").get_by_text("older than 30 minutes").wait_for()
    page.get_by_role("link", name="Other ways to sign in").click()
    page.get_by_label("Development login").wait_for()


@pytest.mark.thorough
def test_an_unclaimed_workspace_says_what_the_first_sign_in_means(start: Callable[..., App]) -> None:
    page = start(stranger(mode="unclaimed")).open("/login?next=%2Fsettings", ready=".claiming")
    for part in ("Claim this workspace", "You become its admin", "nobody gets in without signing in"):
        assert part in shown(page)
    page.get_by_role("link", name="go on without signing in").click()
    page.get_by_text("Nobody has claimed this workspace yet.").wait_for()


@pytest.mark.thorough
def test_from_another_machine_an_unclaimed_workspace_asks_for_its_claim_token(start: Callable[..., App]) -> None:
    app = start(stranger(mode="unclaimed"))
    page = app.page

    def answer(route: Route) -> None:
        route.fulfill(response=route.fetch(url=route.request.url.replace("http://tern.example", app.origin)))

    page.route("http://tern.example/**", answer)
    page.goto("http://tern.example/login")
    page.get_by_label("Claim token").fill(" t0ken ")
    expect(page.get_by_label("Development login")).to_have_count(0)
    expect(page.get_by_role("link", name="without signing in")).to_have_count(0)
    page.get_by_role("button", name="Go on").click()
    page.get_by_label("Development login").wait_for()
    app.until("search => location.search === search", "?invite=t0ken")


@pytest.mark.parametrize("mode", ["claimed", "unclaimed"])
def test_without_any_way_in_the_command_on_the_machine_is_told(start: Callable[..., App], mode: str) -> None:
    page = start(stranger(mode=mode, devLogin=False)).open("/login", ready=".notice")
    assert "svc claim --email" in shown(page)
    expect(page.get_by_role("button")).to_have_count(0)


@pytest.mark.thorough
def test_who_is_signed_in_already_is_told_what_an_invite_is_for(start: Callable[..., App]) -> None:
    page = start(IdentityAnswers()).open("/login?invite=abc", ready=".login-card .button")
    assert "You are signed in as mia@ternandtide.example. The invite is for somebody new" in shown(page)
    page.get_by_role("link", name="Go to your workspace").click()
    page.locator("[data-thread]").first.wait_for()


def test_a_server_that_is_away_is_named_and_asked_again(start: Callable[..., App]) -> None:
    app = start(stranger())
    app.tolerated = ("ERR_FAILED",)
    app.page.route("**/auth/me", lambda route: route.abort())
    page = app.open("/login", ready="[role=alert]")
    expect(page.get_by_role("alert")).to_contain_text("can’t be reached")
    page.unroute("**/auth/me")
    page.get_by_role("button", name="Try again").click()
    page.get_by_label("Development login").wait_for()


SAFE = ["/p/mail", "/settings/devices?x=%2F%2Fy", "/p/caf%C3%A9", "/p/a#b"]
UNSAFE = [
    *("https://evil.example", "//evil.example", "/\\evil.example", "/\t/evil.example", "/%2f%2fevil.example"),
    *("/%255c%255cevil", "/p/../..//x", "/..", "/%2e%2e/x", "javascript:alert(1)", "", "p/mail", "/p/%zz", "/p/é"),
    *("/auth/idp/start", "/OAuth/mail/start", "/trpc/x", "/login", "/login?next=/login", "/" + "x" * 2_000),
]


def test_only_a_page_of_this_origin_is_followed_after_a_sign_in(app: App) -> None:
    page = app.open("/login", ready="form")
    ask = f"async paths => paths.map((await import('{MODULES}/identity/next.js')).safeNext)"
    assert page.evaluate(ask, SAFE) == SAFE
    assert dict(zip(UNSAFE, page.evaluate(ask, UNSAFE), strict=True)) == dict.fromkeys(UNSAFE, "/")
