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
        """A new message, in an existing draft or a new one, from any client."""
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
class GmailClient:
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
def client(wall: VirtualClock) -> GmailClient:
    client = GmailClient(wall)
    for name in ("One", "Two", "Three"):
        client.google.put(f"Date: Mon, 2 Nov 2026 09:00:00 +0000\r\nSubject: {name}\r\n\r\n".encode())
    return client


OTHERS: Final = ["One", "Three", "Two"]


async def test_a_draft_lies_there_once_and_is_changed_where_it_lies(client: GmailClient) -> None:
    await client.keep("Boats", thread_id="thread-1")
    draft_id = next(iter(client.google.drafts))
    await client.keep("Ships", thread_id="thread-1")
    assert client.google.subjects() == sorted(["Ships", *OTHERS])
    assert next(iter(client.google.drafts)) == draft_id
    assert await client.there()
    await client.drop()
    assert (client.google.subjects(), client.notes(), await client.there()) == (OTHERS, [], False)


WAYS: Final = (("keep",), ("keep", "keep"), ("keep", "drop"), ("take up",))


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("then", ["keep", "drop"])
async def test_killed_at_any_step_it_finds_its_own_again_and_leaves_one(
    wall: VirtualClock, way: tuple[str, ...], then: str
) -> None:
    """The last act of ``way`` is killed at each of its steps, and ``then`` done by the next process."""
    last = 0
    while True:
        client = GmailClient(wall)
        theirs = client.google.put(b"Date: Mon, 2 Nov 2026 09:00:00 +0000\r\nSubject: Theirs\r\n\r\n")
        others = [] if way == ("take up",) else ["Theirs"]
        more: dict[str, Any] = {} if others else {"instead_of": [theirs]}
        for _ in way[:-1]:
            await client.keep("Boats")
        provider, steps = client.started(last=last)
        assert provider.drafts is not None
        try:
            if way[-1] == "drop":
                await provider.drafts.drop(MARK)
            else:
                await provider.drafts.keep(client.letter("Ships"), mark=MARK, **more)
            is_dead = False
        except Killed:
            is_dead = True
        await (client.keep("Rafts", **more) if then == "keep" else client.drop(**more))
        assert client.google.subjects() == sorted(["Rafts", *others] if then == "keep" else others), last
        assert len(client.notes()) == (then == "keep")
        if not is_dead:
            assert last == steps.seen
            return
        last += 1


@pytest.mark.parametrize("then", ["keep", "drop"])
async def test_one_whose_answer_was_lost_is_found_again(client: GmailClient, then: str) -> None:
    client.google.lost = 1
    with pytest.raises(LostAnswer):
        await client.keep("Boats")
    assert await client.there()
    await (client.keep("Ships") if then == "keep" else client.drop())
    assert client.google.subjects() == sorted(["Ships", *OTHERS] if then == "keep" else OTHERS)


async def test_what_certainly_did_not_go_is_not_looked_for(
    client: GmailClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: object, **__: object) -> EgressResponse:
        raise no_answer(may_have_happened=False)

    with monkeypatch.context() as patch:
        patch.setattr(client.google, "request", refused)
        with pytest.raises(Unreachable):
            await client.keep("Boats")
    assert client.notes() == []


async def test_one_that_comes_a_moment_after_the_first_look_is_found_all_the_same(client: GmailClient) -> None:
    """The process that sent it is dead, and Gmail still works on it."""
    letter = client.letter("Boats")
    provider, _ = client.started(last=2)
    assert provider.drafts is not None
    with pytest.raises(Killed):
        await provider.drafts.keep(letter, mark=MARK)
    assert len(client.notes()) == 1
    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.keep, "Ships")
        await trio.sleep(1)
        client.google.put(letter)
    assert client.google.subjects() == sorted(["Ships", *OTHERS])


async def test_what_another_program_made_of_it_stays_beside_ours_or_is_replaced_once_it_is_taken_up(
    client: GmailClient,
) -> None:
    await client.keep("Boats")
    draft_id = next(iter(client.google.drafts))
    theirs = b"Date: Mon, 2 Jan 2040 10:00:00 +0000\r\nSubject: Canoes\r\n\r\n"
    edited = client.google.put(theirs, draft_id)
    assert not await client.there()
    provider, _ = client.started()
    assert (await provider.get(edited)).draft_of == MARK
    await client.keep("Ships", instead_of=[edited])
    assert client.google.subjects() == sorted(["Ships", *OTHERS])
    client.google.put(theirs, draft_id)
    await client.keep("Rafts")
    assert client.google.subjects() == sorted(["Rafts", "Canoes", *OTHERS])


async def test_our_own_copy_is_no_message_here_also_before_it_is_noted(client: GmailClient) -> None:
    await client.keep("Boats")
    client.google.lost = 1
    with pytest.raises(ProviderFault):
        await client.keep("Ships")
    provider, _ = client.started()
    with pytest.raises(MessageGone):
        await provider.get(next(iter(client.google.drafts.values())))
    (last, *_) = reversed(client.google.drafts.values())
    assert (await provider.get(last)).draft_of is None


@pytest.mark.parametrize("listed_before", [False, True])
async def test_an_earlier_copy_of_ours_that_was_read_before_it_was_replaced_is_no_message_here(
    client: GmailClient, listed_before: bool
) -> None:
    await client.keep("Boats")
    earlier, raw = (
        next(iter(client.google.drafts.values())),
        client.google.messages[next(iter(client.google.drafts.values()))],
    )
    drafts = client.started()[0].drafts
    assert drafts is not None
    if listed_before:
        theirs = client.google.put(b"Date: Mon, 2 Nov 2026 09:00:00 +0000\r\nSubject: Four\r\n\r\n")
        assert await drafts.whose(theirs, client.google.messages[theirs]) is None
    await client.keep("Ships")
    with pytest.raises(MessageGone):
        await drafts.whose(earlier, raw)


async def test_what_another_program_changed_and_left_our_mark_in_is_a_draft_made_of_ours(client: GmailClient) -> None:
    await client.keep("Boats")
    drafts = client.started()[0].drafts
    assert drafts is not None
    theirs = client.letter("Canoes")
    changed = client.google.put(theirs, next(iter(client.google.drafts)))
    assert await drafts.whose(changed, theirs) == MARK


async def test_what_another_program_changed_and_left_our_mark_and_date_in_is_a_draft_made_of_ours(
    client: GmailClient,
) -> None:
    await client.keep("Boats")
    drafts = client.started()[0].drafts
    assert drafts is not None
    draft_id, ours = next(iter(client.google.drafts.items()))
    theirs = client.google.messages[ours].replace(b"Hi.", b"Ho!")
    changed = client.google.put(theirs, draft_id)
    assert await drafts.whose(changed, theirs) == MARK
    await client.keep("Ships")
    assert client.google.messages[changed] == theirs


async def test_a_draft_whose_thread_or_place_is_gone_is_kept_all_the_same(client: GmailClient) -> None:
    await client.keep("Boats", thread_id="gone")
    assert client.google.subjects() == sorted(["Boats", *OTHERS])
    await client.keep("Ships", thread_id="gone")
    assert client.google.subjects() == sorted(["Ships", *OTHERS])
    client.google.messages.pop(client.google.drafts.pop(next(iter(client.google.drafts))))
    await client.keep("Rafts")
    assert client.google.subjects() == sorted(["Rafts", *OTHERS])
