"""Settings > Health against the whole program: what is well, what is not and what to do, and that it is seen mended."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import DESKTOP, PATIENCE_MS
from tests.support.installed import InstalledService

pytestmark = [pytest.mark.browser, pytest.mark.wall_clock]


@pytest.mark.thorough
def test_a_fault_is_shown_with_what_to_do_until_it_is_mended(browser: Browser, tmp_path: Path) -> None:
    with InstalledService(tmp_path) as service:
        service.start(PROVIDERS="fake")
        (key,) = (tmp_path / "config" / "svc" / "keys").iterdir()
        key.chmod(0o644)
        context = browser.new_context(viewport=DESKTOP, service_workers="block", base_url=service.base)
        context.set_default_timeout(PATIENCE_MS * 2)
        try:
            page = context.new_page()
            page.goto("/settings")
            page.get_by_role("link", name="Health").click()
            status = page.get_by_role("region", name="Checks").get_by_role("status")
            expect(status).to_have_text("One thing needs a look.", timeout=PATIENCE_MS * 2)
            first = page.get_by_role("region", name="Checks").get_by_role("listitem").first
            expect(first).to_contain_text("keys")
            expect(first).to_contain_text("can be read by others")
            expect(first).to_contain_text(f"Run: chmod 600 {key}")
            key.chmod(0o600)
            page.get_by_role("button", name="Check again").click()
            expect(status).to_have_text("All is well.", timeout=PATIENCE_MS * 2)
            rows = page.get_by_role("listitem")
            expect(rows.filter(has_text="database").first).to_contain_text("answers")
            expect(rows.filter(has_text="provider").first).to_contain_text("Fakes stand in")
        finally:
            context.close()
        assert service.stop() == 0
