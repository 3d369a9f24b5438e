"""A mailbox at a server that keeps labels: connected by an app password, read once, and changed by labels alone."""

from __future__ import annotations

import json
import random
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from svc.clock import VirtualClock
from svc.mail.model import IMPORTANT, INBOX, SENT, SPAM, STARRED, TRASH, UNREAD
from svc.mail.providers.imap import labels
from svc.mail.providers.imap.looking import Look
from svc.mail.providers.imap.protocol.framing import Framer
from svc.mail.providers.imap.protocol.messages import Message
from svc.mail.providers.imap.protocol.responses import response
from svc.mail.providers.imap.protocol.values import values
from svc.mail.providers.imap.protocol.writing import Listed, Plain, written
from svc.mail.sync.account_sync import NEWEST_AT_FIRST
from svc.mail.sync.engine import MailEngine
from svc.nursery import open_task_group
from tests.mail.imap.dovecot_account import letter
from tests.mail.imap.label_server import ALL, SPAM_BOX, TRASH_BOX, LabelServer, dialler_for
from tests.recorded_log import RecordedLog
from tests.sizes import EXAMPLES
from tests.support.service import Service, open_service
from tests.virtual_time import hours_pass

ADDRESS = "mia@gmail.test"
JSON = {"content-type": "application/json"}


@dataclass(kw_only=True)
class Home:
    """The service, and the server whose mailbox is to be connected."""

    service: Service
    server: LabelServer
    account_id: str = ""

    def wanted(self, **other: object) -> dict[str, object]:
        host = {"host": "mail.test", "security": "tls"}
        servers = {"imap": {**host, "port": 993}, "smtp": {**host, "port": 465}}
        return {"address": ADDRESS, "password": self.server.password, **servers, **other}

    async def begin(self) -> None:
        self.account_id = (await self.service.mutate("mail.connectImap", **self.wanted()))["accountId"]
        await self.synced()

    async def synced(self, times: int = 1) -> None:
        for _ in range(times):
            await self.service.workspace.service(MailEngine).sync_now(self.account_id)
            (account,) = await self.service.query("mail.accounts")
            assert account["state"] == "caught-up", account

    async def stored(self) -> dict[str, set[str]]:
        rows = await self.service.rows("select subject, labels from mail_messages")
        assert len({subject for subject, _ in rows}) == len(rows), rows
        return {str(subject): set(json.loads(str(carried))) for subject, carried in rows}

    async def threads(self, section: str = "inbox") -> dict[str, str]:
        found = (await self.service.query("mail.threads", section=section))["threads"]
        return {one["subject"]: one["id"] for one in found}

    async def ids(self) -> dict[str, str]:
        return {str(s): str(i) for s, i in await self.service.rows("select subject, id from mail_messages")}

    async def label_names(self) -> dict[str, str]:
        found = await self.service.query("mail.labels", accountId=self.account_id)
        return {one["id"]: one["name"] for one in found}


@pytest.fixture
async def home(
    tmp_path: Path, log: RecordedLog, wall: VirtualClock, chance: random.Random, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Home]:
    server = LabelServer(chance=chance)
    async with open_task_group() as nursery:
        dialler = dialler_for(server, nursery)
        for module in ("svc.mail.connecting.passwords", "svc.mail.providers.imap.kind"):
            monkeypatch.setattr(f"{module}.dialler_of", lambda workspace: dialler)
        async with open_service(tmp_path, clock=wall, log=log, SVC_UNDO_SEND_SECONDS="0", SVC_FAKE_MAIL="0") as service:
            yield Home(service=service, server=server)
        nursery.cancel_scope.cancel()


async def test_what_lies_there_is_read_once_with_its_labels(home: Home) -> None:
    server = home.server
    server.deliver(letter("New"), "\\Inbox", "\\Important")
    server.deliver(letter("Two labels"), "\\Inbox", "Boats", "Work/B&APw-ro", flags={"\\Seen", "\\Flagged"})
    server.deliver(letter("Odd"), 'a "b" (c)', "NIL", flags={"\\Seen"})
    server.deliver(letter("Kept"), flags={"\\Seen", "$Forwarded"})
    server.deliver(letter("Sent"), "\\Sent", flags={"\\Seen"})
    server.deliver(letter("Bad"), box=SPAM_BOX)
    server.deliver(letter("Gone"), "Boats", box=TRASH_BOX, flags={"\\Seen"})
    await home.begin()
    assert await home.stored() == {
        "New": {INBOX, IMPORTANT, UNREAD},
        "Two labels": {INBOX, STARRED, "label/Boats", "label/Work/B&APw-ro"},
        "Odd": {'label/a "b" (c)', "label/NIL"},
        "Kept": set(),
        "Sent": {SENT},
        "Bad": {SPAM, UNREAD},
        "Gone": {TRASH, "label/Boats"},
    }
    assert set(await home.threads()) == {"New", "Two labels"}
    names = await home.label_names()
    assert {names[one] for one in names if one.startswith("label/")} == {"Boats", "Work/Büro", 'a "b" (c)', "NIL"}
    opened = {one.partition(" ")[2] for one in server.heard if one.startswith("SELECT")}
    assert opened == {f'"{box}"' for box in (ALL, SPAM_BOX, TRASH_BOX)}


