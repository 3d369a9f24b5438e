"""A home that an older version left behind opens: nothing of it is lost, every invariant holds, and undo goes on.

``golden/home-of-2026-11-22.tar.xz`` was made by the last version before mail got walls inside: two fake accounts with
four mails, an attachment, a snooze, three steps to take back, a scheduled mail, a sent one, a draft, a page, a file.
"""

from __future__ import annotations

import tarfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from svc.app import all_invariants
from svc.clock import VirtualClock
from svc.store import run_fsck
from tests.recorded_log import RecordedLog
from tests.support.service import Service, open_service

ARCHIVE: Final = Path(__file__).parent / "golden" / "home-of-2026-11-22.tar.xz"
LEFT_AT_MS: Final = 1_795_349_700_000  # 2026-11-22T12:15:00Z, soon after it was made


@pytest.fixture
async def home(tmp_path: Path, log: RecordedLog) -> AsyncIterator[Service]:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path / "home", filter="data")
    async with open_service(tmp_path, clock=VirtualClock(epoch_ms=LEFT_AT_MS), log=log, PROVIDERS="fake") as service:
        yield service


async def test_what_an_older_version_stored_is_there(home: Service) -> None:
    accounts = {one["address"]: one for one in await home.query("mail.accounts")}
    assert {address: one["unread"] for address, one in accounts.items()} == {
        "mia@example.org": 1,
        "work@example.org": 1,
    }
    inbox = (await home.query("mail.threads", section="inbox"))["threads"]
    assert [one["subject"] for one in inbox] == ["Plans", "Harbour 3"]
    skipped = (await home.query("mail.threads", section="skipped"))["threads"]
    assert {one["subject"] for one in skipped} == {"Harbour 1", "Harbour 2", "Hello"}
    opened = await home.query("mail.thread", id=next(one["id"] for one in inbox if one["subject"] == "Plans"))
    assert "<b>the plans</b>" in opened["messages"][0]["html"]
    assert [one["subject"] for one in await home.query("mail.drafts")] == ["Later"]
    assert {one["subject"]: one["state"] for one in await home.query("mail.outgoing")} == {
        "Hello": "sent",
        "Re: Harbour 3": "scheduled",
    }
    assert (await home.query("pages.get", path="notes/harbour"))["title"] == "Harbour"
    found = (await home.query("mail.search", query="tide"))["threads"]
    assert {one["subject"] for one in found} == {"Harbour 1", "Harbour 2", "Harbour 3"}


async def test_steps_done_before_are_taken_back_after(home: Service) -> None:
    assert [one["what"] for one in await home.query("mail.undoable")] == ["snooze", "labels", "archive"]
    for what in ("snooze", "labels", "archive"):
        assert (await home.mutate("mail.undo"))["undone"]["what"] == what
    inbox = (await home.query("mail.threads", section="inbox"))["threads"]
    assert {one["subject"] for one in inbox} == {"Plans", "Harbour 1", "Harbour 2", "Harbour 3"}


async def test_every_invariant_holds_in_an_older_home(home: Service) -> None:
    problems = await home.workspace.store.read(
        run_fsck, invariants=all_invariants(), blobs=home.workspace.blobs, secrets=None, deep=True
    )
    assert problems == []


async def test_accounts_of_an_older_home_keep_their_provider_their_place_and_all_that_refers_to_them(
    home: Service,
) -> None:
    read = home.workspace.store.read
    accounts = await read(lambda tx: tx.all("select provider, cursor is not null, sweep_cursor from mail_accounts"))
    assert accounts == [("fake", 1, None), ("fake", 1, None)]
    assert await read(lambda tx: tx.all("select * from pragma_foreign_key_check")) == []
    referring = await read(
        lambda tx: tx.all(
            """
            select t.name from sqlite_schema t join pragma_foreign_key_list(t.name) k
            where t.type = 'table' and k."table" = 'mail_accounts' order by 1
            """
        )
    )
    assert {"mail_messages", "mail_threads", "mail_labels", "mail_mirror"} <= {str(name) for (name,) in referring}
