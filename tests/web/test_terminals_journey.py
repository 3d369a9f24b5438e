"""A terminal in the browser, with the whole program and a real shell, under the real policy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.web.mail_rules.page_with_service import app_page, empty_service

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]
PROMPT = re.compile(r"[$#]")
SCREEN = ".terminals-panel:not(.behind) .xterm-rows"


def test_a_shell_is_typed_into_found_again_after_a_reload_and_ended(browser: Browser, tmp_path: Path) -> None:
    with empty_service(tmp_path, SVC_SHELL="/bin/sh") as service, app_page(browser, service) as app:
        page = app.go("/p/terminal")
        screen = page.locator(SCREEN)
        expect(screen).to_contain_text(PROMPT)
        page.keyboard.type("number=6; printf 'seen %d\\n' $((number * 7))\n")
        expect(screen).to_contain_text("seen 42")
        page.reload()
        expect(screen).to_contain_text("seen 42")
        page.locator(".xterm-helper-textarea").focus()
        page.keyboard.type("printf 'still %d\\n' $((number * 8))\n")
        expect(screen).to_contain_text("still 48")
        page.get_by_role("button", name="End: ").click()
        page.get_by_role("button", name="End it: ").click()
        expect(page.get_by_text("Ended by SIGHUP.")).to_be_visible()
        assert service.query("terminals.list") == []
