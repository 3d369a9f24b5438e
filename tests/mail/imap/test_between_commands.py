"""Other programs change the mailbox between two of our commands: in the end both sides have the same."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
import trio
import trio.testing

from svc.clock import VirtualClock
from svc.mail.accounts import actions as account_actions
from svc.mail.model import INBOX, SENT, SPAM, STARRED, TRASH, UNREAD
from svc.mail.providers.imap.connection import ImapConnection
from svc.mail.providers.imap.provider import ImapProvider
from svc.mail.providers.imap.submission.session import SubmissionSession
from svc.mail.providers.seam import MessageGone
from svc.mail.providers.table import Providers
from svc.mail.sync.engine import MailEngine
from svc.nursery import open_task_group
from svc.principal import UNCLAIMED
from tests.mail.imap.dovecot_account import letter
from tests.mail.imap.folder_client import FolderClient
from tests.mail.imap.folder_server import COUNTING, MOVING, PLAIN, Box, FolderServer
from tests.mail.imap.scripted_server import SERVER, Wire
from tests.recorded_log import RecordedLog
from tests.sizes import BETWEEN_STORIES
from tests.support.service import RpcError, Service, open_service


@pytest.fixture
async def client(wall: VirtualClock) -> AsyncIterator[FolderClient]:
    async with open_task_group() as nursery:
        yield FolderClient(wall=wall, nursery=nursery, server=FolderServer(able=COUNTING))
        nursery.cancel_scope.cancel()


async def test_a_mail_that_moves_after_it_was_met_comes_all_the_same(client: FolderClient) -> None:
    """Labels may be unchanged, so no event follows; a client that dropped the message never asks again."""
    server = client.server
    server.deliver("Boats", letter("First"))
    provider, _ = client.started()
    client.cursor = (await provider.profile()).cursor
    for name in ("Moved", "Deleted", "Numbered anew"):
        server.deliver("Boats", letter(name))
    ids = [one.message_id for one in await client.look(provider)]
    assert len(ids) == 3
    provider.expect(ids)
    server.move("Boats", "Moved", "Archive")
    server.delete("Boats", "Deleted")
    server.number_anew("Boats")
    there: dict[str, frozenset[str]] = {}
    for message_id in ids:
        try:
            raw = await provider.get(message_id)
        except MessageGone:
            continue
        there[raw.raw.partition(b"Subject: ")[2].partition(b"\r\n")[0].decode()] = raw.labels
    assert there == {"Moved": frozenset({UNREAD}), "Numbered anew": frozenset({UNREAD, "folder/Boats"})}
    assert {one.kind for one in await client.look(provider) if one.message_id in ids} == {"labels-removed", "deleted"}


@pytest.mark.parametrize("able", [PLAIN, MOVING, COUNTING])
async def test_a_mail_that_is_only_marked_as_deleted_is_gone_and_comes_back_without_the_mark(
    client: FolderClient, able: str
) -> None:
    server = client.server
    server.able = able
    for name in ("Kept", "Marked", "Filed", "Before"):
        server.deliver("INBOX", letter(name))
    server.flag("INBOX", "Before", "\\Deleted")
    provider, _ = client.started()
    client.cursor = (await provider.profile()).cursor
    assert len(client.places()) == 3
    server.flag("INBOX", "Marked", "\\Deleted")
    (marked,) = await client.look(provider)
    assert marked.kind == "deleted"
    assert await client.look(provider) == ()
    server.deliver("Archive", server.text("INBOX", "Filed"))
    server.flag("INBOX", "Filed", "\\Deleted")
    (filed,) = await client.look(provider)
    assert (filed.kind, filed.labels, sorted(client.places().values())) == (
        "labels-removed",
        frozenset({"INBOX"}),
        ["Archive", "INBOX"],
    )
    server.flag("INBOX", "Marked", "\\Deleted")
    assert [(one.kind, one.message_id) for one in await client.look(provider)] == [("added", marked.message_id)]


async def test_what_was_fetched_along_is_asked_for_anew_by_who_comes_later(client: FolderClient) -> None:
    client.server.deliver("INBOX", letter("One"))
    client.server.deliver("INBOX", letter("Two"))
    provider, _ = client.started()
    await provider.profile()
    ids = [one.id for one in (await provider.list_messages()).messages]
    provider.expect(ids)
    await provider.get(ids[0])
    for name in ("One", "Two"):
        client.server.flag("INBOX", name, "\\Seen")
    provider.expect(ids[1:])
    assert (await provider.get(ids[1])).labels == {INBOX}


async def test_what_comes_while_a_new_folder_can_not_be_read_to_its_end_is_told(client: FolderClient) -> None:
    """Sync asks for the size of the mailbox between two looks: nothing may be found then, and not told later."""
    server = client.server
    provider, _ = client.started()
    client.cursor = (await provider.profile()).cursor
    assert await client.look(provider) == ()
    server.boxes["New"] = Box()
    server.deliver("New", letter("First"))
    server.between = lambda: server.number_anew("New")
    await client.look(provider)
    server.between = lambda: None
    server.deliver("INBOX", letter("Second"))
    await provider.profile()
    await client.look(provider)
    assert sorted(client.places().values()) == ["INBOX", "New"]
    assert {one.message_id for one in client.told if one.kind == "added"} == {*client.places()}


ADDRESS: Final = "mia@example.org"
LABELS: Final = {"INBOX": INBOX, "Sent": SENT, "Junk": SPAM, "Trash": TRASH, "Archive": None, "Boats": "folder/Boats"}
HERE: Final = ("mail.archive", "mail.unarchive", "mail.open", "mail.markUnread", "mail.setLabels")


class Elsewhere:
    """Other programs at the mailbox, by chance."""

    def __init__(self, server: FolderServer, chance: random.Random) -> None:
        self.server, self.chance, self.number = server, chance, 0
        self.story: list[str] = []

    def perhaps(self) -> None:
        if self.chance.random() < 0.25:
            self.happen()

    def happen(self) -> None:
        what, box = self.chance.choice(("new", "move", "delete", "flag", "number anew")), self.chance.choice([*LABELS])
        everywhere = [name for folder in LABELS for name in self.server.subjects(folder)]
        # Of one that is half moved there are two, and nobody else can tell that they are one.
        among = [name for name in self.server.subjects(box) if everywhere.count(name) == 1]
        name = self.chance.choice(among) if among else None
        self.story.append(f"{what} {name} in {box}")
        if what == "new":
            self.number += 1
            self.server.deliver(box, letter(f"New {self.number}"), *self.chance.choice(((), ("\\Seen",), ("Boats",))))
        elif what == "number anew" and box not in {"INBOX", *SPECIAL}:
            self.server.number_anew(box)
        elif name is not None and what == "move":
            self.server.move(box, name, self.chance.choice([one for one in LABELS if one != box]))
        elif name is not None and what == "delete":
            self.server.delete(box, name)
        elif name is not None and what == "flag":
            self.server.flag(box, name, self.chance.choice(("\\Seen", "\\Flagged", "$label1")))

    def there(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for box, label in LABELS.items():
            for mail in self.server.boxes[box].mails:
                subject = mail.raw.partition(b"Subject: ")[2].partition(b"\r\n")[0].decode()
                labels = {UNREAD} - ({UNREAD} if "\\Seen" in mail.flags else set()) | ({label} if label else set())
                labels |= {STARRED} if "\\Flagged" in mail.flags else set()
                assert subject not in found, f"{subject} is there twice, also in {box}: {self.story}"
                found[subject] = labels | {f"keyword/{one}" for one in mail.flags if not one.startswith("\\")}
        return found


SPECIAL: Final = frozenset({"Sent", "Junk", "Trash", "Archive"})


@pytest.mark.thorough
@pytest.mark.parametrize("story", range(BETWEEN_STORIES))
@pytest.mark.parametrize("able", [PLAIN, MOVING, COUNTING], ids=["plain", "moving", "counting"])
async def test_whatever_happens_between_two_commands_both_sides_agree_in_the_end(
    tmp_path: Path, log: RecordedLog, wall: VirtualClock, chance: random.Random, able: str, story: int
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, SVC_FAKE_MAIL="0") as service, open_task_group() as nursery:
        server = FolderServer(able=able, tells_copyuid=chance.random() < 0.7)
        await _lived_in(service, nursery, server, chance)
        nursery.cancel_scope.cancel()


async def _lived_in(service: Service, nursery: trio.Nursery, server: FolderServer, chance: random.Random) -> None:
    workspace, engine = service.workspace, service.workspace.service(MailEngine)
    connections: list[ImapConnection] = []

    async def connect() -> ImapConnection:
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(server.serve, Wire(stream=theirs))
        connections.append(ImapConnection(server=SERVER, _stream=ours))
        await connections[-1].greeted()
        return connections[-1]

    async def sign_in() -> SubmissionSession:
        raise AssertionError("nothing is sent here")

    account_id = ""

    def provider(_: object) -> ImapProvider:
        return ImapProvider(
            account_id=account_id,
            address=ADDRESS,
            store=workspace.store,
            blobs=workspace.blobs,
            threads=workspace.threads,
            clock=workspace.clock,
            log=workspace.log,
            connect=connect,
            sign_in=sign_in,
        )

    workspace.service(Providers).replace_all("imap", provider)
    account_id = await workspace.store.write(account_actions.connect, UNCLAIMED, address=ADDRESS, provider="imap")
    others = Elsewhere(server, chance)
    for _ in range(12):
        others.happen()
    server.between = others.perhaps
    await engine.start_account(account_id)
    for _ in range(30):
        what = chance.choice((*HERE, *HERE, "sync", "sync", "cut", "restart"))
        others.story.append(what)
        threads = [str(one) for (one,) in await service.rows("select id from mail_threads order by id")]
        if what == "sync":
            with trio.move_on_after(chance.choice((0.0, 1e6))):
                await engine.sync_now(account_id)
        elif what == "cut":
            for connection in connections:
                await connection.aclose()
                connection.usable = True  # nobody noticed
        elif what == "restart":
            await engine.start_account(account_id)
        elif threads:
            wanted: dict[str, Any] = {"threadIds": [chance.choice(threads)]}
            if what == "mail.open":
                wanted = {"threadId": wanted["threadIds"][0]}
            elif what == "mail.setLabels":
                wanted["add"] = [chance.choice((TRASH, SPAM, STARRED, "folder/Boats"))]
            try:
                await service.mutate(what, **wanted)
            except RpcError as error:
                if error.code != "NOT_FOUND":  # its last mail went meanwhile
                    raise
    server.between = lambda: None
    for _ in range(10):
        await workspace.store.write(_all_due)
        await engine.sync_now(account_id)
    rows = await service.rows("select subject, labels from mail_messages")
    here = [(str(subject), set(json.loads(str(labels)))) for subject, labels in rows]
    assert sorted(here, key=lambda one: one[0]) == sorted(others.there().items()), others.story
    for table in ("mail_mirror", "mail_imap_copies", "mail_imap_leftovers"):
        assert await service.rows(f"select * from {table}") == [], (table, others.story)
    assert await service.rows("select * from mail_ledger where step <> 'change'") == [], others.story


def _all_due(tx: Any) -> None:
    """What was put off, and the flags of folders beside the inbox, which a server without a count is asked for each ten
    minutes."""
    tx.run("update mail_mirror set next_at = 0")
    tx.run("update mail_imap_folders set looked_at = 1 where looked_at > 0")


async def test_what_happened_before_a_change_of_ours_and_is_heard_after_it_does_not_stand_over_it(
    client: FolderClient,
) -> None:
    """The process that looked may have died before it reported the change."""
    client.server.deliver("INBOX", letter("One"))
    provider, _ = client.started()
    client.cursor = (await provider.profile()).cursor
    (ref,) = (await provider.list_messages()).messages
    client.server.move("INBOX", "One", "Junk")
    await provider.history(since=client.cursor)
    await provider.modify(ref.id, add=frozenset({INBOX}), remove=frozenset({SPAM}))
    here = {INBOX, UNREAD}
    for change in await client.look(provider):
        here = here | change.labels if change.kind == "labels-added" else here - change.labels
    assert here == {INBOX, UNREAD}
    assert client.server.subjects("INBOX") == ["One"]


async def test_a_flag_that_was_there_while_a_mail_was_fetched_and_is_gone_again_is_told(client: FolderClient) -> None:
    provider, _ = client.started()
    client.cursor = (await provider.profile()).cursor
    client.server.deliver("INBOX", letter("One"))
    (added,) = await client.look(provider)
    client.server.flag("INBOX", "One", "\\Seen")
    here = (await provider.get(added.message_id)).labels
    client.server.flag("INBOX", "One", "\\Seen")
    for change in await client.look(provider):
        here = here | change.labels if change.kind == "labels-added" else here - change.labels
    assert here == {INBOX, UNREAD}
