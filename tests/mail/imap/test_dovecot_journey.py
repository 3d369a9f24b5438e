"""A mailbox at Dovecot through the whole service: what is done here arrives there, and the other way round."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trio

from svc.clock import WallClock
from svc.formats import mime
from svc.mail.accounts import actions as account_actions
from svc.mail.model import SENT, SPAM, STARRED, TRASH, UNREAD
from svc.mail.providers.imap.connection import ImapConnection, connected
from svc.mail.providers.imap.dialling import Dialler
from svc.mail.providers.imap.provider import ImapProvider
from svc.mail.providers.imap.servers import MailServer
from svc.mail.providers.imap.submission.session import SubmissionSession, signed_in
from svc.mail.providers.table import Providers
from svc.mail.sync.engine import MailEngine
from svc.principal import UNCLAIMED
from tests.peers.dovecot import ADDRESS, PASSWORD, Dovecot
from tests.peers.needs import DOVECOT, needs
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S, TIMES
from tests.support.mailbox import mail
from tests.support.service import Service, open_service

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock, needs(DOVECOT)]

ALL_ABILITIES = frozenset[str]()
PLAIN_IMAP = frozenset({"CONDSTORE", "QRESYNC", "ENABLE", "MOVE", "ESEARCH", "LIST-STATUS", "UNSELECT", "LITERAL+"})
"""What is taken away to have a server as it was in 2003, but for UIDPLUS."""


def letter(subject: str, **fields: str) -> bytes:
    """With a Message-ID of its own, as all real mail."""
    name = subject.lower().replace(" ", "-").replace(":", "")
    head = "".join(f"{key.replace('_', '-')}: {value}\r\n" for key, value in fields.items())
    return f"Message-ID: <{name}@mail.test>\r\n{head}".encode() + mail(subject)


@dataclass(kw_only=True)
class Office:
    """The service with one account at Dovecot. ``without``: what the server is taken not to be able to do."""

    service: Service
    server: Dovecot
    without: frozenset[str]
    account_id: str = ""
    connections: list[ImapConnection] = field(default_factory=list)

    @property
    def engine(self) -> MailEngine:
        return self.service.workspace.service(MailEngine)

    def provider(self) -> ImapProvider:
        workspace = self.service.workspace
        dialler = Dialler(private=True, trust=self.server.trusted)
        imap = MailServer(host="127.0.0.1", port=self.server.tls_port, security="tls")
        smtp = MailServer(host="127.0.0.1", port=self.server.submission_port, security="starttls")

        async def connect() -> ImapConnection:
            connection = await connected(dialler, imap, username=ADDRESS, password=PASSWORD)
            connection.able -= self.without
            self.connections.append(connection)
            return connection

        async def sign_in() -> SubmissionSession:
            return await signed_in(dialler, smtp, username=ADDRESS, password=PASSWORD)

        return ImapProvider(
            account_id=self.account_id,
            address=ADDRESS,
            store=workspace.store,
            blobs=workspace.blobs,
            threads=workspace.threads,
            clock=workspace.clock,
            connect=connect,
            sign_in=sign_in,
        )

    async def synced(self, times: int = 1) -> None:
        for _ in range(times):
            await self.engine.sync_now(self.account_id)
            (account,) = await self.service.query("mail.accounts")
            assert account["state"] == "caught-up", account

    async def threads(self, section: str = "inbox") -> dict[str, str]:
        found = (await self.service.query("mail.threads", section=section))["threads"]
        return {one["subject"]: one["id"] for one in found}

    async def stored(self) -> dict[str, set[str]]:
        """Every message here: subject with labels. Two with the same subject are a fault."""
        rows = await self.service.rows("select subject, labels from mail_messages")
        assert len({subject for subject, _ in rows}) == len(rows), rows
        return {str(subject): set(json.loads(str(labels))) for subject, labels in rows}

    def there(self, folder: str) -> dict[str, frozenset[str]]:
        return dict(self.server.subjects(folder))

    async def ids(self) -> dict[str, str]:
        return {str(s): str(i) for s, i in await self.service.rows("select subject, id from mail_messages")}


Open = Callable[[frozenset[str]], Awaitable[Office]]


CONDSTORE_ALONE = frozenset({"QRESYNC"})


@pytest.fixture(params=[ALL_ABILITIES, CONDSTORE_ALONE, PLAIN_IMAP], ids=["able", "condstore", "plain"])
async def office(
    request: pytest.FixtureRequest, tmp_path: Path, log: RecordedLog, server: Dovecot
) -> AsyncIterator[Office]:
    async with open_service(tmp_path, clock=WallClock(), log=log, SVC_UNDO_SEND_SECONDS="0") as service:
        office = Office(service=service, server=server, without=request.param)
        workspace = service.workspace
        workspace.service(Providers).replace_all("imap", lambda account: office.provider())
        office.account_id = await workspace.store.write(
            account_actions.connect, UNCLAIMED, address=ADDRESS, provider="imap"
        )
        with trio.fail_after(HANGS_S):
            yield office


async def begun(office: Office) -> None:
    await office.engine.start_account(office.account_id)
    await office.synced()


async def test_the_folders_of_a_server_are_the_labels_here(office: Office) -> None:
    server = office.server
    server.deliver("INBOX", letter("New"))
    server.deliver("INBOX", letter("Read and starred"), flags="(\\Seen \\Flagged $label2)")
    server.deliver("Archive", letter("Kept"), flags="(\\Seen)")
    server.deliver("Junk", letter("Bad"))
    server.deliver("Trash", letter("Gone"), flags="(\\Seen)")
    server.make("Boats/Sails &AOk-")
    server.deliver("Boats/Sails &AOk-", letter("Own"), flags="(\\Seen)")
    await begun(office)
    assert await office.stored() == {
        "New": {"INBOX", UNREAD},
        "Read and starred": {"INBOX", STARRED, "keyword/$label2"},
        "Kept": set(),
        "Bad": {SPAM, UNREAD},
        "Gone": {TRASH},
        "Own": {"folder/Boats/Sails &AOk-"},
    }
    assert set(await office.threads()) == {"New", "Read and starred"}
    labels = {one["id"]: one["name"] for one in await office.service.query("mail.labels", accountId=office.account_id)}
    assert labels["keyword/$label2"] == "Work"
    assert labels["folder/Boats/Sails &AOk-"] == "Boats/Sails é"


async def test_what_is_done_here_arrives_there_and_can_be_taken_back(office: Office) -> None:
    office.server.deliver("INBOX", *(letter(name) for name in ("One", "Two", "Three", "Four")))
    await begun(office)
    threads, ids = await office.threads(), await office.ids()
    mutate = office.service.mutate
    await mutate("mail.archive", threadIds=[threads["One"], threads["Two"]])
    await mutate("mail.open", threadId=threads["Three"])
    await mutate("mail.setLabels", threadIds=[threads["Three"]], add=[STARRED])
    await mutate("mail.setLabels", threadIds=[threads["Four"]], add=[TRASH])
    await office.synced(3)
    assert set(office.there("Archive")) == {"One", "Two"}
    assert office.there("INBOX") == {"Three": {"\\Seen", "\\Flagged"}}
    assert set(office.there("Trash")) == {"Four"}
    assert await office.ids() == ids
    await mutate("mail.undo")
    await office.synced(3)
    assert set(office.there("INBOX")) == {"Three", "Four"}
    await mutate("mail.setLabels", threadIds=[threads["Four"]], add=[SPAM])
    await mutate("mail.markUnread", threadIds=[threads["Three"]])
    await office.synced(3)
    assert set(office.there("Junk")) == {"Four"}
    assert office.there("INBOX") == {"Three": {"\\Flagged"}}
    assert await office.service.rows("select * from mail_mirror") == []
    assert await office.ids() == ids


async def test_what_is_done_there_arrives_here(office: Office) -> None:
    server = office.server
    server.deliver("INBOX", *(letter(name) for name in ("Moved", "Flagged", "Deleted", "Stays")))
    await begun(office)
    ids = await office.ids()
    server.deliver("INBOX", letter("New"))
    server.do("INBOX", ("STORE", f"{server.uid('INBOX', 'Flagged')}", "+FLAGS", "(\\Seen \\Flagged Boats)"))
    server.do("INBOX", ("MOVE", f"{server.uid('INBOX', 'Moved')}", "Archive"))
    server.do("INBOX", ("STORE", f"{server.uid('INBOX', 'Deleted')}", "+FLAGS", "(\\Deleted)"), ("EXPUNGE", "1:*"))
    await office.synced(2)
    assert await office.stored() == {
        "Moved": {UNREAD},
        "Flagged": {"INBOX", STARRED, "keyword/Boats"},
        "Stays": {"INBOX", UNREAD},
        "New": {"INBOX", UNREAD},
    }
    now = await office.ids()
    assert {name: now[name] for name in ("Moved", "Flagged", "Stays")} == {
        name: ids[name] for name in ("Moved", "Flagged", "Stays")
    }


async def test_a_folder_that_is_numbered_anew_keeps_its_messages(office: Office) -> None:
    server = office.server
    server.make("Boats")
    server.deliver("Boats", *(letter(name) for name in ("One", "Two", "Three")))
    await begun(office)
    ids = await office.ids()
    server.number_anew("Boats", "Two", "Three")
    await office.synced(3)
    now = await office.ids()
    assert now == {name: ids[name] for name in ("Two", "Three")}
    before = len(await office.service.rows("select * from mail_imap_places"))
    assert before == 2


async def test_a_mail_that_is_sent_leaves_once_and_its_copy_lies_in_sent(office: Office) -> None:
    await begun(office)
    answer = await office.service.mutate(
        "mail.send",
        accountId=office.account_id,
        to=["bob@else.test"],
        bcc=["eve@else.test"],
        subject="Boats",
        html="<p>Hi</p>",
    )
    await _until(office, answer["outgoingId"], "sent")
    (left,) = office.server.relay.mails
    assert set(left.recipients) == {"bob@else.test", "eve@else.test"}
    assert b"eve@else.test" not in left.raw
    assert await office.stored() == {"Boats": {SENT}}
    await office.service.workspace.store.write(_long_ago)
    await office.synced(3)
    assert office.there("Sent") == {"Boats": {"\\Seen"}}
    assert await office.stored() == {"Boats": {SENT}}
    (row,) = await office.service.rows("select uid, filing from mail_imap_places")
    assert row[0] is not None
    assert row[1] is None


async def test_a_copy_that_the_server_files_itself_is_not_filed_again(office: Office) -> None:
    await begun(office)
    answer = await office.service.mutate(
        "mail.send", accountId=office.account_id, to=["bob@else.test"], subject="Boats", html="<p>Hi</p>"
    )
    await _until(office, answer["outgoingId"], "sent")
    (left,) = office.server.relay.mails
    office.server.deliver("Sent", left.raw, flags="(\\Seen)")
    await office.service.workspace.store.write(_long_ago)
    await office.synced(3)
    assert len(office.server.subjects("Sent")) == 1
    assert await office.stored() == {"Boats": {SENT}}
    parsed = mime.parse_message(left.raw)
    assert parsed.message_id is not None


FOLDER_LABELS = {"INBOX": "INBOX", "Sent": SENT, "Junk": SPAM, "Trash": TRASH, "Archive": None, "Boats": "folder/Boats"}


async def test_whatever_happens_on_both_sides_they_agree_in_the_end(office: Office, chance: random.Random) -> None:
    server = office.server
    server.make("Boats")
    names = [f"Mail {number}" for number in range(12)]
    server.deliver("INBOX", *map(letter, names))
    await begun(office)
    story: list[str] = []
    for step in range(STORY):
        what = chance.choice((*ELSEWHERE, *HERE, "sync", "sync", "cut", "restart"))
        story.append(what)
        folder = chance.choice(list(FOLDER_LABELS))
        known = {**await office.threads(), **await office.threads("skipped")}
        match what:
            case "new":
                server.deliver(folder, letter(f"New {step}"), flags=chance.choice(("", "(\\Seen)", "(Boats)")))
            case "move" | "delete" | "flag":
                there = [name for name, _ in server.subjects(folder)]
                if there:
                    uid = str(server.uid(folder, chance.choice(there)))
                    flags = chance.choice(("(\\Seen)", "(\\Flagged)", "($label1)"))
                    command = {
                        "move": ("MOVE", uid, chance.choice(list(FOLDER_LABELS))),
                        "delete": ("STORE", uid, "+FLAGS", "(\\Deleted)"),
                        "flag": ("STORE", uid, chance.choice(("+FLAGS", "-FLAGS")), flags),
                    }[what]
                    server.do(folder, command, *([("EXPUNGE", uid)] if what == "delete" else []))
            case "number anew":
                server.number_anew("Boats", *(name for name, _ in server.subjects("Boats")))
            case "cut":
                for connection in office.connections:
                    await connection.aclose()
                    connection.usable = True
            case "restart":
                await office.engine.start_account(office.account_id)
            case "sync":
                with trio.move_on_after(chance.choice((0.02, HANGS_S))):
                    await office.engine.sync_now(office.account_id)
            case procedure if known:
                one = [chance.choice(list(known.values()))]
                wanted: dict[str, object] = {"threadId": one[0]} if procedure == "mail.open" else {"threadIds": one}
                if procedure == "mail.setLabels":
                    wanted["add"] = [chance.choice((TRASH, SPAM, STARRED, "folder/Boats"))]
                await office.service.mutate(procedure, **wanted)
    await agreed(office, story)


HERE = ("mail.archive", "mail.unarchive", "mail.open", "mail.markUnread", "mail.setLabels")
ELSEWHERE = ("new", "move", "delete", "flag", "number anew")
STORY = 40 * TIMES


async def agreed(office: Office, story: list[str]) -> None:
    """Nothing waits, and every message is here as it is there."""
    for _ in range(8):
        await office.engine.sync_now(office.account_id)
        waiting = await office.service.rows("select attempts, last_error from mail_mirror")
        if not waiting:
            break
        await office.service.workspace.store.write(_due)
    assert waiting == [], story
    await office.synced(3)
    there: dict[str, set[str]] = {}
    for folder, label in FOLDER_LABELS.items():
        for subject, flags in office.server.subjects(folder):
            labels = {UNREAD} - ({UNREAD} if "\\Seen" in flags else set()) | ({label} if label else set())
            labels |= {STARRED} if "\\Flagged" in flags else set()
            there[subject] = labels | {f"keyword/{flag}" for flag in flags if not flag.startswith("\\")}
    assert await office.stored() == there, story
    ledger = await office.service.rows("select * from mail_ledger where step <> 'change'")
    assert ledger == [], story


def _due(tx: Any) -> None:
    tx.run("update mail_mirror set next_at = 0")


async def test_a_server_that_ends_the_connection_is_gone_on_with(office: Office) -> None:
    office.server.deliver("INBOX", letter("One"))
    await begun(office)
    for connection in office.connections:
        await connection.aclose()
        connection.usable = True  # nobody noticed
    office.server.deliver("INBOX", letter("Two"))
    await office.engine.sync_now(office.account_id)
    await office.synced(2)
    assert set(await office.stored()) == {"One", "Two"}


def _long_ago(tx: Any) -> None:
    tx.run("update mail_imap_places set arrived_at = arrived_at - 60000 where filing is not null")


async def _until(office: Office, outgoing_id: str, state: str) -> None:
    while True:
        rows = await office.service.query("mail.outgoing")
        row = next(one for one in rows if one["id"] == outgoing_id)
        if row["state"] == state:
            return
        assert row["state"] not in {"failed", "uncertain"}, row
        await trio.sleep(0.05)
