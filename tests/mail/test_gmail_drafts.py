"""Copies of drafts at Gmail: one of each, wherever the service is killed or an answer is lost.

Gmail is in memory here, and does as it is documented: a draft's id stays, and each change of it is another message.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
import trio

from svc.clock import VirtualClock
from svc.mail.model import DRAFT
from svc.mail.providers.gmail.provider import GmailProvider
from svc.mail.providers.gmail.quota import QuotaLimiter
from svc.mail.providers.seam import LostAnswer, MessageGone, ProviderFault, Unreachable
from svc.protocol.egress import EgressResponse
from svc.store import Store, Tx
from tests.mail.bare import bare_tx
from tests.mail.dying import Killed, Steps, Transactions
from tests.mail.scripted_http import answer, google_error, no_answer

MARK: Final = "drf_boats"


@dataclass
class Gmail:
    """``late_s``: a call that its caller does not live to see is done that much later."""

    drafts: dict[str, str] = field(default_factory=dict)  # to messages, newest first
    messages: dict[str, bytes] = field(default_factory=dict)
    threads: set[str] = field(default_factory=lambda: {"thread-1"})
    asked: list[str] = field(default_factory=list)
    lost: int = 0
    steps: Steps = field(default_factory=Steps)
    number: int = 0

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None = None,
        deadline_s: float,
        limit_bytes: int,
    ) -> EgressResponse:
        await trio.lowlevel.checkpoint()
        parts = urlsplit(url)
        call = f"{method} {parts.path.partition('/users/')[2].partition('/')[2]}"
        self.asked.append(call)
        self.steps.step()
        found = self._answer(call, parse_qs(parts.query), msgspec.json.decode(body or b"{}"))
        self.steps.step()
        if self.lost and method != "GET":
            self.lost -= 1
            raise no_answer(may_have_happened=True)
        return found

    def put(self, raw: bytes, draft_id: str | None = None) -> str:
        """By whoever: a new message, in a draft that is there or a new one."""
        self.number += 1
        message_id = f"message-{self.number}"
        self.messages.pop(self.drafts.pop(draft_id or "", ""), None)
        self.messages[message_id] = raw
        self.drafts = {draft_id or f"draft-{self.number}": message_id, **self.drafts}
        return message_id

    def _answer(self, call: str, query: Mapping[str, list[str]], body: dict[str, Any]) -> EgressResponse:
        method, _, path = call.partition(" ")
        kind, _, name = path.partition("/")
        if call == "GET drafts":
            start = int(query.get("pageToken", ["0"])[0])
            page = [_shown(*one) for one in list(self.drafts.items())[start : start + 2]]
            return answer({"drafts": page, "nextPageToken": str(start + 2) if start + 2 < len(self.drafts) else ""})
        if kind == "messages":
            raw = self.messages.get(name)
            if raw is None:
                return google_error(404)
            encoded = base64.urlsafe_b64encode(raw).decode()
            return answer({"id": name, "threadId": name, "labelIds": [DRAFT], "raw": encoded})
        assert kind == "drafts"
        if method != "POST" and name not in self.drafts:
            return google_error(404)
        if method == "DELETE":
            del self.messages[self.drafts.pop(name)]
            return answer(status=204)
        thread_id = body["message"].get("threadId")
        if thread_id is not None and thread_id not in self.threads:
            return google_error(404)
        message_id = self.put(base64.urlsafe_b64decode(body["message"]["raw"]), name or None)
        return answer(_shown(next(iter(self.drafts)), message_id))

    def subjects(self) -> list[str]:
        found = [re.search(rb"(?m)^Subject: (.*)\r$", self.messages[one]) for one in self.drafts.values()]
        return sorted(one[1].decode() for one in found if one is not None)


def _shown(draft_id: str, message_id: str) -> dict[str, object]:
    return {"id": draft_id, "message": {"id": message_id, "threadId": message_id}}


class Tokens:
    async def access_token(self) -> str:
        return "token"

    async def refreshed(self, stale: str) -> str:
        raise AssertionError(stale)


@dataclass
class Desk:
    """The service, as often as it is started anew."""

    wall: VirtualClock
    google: Gmail = field(default_factory=Gmail)
    tx: Tx = field(default_factory=bare_tx)
    second: int = 10

    def __post_init__(self) -> None:
        self.tx.run(
            """
            insert into mail_accounts (id, owner_id, address, provider, state, created_at)
            values ('acc', 'usr', 'mia@example.org', 'gmail', 'caught-up', 0)
            """
        )

    def started(self, *, last: int | None = None) -> tuple[GmailProvider, Steps]:
        steps = Steps(last)
        self.google.steps = steps
        store = Transactions(self.tx, steps)
        return (
            GmailProvider(
                address="mia@example.org",
                base_url="https://gmail.example.org",
                http=self.google,
                tokens=Tokens(),
                quota=QuotaLimiter(units_per_minute=1_000_000),
                clock=self.wall,
                account_id="acc",
                store=cast(Store, store),
            ),
            steps,
        )

    def letter(self, subject: str) -> bytes:
        """Written a second later than the one before."""
        self.second += 1
        dated = f"Date: Mon, 2 Nov 2026 10:00:{self.second:02} +0000\r\n"
        head = f"Message-ID: <boats@example.org>\r\nX-Svc-Outgoing: {MARK}\r\n{dated}Subject: {subject}"
        return f"{head}\r\n\r\nHi.\r\n".encode()

    async def keep(self, subject: str, **more: Any) -> None:
        drafts = self.started()[0].drafts
        assert drafts is not None
        await drafts.keep(self.letter(subject), mark=MARK, **more)

    async def drop(self, **more: Any) -> None:
        drafts = self.started()[0].drafts
        assert drafts is not None
        await drafts.drop(MARK, **more)

    async def there(self) -> bool:
        drafts = self.started()[0].drafts
        assert drafts is not None
        return await drafts.there(MARK)

    def notes(self) -> list[tuple[Any, ...]]:
        return self.tx.all("select * from mail_provider_drafts")


@pytest.fixture
def desk(wall: VirtualClock) -> Desk:
    desk = Desk(wall)
    for name in ("One", "Two", "Three"):
        desk.google.put(f"Date: Mon, 2 Nov 2026 09:00:00 +0000\r\nSubject: {name}\r\n\r\n".encode())
    return desk


OTHERS: Final = ["One", "Three", "Two"]


async def test_a_draft_lies_there_once_and_is_changed_where_it_lies(desk: Desk) -> None:
    await desk.keep("Boats", thread_id="thread-1")
    draft_id = next(iter(desk.google.drafts))
    await desk.keep("Ships", thread_id="thread-1")
    assert desk.google.subjects() == sorted(["Ships", *OTHERS])
    assert next(iter(desk.google.drafts)) == draft_id
    assert await desk.there()
    await desk.drop()
    assert (desk.google.subjects(), desk.notes(), await desk.there()) == (OTHERS, [], False)


WAYS: Final = (("keep",), ("keep", "keep"), ("keep", "drop"), ("take up",))


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("then", ["keep", "drop"])
async def test_killed_at_any_step_it_finds_its_own_again_and_leaves_one(
    wall: VirtualClock, way: tuple[str, ...], then: str
) -> None:
    """The last act of ``way`` is killed at each of its steps, and done ``then`` by whoever is started next."""
    last = 0
    while True:
        desk = Desk(wall)
        theirs = desk.google.put(b"Date: Mon, 2 Nov 2026 09:00:00 +0000\r\nSubject: Theirs\r\n\r\n")
        others = [] if way == ("take up",) else ["Theirs"]
        more: dict[str, Any] = {} if others else {"instead_of": [theirs]}
        for _ in way[:-1]:
            await desk.keep("Boats")
        provider, steps = desk.started(last=last)
        assert provider.drafts is not None
        try:
            if way[-1] == "drop":
                await provider.drafts.drop(MARK)
            else:
                await provider.drafts.keep(desk.letter("Ships"), mark=MARK, **more)
            is_dead = False
        except Killed:
            is_dead = True
        await (desk.keep("Rafts", **more) if then == "keep" else desk.drop(**more))
        assert desk.google.subjects() == sorted(["Rafts", *others] if then == "keep" else others), last
        assert len(desk.notes()) == (then == "keep")
        if not is_dead:
            assert last == steps.seen
            return
        last += 1


@pytest.mark.parametrize("then", ["keep", "drop"])
async def test_one_whose_answer_was_lost_is_found_again(desk: Desk, then: str) -> None:
    desk.google.lost = 1
    with pytest.raises(LostAnswer):
        await desk.keep("Boats")
    assert await desk.there()
    await (desk.keep("Ships") if then == "keep" else desk.drop())
    assert desk.google.subjects() == sorted(["Ships", *OTHERS] if then == "keep" else OTHERS)


async def test_what_certainly_did_not_go_is_not_looked_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*_: object, **__: object) -> EgressResponse:
        raise no_answer(may_have_happened=False)

    with monkeypatch.context() as patch:
        patch.setattr(desk.google, "request", refused)
        with pytest.raises(Unreachable):
            await desk.keep("Boats")
    assert desk.notes() == []


async def test_one_that_comes_a_moment_after_the_first_look_is_found_all_the_same(desk: Desk) -> None:
    """The process that sent it is dead, and Gmail still works on it."""
    letter = desk.letter("Boats")
    provider, _ = desk.started(last=2)
    assert provider.drafts is not None
    with pytest.raises(Killed):
        await provider.drafts.keep(letter, mark=MARK)
    assert len(desk.notes()) == 1
    async with trio.open_nursery() as nursery:
        nursery.start_soon(desk.keep, "Ships")
        await trio.sleep(1)
        desk.google.put(letter)
    assert desk.google.subjects() == sorted(["Ships", *OTHERS])


async def test_what_another_program_made_of_it_stays_beside_ours_or_is_replaced_once_it_is_taken_up(desk: Desk) -> None:
    await desk.keep("Boats")
    draft_id = next(iter(desk.google.drafts))
    theirs = b"Date: Mon, 2 Jan 2040 10:00:00 +0000\r\nSubject: Canoes\r\n\r\n"
    edited = desk.google.put(theirs, draft_id)
    assert not await desk.there()
    provider, _ = desk.started()
    assert (await provider.get(edited)).draft_of == MARK
    await desk.keep("Ships", instead_of=[edited])
    assert desk.google.subjects() == sorted(["Ships", *OTHERS])
    desk.google.put(theirs, draft_id)
    await desk.keep("Rafts")
    assert desk.google.subjects() == sorted(["Rafts", "Canoes", *OTHERS])


async def test_our_own_copy_is_no_message_here_also_before_it_is_noted(desk: Desk) -> None:
    await desk.keep("Boats")
    desk.google.lost = 1
    with pytest.raises(ProviderFault):
        await desk.keep("Ships")
    provider, _ = desk.started()
    with pytest.raises(MessageGone):
        await provider.get(next(iter(desk.google.drafts.values())))
    (last, *_) = reversed(desk.google.drafts.values())
    assert (await provider.get(last)).draft_of is None


@pytest.mark.parametrize("listed_before", [False, True])
async def test_an_earlier_copy_of_ours_that_was_read_before_it_was_replaced_is_no_message_here(
    desk: Desk, listed_before: bool
) -> None:
    await desk.keep("Boats")
    earlier, raw = (
        next(iter(desk.google.drafts.values())),
        desk.google.messages[next(iter(desk.google.drafts.values()))],
    )
    drafts = desk.started()[0].drafts
    assert drafts is not None
    if listed_before:
        theirs = desk.google.put(b"Date: Mon, 2 Nov 2026 09:00:00 +0000\r\nSubject: Four\r\n\r\n")
        assert await drafts.whose(theirs, desk.google.messages[theirs]) is None
    await desk.keep("Ships")
    with pytest.raises(MessageGone):
        await drafts.whose(earlier, raw)


async def test_what_another_program_changed_and_left_our_mark_in_is_a_draft_made_of_ours(desk: Desk) -> None:
    await desk.keep("Boats")
    drafts = desk.started()[0].drafts
    assert drafts is not None
    theirs = desk.letter("Canoes")
    changed = desk.google.put(theirs, next(iter(desk.google.drafts)))
    assert await drafts.whose(changed, theirs) == MARK


async def test_what_another_program_changed_and_left_our_mark_and_date_in_is_a_draft_made_of_ours(desk: Desk) -> None:
    await desk.keep("Boats")
    drafts = desk.started()[0].drafts
    assert drafts is not None
    draft_id, ours = next(iter(desk.google.drafts.items()))
    theirs = desk.google.messages[ours].replace(b"Hi.", b"Ho!")
    changed = desk.google.put(theirs, draft_id)
    assert await drafts.whose(changed, theirs) == MARK
    await desk.keep("Ships")
    assert desk.google.messages[changed] == theirs


async def test_a_draft_whose_thread_or_place_is_gone_is_kept_all_the_same(desk: Desk) -> None:
    await desk.keep("Boats", thread_id="gone")
    assert desk.google.subjects() == sorted(["Boats", *OTHERS])
    await desk.keep("Ships", thread_id="gone")
    assert desk.google.subjects() == sorted(["Ships", *OTHERS])
    desk.google.messages.pop(desk.google.drafts.pop(next(iter(desk.google.drafts))))
    await desk.keep("Rafts")
    assert desk.google.subjects() == sorted(["Rafts", *OTHERS])