async def test_the_newest_mail_is_there_before_the_mailbox_is_listed(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(NEWEST_AT_FIRST + 3):
        home.server.deliver(letter(f"Mail {number}"), "\\Inbox", "Boats")
    there: list[dict[str, set[str]]] = []
    look = Look.take

    async def take(self: Look) -> None:
        there.append(await home.stored())
        await look(self)

    monkeypatch.setattr(Look, "take", take)
    await home.begin()
    assert len(there[0]) == NEWEST_AT_FIRST
    assert all(labels == {INBOX, UNREAD, "label/Boats"} for labels in there[0].values())
    assert "Mail 0" not in there[0]
    assert len(await home.stored()) == NEWEST_AT_FIRST + 3
    backfill = "select distinct json_extract(payload, '$.backfill') from events where type = 'mail-received'"
    assert await home.service.rows(backfill) == [(1,)]
    bodies = [one for one in home.server.heard if "BODY.PEEK[]" in one]
    await home.synced(2)
    assert [one for one in home.server.heard if "BODY.PEEK[]" in one] == bodies


async def test_the_threads_are_the_servers(home: Home) -> None:
    first = home.server.deliver(letter("Plan"), "\\Inbox")
    home.server.deliver(letter("Other words"), "\\Inbox", thread=first.thread)
    home.server.deliver(letter("Apart", In_Reply_To="<plan@mail.test>"), "\\Inbox")
    await home.begin()
    rows = await home.service.rows("select subject, thread_id from mail_messages")
    thread_of = {str(subject): thread for subject, thread in rows}
    assert thread_of["Plan"] == thread_of["Other words"] != thread_of["Apart"]


async def test_what_is_done_here_arrives_there_without_a_copy_and_can_be_taken_back(home: Home) -> None:
    for name in ("One", "Two", "Three", "Four"):
        home.server.deliver(letter(name), "\\Inbox", "Boats")
    await home.begin()
    threads, ids, mutate = await home.threads(), await home.ids(), home.service.mutate
    await mutate("mail.archive", threadIds=[threads["One"], threads["Two"]])
    await mutate("mail.open", threadId=threads["Three"])
    await mutate("mail.setLabels", threadIds=[threads["Three"]], add=[STARRED], remove=["label/Boats"])
    await mutate("mail.setLabels", threadIds=[threads["Four"]], add=[TRASH])
    await home.synced(3)
    find = home.server.find
    assert find("One").labels == find("Two").labels == {"Boats"}
    assert (find("Three").labels, find("Three").flags) == ({"\\Inbox"}, {"\\Seen", "\\Flagged"})
    assert find("Four").box == TRASH_BOX
    await mutate("mail.undo")
    await home.synced(3)
    assert (find("Four").box, find("Four").labels) == (ALL, {"\\Inbox", "Boats"})
    await mutate("mail.setLabels", threadIds=[threads["Four"]], add=[SPAM])
    await mutate("mail.markUnread", threadIds=[threads["Three"]])
    await home.synced(3)
    assert find("Four").box == SPAM_BOX
    assert find("Three").flags == {"\\Flagged"}
    assert await home.service.rows("select * from mail_mirror") == []
    assert await home.ids() == ids
    assert len(home.server.mails) == 4
    assert not any(one.startswith(("UID COPY", "UID EXPUNGE", "APPEND")) for one in home.server.heard)


@pytest.mark.parametrize("tells_copyuid", [True, False])
async def test_what_leaves_the_trash_is_found_where_it_went(home: Home, tells_copyuid: bool) -> None:
    home.server.tells_copyuid = tells_copyuid
    home.server.deliver(letter("Gone"), "Boats", box=TRASH_BOX)
    await home.begin()
    (thread,) = [one for (one,) in await home.service.rows("select id from mail_threads")]
    await home.service.mutate("mail.setLabels", threadIds=[thread], add=[INBOX, STARRED], remove=[TRASH])
    await home.synced(2)
    found = home.server.find("Gone")
    assert (found.box, found.labels, found.flags) == (ALL, {"\\Inbox", "Boats"}, {"\\Flagged"})
    assert await home.stored() == {"Gone": {INBOX, STARRED, UNREAD, "label/Boats"}}
    assert any("SEARCH X-GM-MSGID" in one for one in home.server.heard) != tells_copyuid


async def test_a_label_that_is_made_here_is_one_there(home: Home) -> None:
    home.server.deliver(letter("One"), "\\Inbox")
    await home.begin()
    made = await home.service.mutate("mail.createLabel", accountId=home.account_id, name="Boats & Segel/é")
    threads = await home.threads()
    await home.service.mutate("mail.setLabels", threadIds=[threads["One"]], add=[made["id"]])
    await home.synced(2)
    assert home.server.find("One").labels == {"\\Inbox", "Boats &- Segel/&AOk-"}
    assert (await home.label_names())[made["id"]] == "Boats & Segel/é"
    await home.service.mutate("mail.setLabels", threadIds=[threads["One"]], remove=[made["id"]])
    await home.synced(2)
    assert home.server.find("One").labels == {"\\Inbox"}


async def test_what_is_done_there_arrives_here(home: Home) -> None:
    for name in ("Archived", "Labelled", "Trashed", "Deleted", "Stays"):
        home.server.deliver(letter(name), "\\Inbox")
    await home.begin()
    ids = await home.ids()
    server = home.server
    server.relabel("Archived", remove="\\Inbox")
    server.relabel("Labelled", add="Boats")
    server._move([server.find("Trashed")], TRASH_BOX)
    server.mails.remove(server.find("Deleted"))
    server.deliver(letter("New"), "\\Inbox")
    await home.synced(2)
    assert await home.stored() == {
        "Archived": {UNREAD},
        "Labelled": {INBOX, UNREAD, "label/Boats"},
        "Trashed": {TRASH, UNREAD},
        "Stays": {INBOX, UNREAD},
        "New": {INBOX, UNREAD},
    }
    now = await home.ids()
    assert {one: now[one] for one in now if one != "New"} == {one: ids[one] for one in ids if one != "Deleted"}


@pytest.mark.thorough
async def test_a_snoozed_thread_leaves_the_inbox_there_and_comes_back(
    home: Home, clock: MockClock, wall: VirtualClock
) -> None:
    home.server.deliver(letter("Later"), "\\Inbox")
    await home.begin()
    threads = await home.threads()
    until = wall.now() + 3_600_000
    await home.service.mutate("mail.snooze", threadIds=[threads["Later"]], until=_rfc3339(until))
    await home.synced(2)
    assert home.server.find("Later").labels == set()
    await hours_pass(clock, 1)
    await trio.sleep(100)
    await home.synced(2)
    assert home.server.find("Later").labels == {"\\Inbox"}


async def test_folders_that_are_numbered_anew_are_not_fetched_anew(home: Home) -> None:
    for name in ("One", "Two", "Three"):
        home.server.deliver(letter(name), "\\Inbox", "Boats")
    await home.begin()
    ids = await home.ids()
    bodies = sum("BODY.PEEK[])" in one for one in home.server.heard)
    home.server.number_anew()
    await home.synced(3)
    assert await home.ids() == ids
    assert sum("BODY.PEEK[])" in one and "HEADER" not in one for one in home.server.heard) <= bodies
    await home.service.mutate("mail.archive", threadIds=[(await home.threads())["Two"]])
    await home.synced(2)
    assert home.server.find("Two").labels == {"Boats"}


async def test_a_mail_that_is_sent_is_one_with_its_copy_and_its_thread_with_the_servers(home: Home) -> None:
    await home.begin()
    await home.service.mutate(
        "mail.send", accountId=home.account_id, to=["bob@else.test"], subject="Boats", html="<p>Hi</p>"
    )
    await trio.sleep(30)
    await home.synced(3)
    assert len(home.server.sent) == len(home.server.mails) == 1
    assert await home.stored() == {"Boats": {SENT}}
    copy = home.server.mails[0]
    message_id = copy.raw.partition(b"Message-ID: ")[2].partition(b"\r\n")[0].decode()
    home.server.deliver(letter("Re: Boats", In_Reply_To=message_id), "\\Inbox", thread=copy.thread)
    await home.synced(2)
    rows = await home.service.rows("select subject, thread_id from mail_messages")
    assert {subject for subject, _ in rows} == {"Boats", "Re: Boats"}
    assert len({thread for _, thread in rows}) == 1
    assert not any(one.startswith("APPEND") for one in home.server.heard)


async def test_a_mailbox_whose_mail_is_hidden_says_what_to_switch_on(home: Home) -> None:
    home.server.hidden = frozenset({ALL})
    reply = await home.service.ask("POST", "/trpc/mail.connectImap", json.dumps(home.wanted()).encode(), fields=JSON)
    error: dict[str, Any] = json.loads(reply.body)["error"]
    assert reply.status == 400
    assert "let All Mail be shown" in error["message"]
    home.server.hidden = frozenset()
    home.server.deliver(letter("One"), "\\Inbox")
    await home.begin()
    home.server.hidden = frozenset({ALL})
    await home.service.workspace.service(MailEngine).sync_now(home.account_id)
    (account,) = await home.service.query("mail.accounts")
    assert (account["state"], account["problem"]) == ("waiting", labels.HIDDEN)
    assert set(await home.stored()) == {"One"}


async def test_a_server_that_tells_flags_alone_takes_no_label_away(home: Home) -> None:
    home.server.deliver(letter("One"), "\\Inbox", "Boats")
    await home.begin()
    whole = home.server._fetched

    def bare(mail: Any, asked: str) -> bytes:
        return f"* 1 FETCH (UID {mail.uid} FLAGS (\\Seen))".encode() if "BODY" not in asked else whole(mail, asked)

    home.server._fetched = bare  # type: ignore[method-assign]
    home.server.relabel("One", add="Sails")
    await home.synced(2)
    assert await home.stored() == {"One": {INBOX, "label/Boats"}}


# The words


wire_names = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=40).filter(
    lambda name: not name.startswith("\\")
)


