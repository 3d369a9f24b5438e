"""The page Backups with the whole program, its archive and its replica: the code is made and typed again, a copy is
sent, a moment is restored and tried, and a place that is gone is told."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.journeys.test_disk_lost import Machine, all_blobs_are_away, kept, receive
from tests.sizes import HANGS_S
from tests.support.browser import DESKTOP, PATIENCE_MS, AppPage, fresh_page, hear
from tests.support.installed import InstalledService
from tests.support.process import until
from tests.web.test_app_looks import check
from tests.web.test_widths import look
from tests.web.test_widths import told as told_of

pytestmark = [pytest.mark.browser, pytest.mark.wall_clock]

LONG_MS = PATIENCE_MS * 2
"""What is waited for takes several programs."""


@pytest.mark.thorough
def test_what_is_kept_elsewhere_is_seen_tried_and_had_back(
    browser: Browser, tmp_path: Path, chance: random.Random
) -> None:
    machine = Machine(tmp_path)
    with machine.serving(), InstalledService(tmp_path / "service") as service:
        service.directory.mkdir()
        service.start(**machine.settings)
        receive(service, "kept elsewhere")
        with fresh_page(browser, base_url=service.base, viewport=DESKTOP) as page:
            seat = AppPage(page=page)
            hear(page, seat.problems.append)
            page.goto("/settings/backups")

            code = page.get_by_role("region", name="Recovery code")
            expect(code).to_contain_text("There is no recovery code yet.", timeout=LONG_MS)
            code.get_by_role("button", name="Make a recovery code").click()
            made = code.locator("output").inner_text()
            again = code.get_by_label("Type it again from your paper")
            again.fill(made[:-1] + ("0" if made[-1] != "0" else "1"))
            code.get_by_role("button", name="It is written down").click()
            expect(code.get_by_role("alert")).to_be_visible()
            again.fill(made.lower())
            code.get_by_role("button", name="It is written down").click()
            expect(code).to_contain_text("and is written down")
            expect(code).not_to_contain_text(made)

            archive = page.get_by_role("region", name="Backup", exact=True)
            all_blobs_are_away(service)
            page.get_by_role("button", name="Back up now").click()
            expect(page.get_by_text("is in the archive.")).to_be_visible(timeout=LONG_MS)
            expect(archive).to_contain_text(str(machine.archive))
            until(
                lambda: any(one["blobs"] for one in service.query("backup.status")["recoveryPoints"]),
                what="a recovery point",
                deadline_s=HANGS_S,
                tell=service.log,
            )
            page.reload()
            points = page.get_by_role("region", name="Go back to a moment")
            newest = points.get_by_role("listitem").first
            expect(newest).to_contain_text("of mail and files")
            newest.get_by_role("button", name=re.compile("Restore to a new folder")).click()
            told = points.get_by_role("status").filter(has_text="Restored and checked:")
            expect(told).to_be_visible(timeout=LONG_MS)
            (restored,) = (one for one in service.home.parent.iterdir() if one.name.startswith("home-restored-"))
            expect(told).to_contain_text(f"SVC_HOME={restored}")
            assert "kept elsewhere" in kept(restored)

            drill = page.get_by_role("region", name="Nightly restore test")
            drill.get_by_role("button", name="Try it now").click()
            expect(drill).to_contain_text("Restored and checked", timeout=LONG_MS)
            machine.archive.rename(tmp_path / "taken away")
            drill.get_by_role("button", name="Try it now").click()
            expect(drill.get_by_role("status")).to_contain_text("It failed", timeout=LONG_MS)
            check(page, "backups")
            misfits: dict[str, list[str]] = {}
            look(page, "backups", misfits, chance)
            assert told_of(misfits) == ""
            assert [one for one in seat.complaints() if "status of 400" not in one] == []  # the wrong code
        assert service.stop() == 0
