"""Servers that do what they should not: one message or one answer is lost to it, and never the account."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import trio

from svc.clock import VirtualClock
from svc.mail.accounts import actions as account_actions
from svc.mail.providers.imap.connection import ImapConnection, connected
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
        self.uids = [1, 2, 3]
        self.validity = 7
        self.folders = ["INBOX"]
        self.odd: Callable[[str], list[str] | None] = lambda command: None
        self.heard: list[str] = []

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
        state = f"MESSAGES {len(self.uids)} UIDNEXT 9 UIDVALIDITY {self.validity}"
        if name == "LIST":
            return [f'* LIST () "/" {one}' for one in self.folders]
        if name == "STATUS":
            return [f"* STATUS INBOX ({state})"]
        if name == "SELECT":
            return [f"* {len(self.uids)} EXISTS", f"* OK [UIDVALIDITY {self.validity}] ok", "* OK [UIDNEXT 9] ok"]
        if command.startswith("UID SEARCH"):
            return [f"* SEARCH {' '.join(map(str, self.uids))}"]
        if command.startswith("UID FETCH"):
            wanted = command.split()[2]
            return [self.told(uid, command) for uid in self.uids if self._is_wanted(uid, wanted)]
        return []

    def _is_wanted(self, uid: int, wanted: str) -> bool:
        ranges = [one.split(":") for one in wanted.split(",")]
        return any(int(one[0]) <= uid <= int(one[-1]) for one in ranges)

    def told(self, uid: int, command: str) -> str:
        body = f"{HEAD % uid}Hello {uid}"
        items = f"UID {uid} FLAGS ()"
        if "INTERNALDATE" in command:
            items += f' INTERNALDATE "0{uid}-Nov-2026 10:00:00 +0000" RFC822.SIZE {len(body)}'
        if "HEADER" in command:
            head = HEAD % uid
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
            return await connected(dialler, SERVER, username="mia", password="secret")

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


async def test_a_list_without_an_inbox_deletes_nothing(provider: Make, odd: Odd) -> None:
    mailbox = await provider()
    cursor = (await mailbox.profile()).cursor
    odd.folders = ["Other"]
    with pytest.raises(Unreachable, match="no inbox"):
        await mailbox.history(since=cursor)
    odd.folders = ["INBOX"]
    assert (await mailbox.history(since=cursor)).changes == ()
    assert len(await newest(mailbox)) == 3


async def test_a_server_that_counts_anew_never_changes_another_message(provider: Make, odd: Odd) -> None:
    mailbox = await provider()
    await mailbox.profile()
    first = (await newest(mailbox))[0]
    odd.validity = 8
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