@settings(max_examples=EXAMPLES)
@given(st.lists(wire_names, min_size=1, max_size=5, unique=True))
def test_labels_come_back_as_they_were_written(names: list[str]) -> None:
    """What is written in a command, read as what a server tells."""
    ids = [labels.new_label(name) for name in names]
    words = tuple(word for word in map(labels.word_of, ids) if word is not None)
    pieces = written("*", [Plain("1"), Plain("FETCH"), Plain("(X-GM-LABELS"), Listed(words)], at_once="any")
    framer = Framer()
    framer.feed(re.sub(rb"\+}\r\n", b"}\r\n", b"".join(pieces)).removesuffix(b"\r\n") + b")\r\n")
    frame = framer.next()
    assert frame is not None
    found = response(frame)
    assert isinstance(found, Message)
    assert found.labels is not None
    assert labels.labels_in(found.labels) == frozenset(ids)
    assert [labels.name_of(one) for one in ids] == names


@settings(max_examples=EXAMPLES)
@given(st.binary(min_size=1, max_size=60).filter(lambda word: b"\0" not in word and not word.startswith(b"\\")))
def test_a_label_in_any_bytes_is_written_back_as_it_came(word: bytes) -> None:
    label = labels.label_of(word)
    assert label is not None
    told = labels.word_of(label)
    assert told is not None
    pieces = written("a", [Listed((told,))], at_once="any")
    framer = Framer()
    framer.feed(b"* X" + b"".join(pieces)[1:].replace(b"+}\r\n", b"}\r\n", 1))
    frame = framer.next()
    assert frame is not None
    first = frame[0]
    assert isinstance(first, bytes)
    assert values((first[3:], *frame[1:])) == [[word]]


@pytest.mark.parametrize(
    ("word", "label"),
    [
        (b"\\Inbox", INBOX),
        (b"\\INBOX", INBOX),
        (b"\\Important", IMPORTANT),
        (b"\\Sent", SENT),
        (b"\\Draft", "DRAFT"),
        (b"\\Drafts", "DRAFT"),
        (b"\\Starred", None),
        (b"\\Muted", None),
        (b"", None),
        (b"Inbox", "label/Inbox"),
    ],
)
def test_what_begins_with_a_backslash_is_the_systems(word: bytes, label: str | None) -> None:
    assert labels.label_of(word) == label


def _rfc3339(at: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at / 1_000, tz=UTC).isoformat().replace("+00:00", "Z")
