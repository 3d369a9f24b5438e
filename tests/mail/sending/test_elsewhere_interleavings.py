"""Two programs at one draft, in any order: whatever is typed on either side is there in the end, or was thrown away or
sent by a person; nothing goes out twice, and nothing is copied back and forth.

Each edit adds a word of its own to what its side shows, so that words tell what has become of every one of them.
"""

from __future__ import annotations

import random
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
import trio

from svc.clock import VirtualClock
from svc.formats import mime
from svc.mail.model import DRAFT, INBOX, SENT
from svc.mail.providers.seam import LostAnswer, Unreachable
from svc.mail.sync.engine import MailEngine
from svc.principal import UNCLAIMED
from tests.mail.folder_provider import FolderMailbox
from tests.mail.sending.draft_writer import OTHER, DraftWriter, open_writer
from tests.recorded_log import RecordedLog
from tests.sizes import INTERLEAVINGS
from tests.support.mailbox import mail
from tests.support.service import MIA, RpcError

pytestmark = pytest.mark.thorough

LENGTH: Final = 14
EVENTS: Final = (
    *("open", "type", "type", "continue", "delete here", "send here"),
    *("edit there", "edit there", "edit there slowly", "delete there", "send there"),
    *("poll", "poll", "copy", "wait", "fault", "crash"),
)
WAS_SENT: Final = "Another program has sent this draft."


def words_of(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"word\d+", text))


def words_in(raw: bytes) -> frozenset[str]:
    parsed = mime.parse_message(raw)
    return words_of(f"{parsed.text} {parsed.html}")


