"""Settings > Export against the whole program: all comes down as one archive, and a file that is no page is told."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import DESKTOP, PATIENCE_MS
from tests.support.installed import InstalledService

pytestmark = [pytest.mark.browser, pytest.mark.wall_clock]


@pytest.mark.thorough
def test_everything_is_downloaded_and_a_broken_file_is_told(browser: Browser, tmp_path: Path) -> None:
    with InstalledService(tmp_path) as service:
        service.start(PROVIDERS="fake")
        service.mutate("pages.save", path="plan", body="What we do.\n")
        (service.home / "okf" / "broken.md").write_bytes(b"\xff no text")
        context = browser.new_context(viewport=DESKTOP, service_workers="block", base_url=service.base)
        context.set_default_timeout(PATIENCE_MS * 2)
        try:
            page = context.new_page()
            page.goto("/settings")
            page.get_by_role("link", name="Export").click()
            with page.expect_download() as begun:
                page.get_by_role("link", name="Download everything").click()
            begun.value.save_as(tmp_path / "all.tar")
            files = page.get_by_role("region", name="Pages as files")
            expect(files).to_contain_text("below okf/ in the home", timeout=PATIENCE_MS * 2)
            page.reload()
            expect(files.get_by_role("listitem")).to_contain_text("It is not UTF-8 text.", timeout=PATIENCE_MS * 2)
        finally:
            context.close()
        assert service.stop() == 0
    with tarfile.open(tmp_path / "all.tar") as archive:
        assert "svc-export/data/pages/plan.md" in archive.getnames()
