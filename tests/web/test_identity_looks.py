"""How signing in and the settings look and read: axe-core, light, dark, phone, screenshots in tests/shots/."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.support.browser import App
from tests.web import fake_mail
from tests.web.fake_identity import JONAS, IdentityAnswers, signed_in
from tests.web.test_app_looks import NARROW, SIZES, check_in_a_light, small_targets

pytestmark = [pytest.mark.browser, pytest.mark.look, pytest.mark.share(2)]

LOGINS: dict[str, tuple[str, dict[str, Any]]] = {
    "unclaimed": ("/login", fake_mail.me()),
    "claimed": ("/login?error=code-rejected", fake_mail.me(mode="claimed")),
    "invited": ("/login?invite=abc", fake_mail.me(mode="claimed", googleLogin=True)),
    "no-way": ("/login", fake_mail.me(mode="claimed", devLogin=False)),
    "link": ("/login?claim=abc", fake_mail.me(devLogin=False)),
}


def test_every_way_in_passes_axe_and_fits(start: Callable[..., App], size: str) -> None:
    app = start(IdentityAnswers(), **SIZES[size])
    for state, (path, me) in LOGINS.items():
        app.answers.me = dict(me)
        page = app.open(path, ready=".login-card .lead")
        check_in_a_light(page, f"{size}-login-{state}")


def test_every_section_of_the_settings_passes_axe_and_fits(start: Callable[..., App], size: str) -> None:
    app = start(IdentityAnswers(), **SIZES[size])
    page = app.open("/settings", ready=".who")
    check_in_a_light(page, f"{size}-settings-profile")
    go_to(page, "Display")
    page.get_by_label("Month first").wait_for()
    check_in_a_light(page, f"{size}-settings-display")
    go_to(page, "Keys")
    page.get_by_role("button", name="Change: Snooze").click()
    page.keyboard.press("e")
    page.get_by_text("has this key").wait_for()
    check_in_a_light(page, f"{size}-settings-keys")
    go_to(page, "Google and Microsoft")
    page.get_by_label("Client ID").first.wait_for()
    check_in_a_light(page, f"{size}-settings-sign-ins")
    go_to(page, "Users")
    page.get_by_text("noor@harbour.example").wait_for()
    check_in_a_light(page, f"{size}-settings-users")
    page.get_by_role("button", name="Create invite link").click()
    page.get_by_text("shown this once").wait_for()
    page.get_by_role("button", name="Make member: Mia Tern").click()
    check_in_a_light(page, f"{size}-settings-invite")
    go_to(page, "Credentials")
    page.get_by_role("button", name="Set Telegram").click()
    check_in_a_light(page, f"{size}-settings-credentials")
    go_to(page, "Health")
    page.get_by_text("chmod 600").wait_for()
    check_in_a_light(page, f"{size}-settings-health")
    go_to(page, "Devices")
    page.locator(".thing").first.wait_for()
    check_in_a_light(page, f"{size}-settings-devices")
    page.get_by_role("button", name="Pair a device").click()
    check_in_a_light(page, f"{size}-settings-pair")
    page.get_by_role("button", name="Show the code").click()
    page.locator(".qr path[d^=M]").first.wait_for()
    check_in_a_light(page, f"{size}-settings-code")


def go_to(page: Page, section: str) -> None:
    """On a phone the list is folded."""
    if page.locator(".settings-unfold").is_visible():
        page.locator(".settings-unfold").click()
    page.locator(".settings-list").get_by_role("link", name=section, exact=True).click()


def test_what_a_finger_presses_there_is_large_enough(start: Callable[..., App]) -> None:
    app = start(IdentityAnswers(me=signed_in(JONAS)), **NARROW)
    for path in ("/login", "/settings", "/settings/devices", "/settings/display", "/settings/keys"):
        page = app.open(path, ready="h1")
        page.wait_for_load_state("networkidle")
        assert small_targets(page) == []
