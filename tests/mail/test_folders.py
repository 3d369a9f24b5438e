"""A mailbox that has folders and flags instead of labels works like any other, through the same procedures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from svc.clock import VirtualClock
from svc.formats import mime
from svc.mail.accounts import actions as account_actions
from svc.mail.model import DRAFT, INBOX, SENT, SPAM, STARRED, TRASH, UNREAD
from svc.mail.providers.folders import ARCHIVE, FLAGS, ROLES, Place, labels_of, relabelled, told
from svc.mail.providers.table import Providers
from svc.mail.sync.engine import MailEngine
from svc.principal import UNCLAIMED
from tests.mail.folder_provider import FolderMailbox, FolderProvider
from tests.mail.sending.mailer import Mailer
from tests.recorded_log import RecordedLog
from tests.support.mailbox import mail
from tests.support.service import MIA, Service, open_service

FOLDERS = (*ROLES, ARCHIVE, "Boats")
a_place = st.builds(
    Place,
    folder=st.sampled_from(FOLDERS),
    seen=st.booleans(),
    flagged=st.booleans(),
    came_from=st.sampled_from(FOLDERS),
)
some_labels = st.frozensets(st.sampled_from((*ROLES, "Boats", UNREAD, STARRED)))


# The mapping


@given(a_place, some_labels, some_labels)
def test_a_message_lies_in_one_folder_and_has_the_flags_it_was_given(
    place: Place, add: frozenset[str], remove: frozenset[str]
) -> None:
    remove -= add
    after = relabelled(place, add=add, remove=remove)
    carried = labels_of(after)
    assert len(carried - FLAGS) <= 1
    assert not carried & remove
    assert carried & FLAGS == ((labels_of(place) - remove) | add) & FLAGS
    assert bool(carried & add) == bool(add) or not add - FLAGS
    assert labels_of(relabelled(after, add=add, remove=remove)) == carried


@given(a_place, a_place)
def test_what_is_told_of_a_move_leads_from_the_one_to_the_other(before: Place, after: Place) -> None:
    added, removed = told(before, after)
    assert (labels_of(before) - removed) | added == labels_of(after)


@given(st.sampled_from((INBOX, SENT, ARCHIVE, "Boats")), st.sampled_from((TRASH, SPAM)))
def test_what_leaves_the_trash_goes_back_to_where_it_came_from(folder: str, away: str) -> None:
    thrown = relabelled(Place(folder=folder), add=frozenset({away}), remove=frozenset())
    assert thrown.folder == away
    assert relabelled(thrown, add=frozenset(), remove=frozenset({away})).folder == folder


@pytest.mark.parametrize(
    ("add", "remove", "folder"),
    [
        ({TRASH, INBOX}, set(), TRASH),
        (set(), {INBOX}, ARCHIVE),
        ({INBOX}, {SPAM, TRASH}, INBOX),
        ({"Boats"}, {INBOX}, "Boats"),
        (set(), {SENT, DRAFT}, INBOX),
    ],
)
def test_a_change_of_labels_is_a_move(add: set[str], remove: set[str], folder: str) -> None:
    assert relabelled(Place(folder=INBOX), add=frozenset(add), remove=frozenset(remove)).folder == folder


# The service


@dataclass(kw_only=True)
class FolderAccount:
    """The service with one account, whose mailbox has folders."""

    service: Service
    box: FolderMailbox
    account_id: str

    async def synced(self) -> None:
        engine = self.service.workspace.service(MailEngine)
        await engine.sync_now(self.account_id)
        await engine.sync_now(self.account_id)

    async def listed(self, section: str = "inbox") -> dict[str, str]:
        """Subjects with their threads."""
        found = (await self.service.query("mail.threads", section=section))["threads"]
        return {one["subject"]: one["id"] for one in found}

    async def labels(self, message_id: str) -> set[str]:
        rows = await self.service.rows(
            "select value from mail_messages, json_each(labels) where provider_message_id = :id", id=message_id
        )
        return {str(value) for (value,) in rows}

    async def agreed(self) -> None:
        """Every message is here as it is there, and nothing waits."""
        await self.synced()
        assert await self.service.rows("select * from mail_mirror") == []
        for one in self.box.kept.values():
            assert await self.labels(one.id) == labels_of(one.place), one.id


@pytest.fixture
async def folder_account(tmp_path: Path, log: RecordedLog, wall: VirtualClock) -> AsyncIterator[FolderAccount]:
    async with open_service(tmp_path, clock=wall, log=log) as service:
        box = FolderMailbox(address=MIA, clock=wall)
        for folder in (INBOX, ARCHIVE, SPAM, TRASH, SENT):
            box.deliver(mail(f"In {folder or 'the archive'}"), folder=folder, seen=folder != INBOX)
            await trio.sleep(60)
        workspace = service.workspace
        workspace.service(Providers).replace_all("folders", lambda account: FolderProvider(box=box))
        account_id = await workspace.store.write(account_actions.connect, UNCLAIMED, address=MIA, provider="folders")
        await workspace.service(MailEngine).start_account(account_id)
        yield FolderAccount(service=service, box=box, account_id=account_id)


async def test_the_folders_are_the_sections(folder_account: FolderAccount) -> None:
    await folder_account.agreed()
    assert list(await folder_account.listed()) == ["In INBOX"]
    assert set(await folder_account.listed("skipped")) == {"In the archive", "In SENT"}
    (account,) = await folder_account.service.query("mail.accounts")
    assert (account["state"], account["unread"]) == ("caught-up", 1)


async def test_archiving_here_is_a_move_there_and_taking_it_back_is_one_too(folder_account: FolderAccount) -> None:
    await folder_account.synced()
    thread_id = (await folder_account.listed())["In INBOX"]
    await folder_account.service.mutate("mail.archive", threadIds=[thread_id])
    await folder_account.agreed()
    assert folder_account.box.kept["m0"].place == Place(folder=ARCHIVE, seen=False)
    await folder_account.service.mutate("mail.undo")
    await folder_account.agreed()
    assert folder_account.box.kept["m0"].place == Place(folder=INBOX, seen=False)
    assert list(await folder_account.listed()) == ["In INBOX"]


async def test_reading_and_starring_here_are_flags_there(folder_account: FolderAccount) -> None:
    await folder_account.synced()
    thread_id = (await folder_account.listed())["In INBOX"]
    await folder_account.service.mutate("mail.open", threadId=thread_id)
    await folder_account.service.mutate("mail.setLabels", threadIds=[thread_id], add=[STARRED])
    await folder_account.agreed()
    assert folder_account.box.kept["m0"].place == Place(folder=INBOX, seen=True, flagged=True)
    await folder_account.service.mutate("mail.undo")
    await folder_account.service.mutate("mail.markUnread", threadIds=[thread_id])
    await folder_account.agreed()
    assert folder_account.box.kept["m0"].place == Place(folder=INBOX, seen=False)


@pytest.mark.parametrize("subject", ["In INBOX", "In the archive", "In SENT"])
@pytest.mark.parametrize("away", [TRASH, SPAM])
async def test_what_is_thrown_away_here_lies_there_too_until_it_is_taken_back(
    folder_account: FolderAccount, subject: str, away: str
) -> None:
    await folder_account.synced()
    thread_id = (await folder_account.listed() | await folder_account.listed("skipped"))[subject]
    before = {one.id: one.place for one in folder_account.box.kept.values()}
    await folder_account.service.mutate("mail.setLabels", threadIds=[thread_id], add=[away])
    await folder_account.agreed()
    moved = [one.place.folder for one in folder_account.box.kept.values() if one.place != before[one.id]]
    assert moved == [away]
    assert subject not in await folder_account.listed() | await folder_account.listed("skipped")
    await folder_account.service.mutate("mail.undo")
    await folder_account.agreed()
    assert {one.id: one.place for one in folder_account.box.kept.values()} == before
    assert subject in await folder_account.listed() | await folder_account.listed("skipped")


async def test_what_is_moved_flagged_and_deleted_there_is_so_here(folder_account: FolderAccount) -> None:
    await folder_account.synced()
    box = folder_account.box
    box.move("m0", ARCHIVE)
    box.move("m2", INBOX)
    box.put("m1", replace(box.kept["m1"].place, seen=False, flagged=True))
    box.delete("m3")
    box.deliver(mail("New"), folder=INBOX)
    await folder_account.agreed()
    assert set(await folder_account.listed()) == {"In SPAM", "New"}
    assert {"In INBOX", "In the archive"} <= set(await folder_account.listed("skipped"))


async def test_a_mail_larger_than_its_provider_takes_fails_and_says_so(folder_account: FolderAccount) -> None:
    await folder_account.synced()
    loop = folder_account.service.workspace.service(MailEngine).loop(folder_account.account_id)
    assert loop is not None
    object.__setattr__(loop.provider, "capabilities", replace(loop.provider.capabilities, max_message_bytes=100))
    mailer = Mailer(folder_account.service, account_id=folder_account.account_id)
    sent = await mailer.send(subject="Boats")
    row = await mailer.until(sent["outgoingId"], "failed")
    assert "larger than" in row["lastError"]
    assert all(b"Boats" not in one.raw for one in folder_account.box.kept.values())


async def test_a_place_that_the_server_forgot_is_made_good_by_a_sweep(folder_account: FolderAccount) -> None:
    await folder_account.synced()
    box = folder_account.box
    box.move("m0", TRASH)
    box.move("m1", INBOX)
    box.delete("m2")
    box.forget_changes()
    await folder_account.agreed()
    assert list(await folder_account.listed()) == ["In the archive"]


@pytest.mark.parametrize("names", [(), ("of@the.server",)])
async def test_a_mail_that_is_sent_lies_in_sent_once_and_answers_stand_below_it(
    folder_account: FolderAccount, names: tuple[str, ...]
) -> None:
    """Answers to the name that its server says it went under, too."""
    await folder_account.synced()
    folder_account.box.names = names
    mailer = Mailer(folder_account.service, account_id=folder_account.account_id)
    sent = await mailer.send(subject="Boats")
    await mailer.until(sent["outgoingId"], "sent")
    await folder_account.agreed()
    (kept,) = [one for one in folder_account.box.kept.values() if b"Subject: Boats" in one.raw]
    assert kept.place == Place(folder=SENT)
    name = names[0] if names else mime.parse_message(kept.raw).message_id
    head = f"In-Reply-To: <{name}>\r\n".encode()
    folder_account.box.deliver(head + mail("Re: Boats", date="Sun, 22 Nov 2026 12:00:00 +0000"), folder=INBOX)
    await folder_account.agreed()
    rows = await folder_account.service.rows(
        "select count(*), count(distinct thread_id) from mail_messages where subject like '%Boats'"
    )
    assert rows == [(2, 1)]
