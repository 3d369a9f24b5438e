"""Settings, Import: what the server refuses, and what an import waits for, is told beside the import."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web.fake_mail import MIA
from tests.web.fake_server import FakeAnswers, Refusal

pytestmark = pytest.mark.browser


@dataclass
class FailedImport(FakeAnswers):
    def rpc_mail_imports(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        counted = {"percent": 0, "added": 0, "known": 0, "skipped": 0, "reasons": [], "waitsFor": None}
        named = {"runId": "run_1", "accountId": MIA, "name": "old.mbox"}
        shown = {**named, **counted, "problem": None, "state": "working"}
        return [
            {**shown, "state": "failed", "problem": "The disk is full."},
            {**shown, "runId": "run_2", "name": "full.mbox", "waitsFor": "room", "percent": 40, "added": 7},
            {**shown, "runId": "run_3", "name": "later.mbox", "waitsFor": "turn"},
        ]


DROPPED: str = """place => {
    const asked = [];
    const folder = name => ({ kind: "file", getAsFile: () => null, webkitGetAsEntry: () => ({ isDirectory: true, name,
        getFile: (file, _, found, none) => {
            asked.push(file);
            found({ file: done => done(new File(["From "], "mbox")) });
        } }) });
    const event = new Event("drop", { bubbles: true, cancelable: true });
    const carried = { types: ["Files"], items: [folder("Maildir"), folder("Boats.mbox")] };
    Object.defineProperty(event, "dataTransfer", { value: carried });
    place.dispatchEvent(event);
    return asked; }"""


def test_a_folder_is_told_to_be_packed_and_a_mailbox_of_apple_mail_is_opened(start: Callable[..., App]) -> None:
    app = start(FailedImport())
    app.tolerated = ("404",)
    page = app.open("/settings/import", ready=".import-drop")
    with page.expect_request("**/files") as sent:
        assert page.locator(".import-drop").evaluate(DROPPED) == ["mbox"]
    assert sent.value.headers["x-svc-filename"] == "Boats.mbox"
    expect(page.get_by_text("A folder is not uploaded: pack it as .zip or .tgz, and drop that.")).to_be_visible()


def test_a_retry_that_is_refused_is_told(start: Callable[..., App]) -> None:
    answers = FailedImport()
    answers.failing["runs.retry"] = Refusal("CONFLICT", 409, "This run is at work already.")
    app = start(answers)
    app.tolerated = ("409",)
    page = app.open("/settings/import", ready=".import")
    page.get_by_role("button", name="Retry old.mbox").click()
    page.get_by_text("Could not retry old.mbox: This run is at work already.").wait_for()
    expect(page.get_by_text("Waits until the import before it is done.")).to_be_visible()
    expect(page.get_by_text("40 % until now: 7 mails imported.")).to_contain_text("the disk of this server is full")
    expect(page.get_by_role("progressbar")).to_have_count(1)
