"""Settings, Import: a mailbox is dropped there and becomes mail, and an account becomes a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.mail.porting.test_sources import LINE, entries, mail, mbox
from tests.support.browser import until
from tests.support.process import ServiceProcess
from tests.web.mail_rules.page_with_service import app_page, seeded_service

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]


def test_a_mailbox_is_imported_and_exported_again(browser: Browser, tmp_path: Path) -> None:
    box = LINE + b"X-Gmail-Labels: Inbox,Unread,Work\n" + mail("An old letter") + b"\n" + mbox("b")
    (tmp_path / "old.mbox").write_bytes(box)
    (tmp_path / "no mailbox.pdf").write_bytes(b"%PDF-1.7")
    with seeded_service(tmp_path) as service, app_page(browser, service) as app:
        page = app.go("/settings/import")
        page.get_by_label("Into the account").fill("mia@example.com")
        expect(page.get_by_text("shows what its provider has")).to_be_visible()
        app.picture("settings-import-address", phone=True)
        page.get_by_role("button", name="Import into “Imported”").click()
        expect(page.get_by_label("Into the account")).to_have_value("Imported")
        page.get_by_label("Into the account").fill("Old mail")
        page.get_by_label("Mailbox to import").set_input_files([tmp_path / "old.mbox"])
        until(app.page, lambda: states(service) == ["done"], what="the import to end", tell=service.log)
        expect(page.get_by_text("Done: 2 mails imported.")).to_be_visible()
        page.get_by_label("Mailbox to import").set_input_files([tmp_path / "no mailbox.pdf"])
        expect(page.get_by_text("Failed. This is no mailbox")).to_be_visible()
        # The import is failed in the step in which it fails, its run a moment later: only then it can be retried.
        until(app.page, lambda: "failed" in run_states(service), what="the run to have failed", tell=service.log)
        page.get_by_role("button", name="Retry no mailbox.pdf").click()
        expect(page.get_by_role("button", name="Retry no mailbox.pdf")).to_be_enabled()
        expect(page.get_by_text("Failed. This is no mailbox")).to_be_visible()
        with page.expect_download() as download:
            page.get_by_role("link", name="Export Old mail").click()
        assert download.value.suggested_filename == "Old-mail.mbox"
        assert len(entries(Path(download.value.path()).read_bytes())) == 2
        app.picture("settings-import", dark=True, phone=True)
        app.open_by_address("An old letter")  # the other mail is younger each day, and more of it stands above


def states(service: ServiceProcess) -> list[str]:
    return [one["state"] for one in service.query("mail.imports")]


def run_states(service: ServiceProcess) -> list[str]:
    return [one["state"] for one in service.query("runs.list")["runs"]]