@dataclass(kw_only=True)
class Two:
    """``window``: the draft that is open here, as it was when it was read. ``thrown``: words that a person has deleted
    where they stood. ``slow``: what another program has yet to remove."""

    writer: DraftWriter
    box: FolderMailbox
    chance: random.Random
    window: dict[str, Any] | None = None
    typed: set[str] = field(default_factory=set)
    thrown: set[str] = field(default_factory=set)
    slow: list[tuple[str, bytes]] = field(default_factory=list)
    saves: int = 0
    names: count[int] = field(default_factory=count)
    story: list[str] = field(default_factory=list)

    def word(self) -> str:
        word = f"word{next(self.names)}"
        self.typed.add(word)
        return word

    async def do(self, event: str) -> None:
        self.story.append(event)
        self._finish_slow()
        await getattr(self, event.replace(" ", "_"))()

    # Here

    async def mine(self) -> list[dict[str, Any]]:
        found = []
        for (draft_id,) in await self.writer.service.rows("select id from mail_drafts order by id"):
            try:
                found.append(await self.writer.service.query("mail.draft", id=draft_id))
            except RpcError as error:  # a poll found it deleted meanwhile
                if error.code != "NOT_FOUND":
                    raise
        return found

    async def open(self) -> None:
        found = await self.mine()
        self.window = self.chance.choice(found) if found else None

    async def type(self) -> None:
        """Into the open window; where another has it by now, the words are kept as a new draft."""
        words = " ".join(sorted(words_of(self.window["html"] if self.window else ""))) + " " + self.word()
        known = {} if self.window is None else {"id": self.window["id"], "version": self.window["version"]}
        wanted = {
            "accountId": self.writer.accounts[MIA],
            "to": [OTHER],
            "subject": "Boats",
            "html": f"<p>{words}</p>",
        }
        reply = await self.writer.service.ask_as(UNCLAIMED, "mail.saveDraft", {**wanted, **known})
        saved = reply.json["result"]["data"] if reply.status == 200 else None
        if saved is None:
            assert reply.status in {404, 409}, reply.json
            saved = await self.writer.service.mutate("mail.saveDraft", **wanted)
        self.saves += 1
        self.window = await self.writer.service.query("mail.draft", id=saved["id"])

    async def continue_(self) -> None:
        rows = await self.writer.service.rows("select id from mail_messages where labels like '%DRAFT%' order by id")
        if rows:
            (message_id,) = self.chance.choice(rows)
            reply = await self.writer.service.ask_as(UNCLAIMED, "mail.takeUpDraft", {"messageId": message_id})
            if reply.status == 200:
                draft_id = reply.json["result"]["data"]["draftId"]
                self.window = await self.writer.service.query("mail.draft", id=draft_id)

    async def delete_here(self) -> None:
        await self.open()
        if self.window is not None:
            await self.writer.service.mutate("mail.deleteDraft", id=self.window["id"])
            self.thrown |= words_of(self.window["html"])
            self.window = None

    async def send_here(self) -> None:
        """Of the open window, as it shows it; the mailbox is looked at while the mail is still held back."""
        if self.window is None:
            return
        now = next((one for one in await self.mine() if one["id"] == self.window["id"]), None)
        if now is not None and any(WAS_SENT in one for one in now["notes"]):
            return  # who sends this one sends it a second time, and is told so
        wanted = {name: self.window[name] for name in ("accountId", "to", "subject", "html")}
        known = {"draftId": self.window["id"], "draftVersion": self.window["version"]}
        reply = await self.writer.service.ask_as(UNCLAIMED, "mail.send", {**wanted, **known, "to": [OTHER]})
        assert reply.status in {200, 404, 409}, reply.json
        self.window = None if reply.status == 200 else self.window
        await self.poll()

    # There

    def there(self) -> list[tuple[str, bytes]]:
        """What another program shows: each by its mark or its id."""
        kept = [(one.id, one.raw) for one in self.box.kept.values() if one.place.folder == DRAFT]
        return [*self.box.drafts, *kept]

    def _remove(self, one: tuple[str, bytes]) -> None:
        self.box.drafts = [other for other in self.box.drafts if other != one]
        if one[0] in self.box.kept:
            self.box.delete(one[0])

    def _finish_slow(self) -> None:
        for one in self.slow:
            self._remove(one)
        self.slow.clear()

    async def edit_there(self, *, slowly: bool = False) -> None:
        if found := self.there():
            one = self.chance.choice(found)
            self.box.deliver(self._written(one[1], self.word()), folder=DRAFT)
            if slowly:
                self.slow.append(one)
            else:
                self._remove(one)

    async def edit_there_slowly(self) -> None:
        await self.edit_there(slowly=True)

    async def delete_there(self) -> None:
        if found := self.there():
            one = self.chance.choice(found)
            self.thrown |= words_in(one[1])
            self._remove(one)

    async def send_there(self) -> None:
        if found := self.there():
            one = self.chance.choice(found)
            self.box.deliver(self._written(one[1], ""), folder=SENT, seen=True)
            self._remove(one)

    def _written(self, raw: bytes, word: str) -> bytes:
        """What a program makes of a draft: it keeps its Message-ID, and our mark perhaps."""
        parsed = mime.parse_message(raw)
        mark = f"X-Svc-Outgoing: {parsed.outgoing_mark}\r\n" if self.chance.random() < 0.5 else ""
        head = (
            f"Message-ID: <{parsed.message_id}>\r\n{mark if parsed.outgoing_mark else ''}From: {MIA}\r\nTo: {OTHER}\r\n"
        )
        words = " ".join(sorted(words_in(raw) | words_of(word)))
        return f"{head}Subject: Boats\r\nDate: Mon, 2 Jan 2040 10:00:00 +0000\r\n\r\n{words}\r\n".encode()

    # Between

    async def poll(self) -> None:
        await self.writer.service.workspace.service(MailEngine).sync_now(self.writer.accounts[MIA])

    async def copy(self) -> None:
        await self.writer.told()

    async def wait(self) -> None:
        await trio.sleep(self.chance.choice((1, 6, 20, 90)))

    async def fault(self) -> None:
        fault = self.chance.choice((Unreachable("No connection."), LostAnswer("Cut.")))
        self.box.faults[:] = [*[None] * self.chance.randrange(3), fault]

    # In the end

    async def check(self) -> None:
        self._finish_slow()
        self.box.faults.clear()
        await self.poll()
        await self.writer.told()
        await trio.sleep(60)
        before, put = await self._all(), self.box.drafts_put
        await trio.sleep(600)
        assert (await self._all(), self.box.drafts_put) == (before, put), self.story
        assert self.box.drafts_put <= 3 * (self.saves + len(self.story)), self.story
        sent = [words_in(one.raw) for one in self.box.kept.values() if one.place.folder == SENT]
        assert len(set(sent)) == len(sent), (" / ".join(self.story), sent)
        kept = frozenset[str]().union(*sent, *before)
        assert self.typed - self.thrown <= kept, (" / ".join(self.story), self.typed - self.thrown - kept)

    async def _all(self) -> list[frozenset[str]]:
        """The words of every draft, here and there."""
        mine = [words_of(one["html"]) for one in await self.mine()]
        return [*mine, *(words_in(raw) for _, raw in self.there())]


@asynccontextmanager
async def opened(home: Path, wall: VirtualClock, log: RecordedLog, box: FolderMailbox) -> AsyncIterator[DraftWriter]:
    async with open_writer(home, wall, log, {MIA: box}) as writer:
        yield writer


@pytest.mark.share(2)
@pytest.mark.parametrize("number", range(INTERLEAVINGS))
async def test_no_order_of_what_two_programs_do_loses_a_word_or_sends_one_twice(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, chance: random.Random, number: int
) -> None:
    box = FolderMailbox(address=MIA, clock=wall)
    box.deliver(b"Message-ID: <welcome@mail.test>\n" + mail("Welcome"), folder=INBOX)
    box.deliver(
        f"Message-ID: <begun@else.test>\r\nFrom: {MIA}\r\nSubject: Begun\r\n\r\nword0\r\n".encode(), folder=DRAFT
    )
    async with AsyncExitStack() as stack:
        two = Two(
            writer=await stack.enter_async_context(opened(tmp_path, wall, log, box)),
            box=box,
            chance=chance,
            typed={"word0"},
            names=count(1),
        )
        for event in ["type", "copy", *chance.choices(EVENTS, k=LENGTH)]:
            if event == "crash":
                two.story.append(event)
                await stack.aclose()
                two.writer = await stack.enter_async_context(opened(tmp_path, wall, log, box))
            else:
                await two.do("continue_" if event == "continue" else event)
        await two.check()
