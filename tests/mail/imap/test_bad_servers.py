"""Servers that do what they should not: one message or one answer is lost to it, and never the account."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import trio

from svc.clock import VirtualClock
from svc.mail.accounts import actions as account_actions
from svc.mail.providers.imap.connection import ImapConnection
from svc.mail.providers.imap.login import Login
from svc.mail.providers.imap.opening import connected
from svc.mail.providers.imap.provider import ImapProvider
from svc.mail.providers.imap.submission.session import SubmissionSession
from svc.mail.providers.seam import GrantLost, MessageGone, RawMessage, Refused, Throttled, Unreachable
from svc.nursery import open_task_group
from svc.principal import UNCLAIMED
from tests.mail.imap.scripted_server import SERVER, ScriptedDialler, Wire
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, open_service

HELLO = "* OK [CAPABILITY IMAP4rev1 SASL-IR AUTH=PLAIN IDLE UIDPLUS] Ready"
HEAD = "Message-ID: <%d@mail.test>\r\n\r\n"


class Odd:
    """An old server with an inbox of three mails. ``odd`` answers first: by the command, lines or ``None``."""

    def __init__(self) -> None:
        self.boxes = {"INBOX": [1, 2, 3]}
        self.opened = "INBOX"
        self.validity = 7
        self.copies: dict[int, int] = {}
        """By UID: of which mail it is a copy."""
        self.odd: Callable[[str], list[str] | None] = lambda command: None
        self.heard: list[str] = []

    @property
    def uids(self) -> list[int]:
        return self.boxes[self.opened]

    @uids.setter
    def uids(self, uids: list[int]) -> None:
        self.boxes["INBOX"] = uids

    async def serve(self, wire: Wire) -> None:
        await wire.say(HELLO)
        while (line := await wire.line()) is not None:
            tag, _, command = line.partition(" ")
            self.heard.append(command)
            answer = self.odd(command)
            if answer == ["cut"]:
                return
            lines = self._usual(command) if answer is None else answer
            if not any(one.startswith("T ") for one in lines):
                lines = [*lines, "T OK done"]
            await wire.say(*(f"{tag}{one[1:]}" if one.startswith("T ") else one for one in lines))

    def _usual(self, command: str) -> list[str]:
        name = command.partition(" ")[0]
        if name == "CAPABILITY":
            return ["* CAPABILITY IMAP4rev1 UIDPLUS"]
        if name == "LIST":
            return [f'* LIST () "/" {one}' for one in self.boxes]
        if name == "STATUS":
            box = command.split()[1].strip('"')
            state = f"UIDNEXT {self._next(box)} UIDVALIDITY {self.validity}"
            return [f"* STATUS {box} (MESSAGES {len(self.boxes[box])} {state})"]
        if name == "SELECT":
            self.opened = command.split()[1].strip('"')
            self.boxes.setdefault(self.opened, [])
            told = [f"UIDVALIDITY {self.validity}", f"UIDNEXT {self._next(self.opened)}"]
            return [f"* {len(self.uids)} EXISTS", *(f"* OK [{one}] ok" for one in told)]
        if command.startswith("UID SEARCH") and command.endswith(" DELETED"):
            return ["* SEARCH"]
        if command.startswith("UID SEARCH"):
            return [f"* SEARCH {' '.join(map(str, self.uids))}"]
        if command.startswith("UID FETCH"):
            wanted = command.split()[2]
            return [self.told(uid, command) for uid in self.uids if self._is_wanted(uid, wanted)]
        return []

    def _next(self, box: str) -> int:
        return max([8, *self.boxes[box]]) + 1

    def _is_wanted(self, uid: int, wanted: str) -> bool:
        ranges = [one.split(":") for one in wanted.split(",")]
        return any(int(one[0]) <= uid <= int(one[-1]) for one in ranges)

    def told(self, uid: int, command: str) -> str:
        mail = self.copies.get(uid, uid)
        body = f"{HEAD % mail}Hello {mail}"
        items = f"UID {uid} FLAGS ()"
        if "INTERNALDATE" in command:
            items += f' INTERNALDATE "0{uid}-Nov-2026 10:00:00 +0000" RFC822.SIZE {len(body)}'
        if "HEADER" in command:
            head = HEAD % mail
            items += f" BODY[HEADER.FIELDS (MESSAGE-ID)] {{{len(head)}}}\r\n{head}"
        if "BODY.PEEK[]" in command:
            items += f" BODY[] {{{len(body)}}}\r\n{body}"
        return f"* {uid} FETCH ({items})"


@pytest.fixture
def odd() -> Odd:
    return Odd()


@pytest.fixture
async def provider(
    tmp_path: Path, log: RecordedLog, wall: VirtualClock, odd: Odd
) -> AsyncIterator[Callable[[], Awaitable[ImapProvider]]]:
    async with open_service(tmp_path, clock=wall, log=log) as service, open_task_group() as nursery:
        workspace = service.workspace
        dialler = ScriptedDialler(script=odd.serve, nursery=nursery)

        async def connect() -> ImapConnection:
            return await connected(dialler, SERVER, Login(username="mia", secret="secret"))

        async def sign_in() -> SubmissionSession:
            raise AssertionError("nothing is sent")

        async def make() -> ImapProvider:
            account_id = await workspace.store.write(account_actions.connect, UNCLAIMED, address=MIA, provider="asleep")
            return ImapProvider(
                account_id=account_id,
                address=MIA,
                store=workspace.store,
                blobs=workspace.blobs,
                threads=workspace.threads,
                clock=workspace.clock,
                log=workspace.log,
                connect=connect,
                sign_in=sign_in,
            )

        yield make
        nursery.cancel_scope.cancel()


Make = Callable[[], Awaitable[ImapProvider]]


async def newest(provider: ImapProvider) -> list[str]:
    return [one.id for one in (await provider.list_messages()).messages]


async def got(provider: ImapProvider, ids: list[str]) -> list[RawMessage | Exception]:
    found: list[RawMessage | Exception] = []
    provider.expect(ids)
    for one in ids:
        try:
            found.append(await provider.get(one))
        except (MessageGone, Refused, Unreachable) as fault:
            found.append(fault)
    return found


async def test_the_newest_comes_first_and_many_come_with_one_command(provider: Make, odd: Odd) -> None:
    mailbox = await provider()
    assert (await mailbox.profile()).messages_total == 3
    found = await got(mailbox, await newest(mailbox))
    assert [one.raw[-7:] for one in found if isinstance(one, RawMessage)] == [b"Hello 3", b"Hello 2", b"Hello 1"]
    assert sum("BODY.PEEK[])" in command and "HEADER" not in command for command in odd.heard) == 1


async def test_one_message_that_is_always_refused_keeps_back_no_other(provider: Make, odd: Odd) -> None:
    mailbox = await provider()
    await mailbox.profile()
    odd.odd = lambda command: (
        ["T NO [SERVERBUG] internal"] if "BODY.PEEK[])" in command and odd._is_wanted(2, command.split()[2]) else None
    )
    found = await got(mailbox, await newest(mailbox))
    assert [type(one) for one in found] == [RawMessage, Unreachable, RawMessage]


async def test_a_message_without_its_body_is_asked_for_again_and_one_that_is_gone_is_gone(
    provider: Make, odd: Odd
) -> None:
    mailbox = await provider()
    await mailbox.profile()
    ids = await newest(mailbox)
    odd.uids = [1, 2]
    odd.odd = lambda command: (
        ["* 1 FETCH (UID 1 FLAGS ())", odd.told(2, command)] if "BODY.PEEK[])" in command else None
    )
    found = await got(mailbox, ids)
    assert [type(one) for one in found] == [MessageGone, RawMessage, Unreachable]


@pytest.mark.parametrize(
    ("other", "delimiter", "made"),
    [
        (None, ".", "Boats.Sails"),
        ("INBOX.Old", ".", "INBOX.Boats.Sails"),
        ("INBOX/Old", "/", "INBOX/Boats/Sails"),
        ("INBOX2", "/", "Boats/Sails"),
    ],
)
async def test_a_server_without_keywords_gets_a_folder_for_a_new_label(
    provider: Make, odd: Odd, other: str | None, delimiter: str, made: str
) -> None:
    mailbox = await provider()
    if other:
        odd.boxes = {**odd.boxes, other: []}
    await mailbox.profile()
    odd.odd = lambda command: [f'* LIST (\\Noselect) "{delimiter}" ""'] if command == 'LIST "" ""' else None
    assert (await mailbox.create_label("Boats/Sails")).id == f"folder/{made}"
    assert f'CREATE "{made}"' in odd.heard
    assert "Boats/Sails" in [one.name for one in await mailbox.labels() if not one.system]
    with pytest.raises(Refused):
        await mailbox.create_label("boats/sails")


async def test_a_list_without_an_inbox_deletes_nothing(provider: Make, odd: Odd) -> None:
    mailbox = await provider()
    cursor = (await mailbox.profile()).cursor
    odd.boxes = {"Other": odd.uids}
    with pytest.raises(Unreachable, match="no inbox"):
        await mailbox.history(since=cursor)
    odd.boxes = {"INBOX": odd.boxes["Other"]}
    assert (await mailbox.history(since=cursor)).changes == ()
    assert len(await newest(mailbox)) == 3


async def test_a_deletion_elsewhere_shows_at_once(provider: Make, odd: Odd) -> None:
    mailbox = await provider()
    cursor = (await mailbox.profile()).cursor
    odd.uids = [1, 2]
    page = await mailbox.history(since=cursor)
    assert [change.kind for change in page.changes] == ["deleted"]


async def test_a_mail_that_is_moved_into_a_folder_that_was_asked_already_is_not_deleted(
    provider: Make, odd: Odd
) -> None:
    mailbox = await provider()
    odd.boxes["Archive"] = [4]
    cursor = (await mailbox.profile()).cursor
    before = await newest(mailbox)

    def moves(command: str) -> list[str] | None:
        if command.startswith("STATUS") and "Archive" in command and odd.boxes["Archive"]:
            return ["* STATUS Archive (MESSAGES 0 UIDNEXT 9 UIDVALIDITY 7)"]
        if command.startswith("SELECT") and "Archive" in command:
            odd.boxes = {"INBOX": [1, 2, 3, 4], "Archive": []}
        return None

    odd.odd = moves
    page = await mailbox.history(since=cursor)
    assert [(change.kind, change.labels) for change in page.changes] == [("labels-added", frozenset({"INBOX"}))]
    assert await newest(mailbox) == before


async def test_a_server_that_tells_of_a_deletion_that_is_none_loses_nothing(provider: Make, odd: Odd) -> None:
    """As Nextcloud met it, of a whole mailbox. The number of mails agrees, so that nothing else would show it."""
    mailbox = await provider()
    cursor = (await mailbox.profile()).cursor
    odd.uids = [1, 2]
    lies = False

    def counts(command: str) -> list[str] | None:
        if command.startswith("SELECT"):
            return [*odd._usual(command), f"* OK [HIGHESTMODSEQ {len(odd.heard)}] ok"]
        if command.startswith("STATUS"):
            return [f"* STATUS INBOX (MESSAGES 2 UIDNEXT 9 UIDVALIDITY 7 HIGHESTMODSEQ {len(odd.heard)})"]
        return ["* VANISHED (EARLIER) 1", odd.told(9, command)] if lies and "CHANGEDSINCE" in command else None

    odd.odd = counts
    cursor = (await mailbox.history(since=cursor)).cursor
    lies = True
    assert (await mailbox.history(since=cursor)).changes == ()
    assert any("CHANGEDSINCE" in command for command in odd.heard)
    assert len(await newest(mailbox)) == 2


@pytest.mark.parametrize("was_looked_at", [False, True])
async def test_a_move_that_ended_after_its_copy_is_not_copied_again(
    provider: Make, odd: Odd, was_looked_at: bool
) -> None:
    mailbox = await provider()
    odd.boxes["Trash"] = []
    cursor = (await mailbox.profile()).cursor
    first = (await newest(mailbox))[0]

    def cuts(command: str) -> list[str] | None:
        if command.startswith("UID COPY"):
            odd.boxes["Trash"], odd.copies = [9], {9: 3}
        return ["cut"] if "\\Deleted" in command else None

    odd.odd = cuts
    with pytest.raises(Unreachable):
        await mailbox.modify(first, add=frozenset({"TRASH"}), remove=frozenset({"INBOX"}))
    odd.odd = lambda command: None
    if was_looked_at:
        await mailbox.history(since=cursor)
    await mailbox.modify(first, add=frozenset({"TRASH"}), remove=frozenset({"INBOX"}))
    await mailbox.history(since=cursor)
    assert sum(command.startswith("UID COPY") for command in odd.heard) == 1
    assert odd.heard.count("UID EXPUNGE 3") == 1


@pytest.mark.parametrize("is_held", [False, True])
async def test_a_server_that_counts_anew_never_changes_another_message(provider: Make, odd: Odd, is_held: bool) -> None:
    mailbox = await provider()
    await mailbox.profile()
    first = (await newest(mailbox))[0]
    odd.validity = 8
    if not is_held:
        await mailbox.aclose()
    with pytest.raises(Unreachable, match="numbered"):
        await mailbox.modify(first, add=frozenset({"STARRED"}), remove=frozenset())
    assert not any("STORE" in command for command in odd.heard)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("T NO [AUTHENTICATIONFAILED] no", GrantLost),
        ("T NO Too many simultaneous connections", Throttled),
        ("T NO [UNAVAILABLE] later", Throttled),
        ("cut", Unreachable),
    ],
)
async def test_what_keeps_an_account_out_is_told_as_what_it_is(
    provider: Make, odd: Odd, answer: str, fault: type[Exception]
) -> None:
    mailbox = await provider()
    odd.odd = lambda command: [answer] if command.startswith("AUTHENTICATE") else None
    with pytest.raises(fault):
        await mailbox.profile()


async def test_a_mailbox_whose_inbox_stays_closed_is_no_empty_one(provider: Make, odd: Odd) -> None:
    mailbox = await provider()
    odd.odd = lambda command: ["T NO SELECT Unsafe Login."] if command.startswith("SELECT") else None
    with pytest.raises(Unreachable, match="Unsafe Login"):
        await mailbox.profile()


async def test_a_look_that_is_cut_anywhere_is_made_good_by_the_next(
    provider: Make, odd: Odd, chance: random.Random
) -> None:
    mailbox = await provider()
    cursor = (await mailbox.profile()).cursor
    odd.uids = [2, 3, 4, 5]
    for cut in range(1, 12):
        count = 0

        def cuts(command: str, at: int = cut) -> list[str] | None:
            nonlocal count
            count += 1
            return ["cut"] if count == at else None

        odd.odd = cuts
        try:
            await mailbox.history(since=cursor)
        except Unreachable:
            await trio.sleep(chance.random())
    odd.odd = lambda command: None
    await mailbox.history(since=cursor)
    await trio.sleep(1)
    page = await mailbox.history(since=cursor)
    assert sorted(change.kind for change in page.changes) == ["added", "added", "deleted"]
    assert len(await newest(mailbox)) == 4
