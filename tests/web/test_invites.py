"""The list of invites in Chromium: who came in by each."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web.fake_identity import IdentityAnswers, ahead
from tests.web.fake_mail import at

pytestmark = pytest.mark.browser

BEA = {"id": "usr_bea", "email": "bea@harbour.example", "name": "Bea <b>Stone</b>"}


def used(number: int, email: str | None, user: dict[str, Any] | None) -> dict[str, Any]:
    base = {"id": f"inv_{number}", "email": email, "createdAt": at(days=9), "expiresAt": ahead(days=3)}
    return {**base, "usedAt": at(days=3), "revokedAt": None, "usedBy": user}


def test_a_used_invite_names_who_came_in_by_it_and_nobody_who_is_gone(start: Callable[..., App]) -> None:
    invites = {
        "by Bea <b>Stone</b> (bea@harbour.example)": used(1, None, BEA),
        "by Bea <b>Stone</b>": used(2, BEA["email"], BEA),
        "by bea@harbour.example": used(3, None, {**BEA, "name": ""}),
    }
    answers = IdentityAnswers(invites=[*invites.values(), used(4, None, None)])
    page = start(answers).open("/settings/users", ready="text=/used .* by /")
    rows = page.get_by_role("region", name="Invites").locator(".thing")
    expect(rows).to_have_count(4)
    for number, ending in enumerate(invites):
        expect(rows.nth(number).locator(".fine")).to_contain_text(re.compile(rf"{re.escape(ending)}\s*$"))
    expect(rows.nth(3)).to_contain_text("Anybody with the link")
    expect(rows.nth(3)).not_to_contain_text(" by ")


def test_a_second_press_before_the_first_is_drawn_makes_no_second_invite(start: Callable[..., App]) -> None:
    app = start(IdentityAnswers(invites=[]))
    page = app.open("/settings/users", ready=".invite-form")
    page.locator(".invite-form").evaluate("form => { form.requestSubmit(); form.requestSubmit(); }")
    page.get_by_text("The invite link, shown this once.").wait_for()
    assert len(app.calls("auth.createInvite")) == 1
