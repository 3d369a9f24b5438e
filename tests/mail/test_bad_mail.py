"""Bad input, from the mailbox to the view of a thread: it is said where a person looks, and loses nothing."""

from __future__ import annotations

import dataclasses
import random
from typing import Final

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from svc.fakes.mail.provider import FakeProvider, Fault, Operation
from svc.formats.html import CleanHtml
from svc.formats.mime.model import MAX_PARTS
from svc.mail.accounts import wire as account_wire
from svc.mail.accounts.wire import AccountOut
from svc.mail.model import MessageHeaders
from svc.mail.providers.seam import HistoryChange, HistoryPage, ListPage, LostAnswer, RawMessage
from svc.mail.reading.wire import MessageOut
from svc.mail.sync.parsing import PARSE_DEADLINE_S
from svc.mail.threads.queries import decode_headers
from tests.formats.html.hostile_html import ADDRESSES, EVENTS_AND_SCRIPTS, REMOTE_CONTENT
from tests.formats.html.invariants import assert_harmless
from tests.formats.mime.golden import GOLDEN
from tests.recorded_log import RecordedLog
from tests.support.mailbox import MIA, Rig

YEAR_33658_MS: Final = 10**15


async def shown(rig: Rig, account_id: str) -> AccountOut:
    """The account as ``mail.accounts`` tells it."""
    return await rig.store.read(account_wire.account_summary, await rig.account(account_id))


async def view(rig: Rig, provider_message_id: str) -> MessageOut:
    detail = await rig.reader.thread(rig.principal, thread_id=await rig.thread_id_of(provider_message_id))
    return detail.messages[0]


async def headers(rig: Rig) -> MessageHeaders:
    ((encoded,),) = await rig.rows("select headers from mail_messages")
    return decode_headers(str(encoded))


async def arrived(rig: Rig, raw: bytes) -> MessageOut:
    """``raw`` in the mailbox, synced, and read."""
    message_id = await rig.inject(raw=raw)
    account_id = await rig.synced()
    assert await rig.failures() == []
    assert (await shown(rig, account_id)).failed == 0
    assert await rig.problems() == []
    return await view(rig, message_id)


# A provider in trouble


@pytest.mark.parametrize("operation", ["list", "history"])
@pytest.mark.parametrize(
    ("fault", "state", "problem"),
    [
        (401, "reconnect", "no longer accepts this connection"),
        (403, "waiting", "(403)"),
        (429, "waiting", "(429)"),
        (500, "waiting", "(500)"),
        ("timeout", "waiting", "did not answer in time"),
        ("cut", "waiting", "cut before"),
    ],
)
async def test_a_provider_that_fails_is_said_where_a_person_looks_and_costs_no_mail(
    rig: Rig, operation: Operation, fault: Fault, state: str, problem: str
) -> None:
    await rig.inject("one")
    account_id = await (rig.connect() if operation == "list" else rig.synced())
    await rig.inject("two")
    rig.world.fault(address=MIA, operation=operation, fault=fault, times=2)
    loop = rig.loop_of(account_id)
    await loop.sync_now()
    account = await shown(rig, account_id)
    assert account.state == state
    assert problem in str(account.problem)
    await loop.sync_now()
    await loop.sync_now()
    account = await shown(rig, account_id)
    assert (account.state, account.problem, account.messages, account.failed) == ("caught-up", None, 2, 0)


@pytest.mark.parametrize("fault", [429, 500, "timeout", "cut", 401])
async def test_a_fault_while_fetching_puts_no_message_on_the_ledger(rig: Rig, fault: Fault) -> None:
    for number in range(5):
        await rig.inject(f"Mail {number}")
    account_id = await rig.connect()
    rig.world.fault(address=MIA, operation="get", fault=fault, times=20)
    loop = rig.loop_of(account_id)
    for _ in range(30):
        await loop.sync_now()
    account = await shown(rig, account_id)
    assert (account.state, account.messages, account.failed) == ("caught-up", 5, 0)
    assert await rig.problems() == []


async def test_a_refused_message_is_counted_where_a_person_looks_and_comes_with_the_next_sweep(rig: Rig) -> None:
    await rig.inject("refused")
    account_id = await rig.connect()
    rig.world.fault(address=MIA, operation="get", fault=403, times=1)
    await rig.sync_of(account_id).step()
    assert (await shown(rig, account_id)).failed == 1
    await rig.world.expire_history(address=MIA)
    await rig.sync_of(account_id).step()
    account = await shown(rig, account_id)
    assert (account.messages, account.failed) == (1, 0)


class Strange(FakeProvider):
    """Answers nonsense, as a broken proxy or a hotel's login page would make of it."""

    async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
        raise LostAnswer("The provider's answer could not be read.")


async def test_nonsense_instead_of_an_answer_changes_nothing(rig: Rig) -> None:
    account_id = await rig.synced("one")
    before = (await rig.state(), (await rig.account(account_id)).cursor)
    loop = rig.loop_of(account_id, Strange(world=rig.world, address=MIA))
    await loop.sync_now()
    account = await shown(rig, account_id)
    assert (account.state, account.problem) == ("waiting", "The provider's answer could not be read.")
    assert (await rig.state(), (await rig.account(account_id)).cursor) == before


async def test_history_about_messages_nobody_knows_is_passed_by(rig: Rig) -> None:
    account_id = await rig.synced("one")
    before = await rig.state()

    class Confused(FakeProvider):
        async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
            changes = [
                HistoryChange(kind="deleted", message_id="gone", thread_id="t"),
                HistoryChange(kind="labels-added", message_id="gone", thread_id="t", labels=frozenset({"X"})),
                HistoryChange(kind="labels-removed", message_id="never", thread_id="t", labels=frozenset({"X"})),
                HistoryChange(kind="added", message_id="never", thread_id="t"),
            ]
            return HistoryPage(changes=tuple(changes), next_page_token=None, cursor=since)

    await rig.sync_of(account_id, Confused(world=rig.world, address=MIA)).step()
    assert await rig.state() == before
    assert await rig.failures() == []


@pytest.mark.thorough
async def test_pages_that_overlap_store_nothing_twice(rig: Rig) -> None:
    for number in range(250):
        await rig.inject(f"Mail {number}")
        await trio.sleep(1)

    class Overlapping(FakeProvider):
        async def list_messages(
            self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
        ) -> ListPage:
            page = await super().list_messages(label=label, page_token=page_token, limit=limit)
            token = page.next_page_token
            return ListPage(messages=page.messages, next_page_token=str(int(token) - 30) if token else None)

    account_id = await rig.connect()
    await rig.sync_of(account_id, Overlapping(world=rig.world, address=MIA)).step()
    assert (await rig.account(account_id)).messages == 250
    assert await rig.rows("select count(*) from events") == [(250,)]
    assert await rig.problems() == []


@pytest.mark.thorough
async def test_a_known_message_that_slips_between_two_pages_is_not_taken_for_deleted(rig: Rig) -> None:
    for number in range(210):
        await rig.inject(f"Mail {number}")
        await trio.sleep(1)
    account_id = await rig.synced()
    await rig.world.expire_history(address=MIA)

    class Shifting(FakeProvider):
        async def list_messages(
            self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
        ) -> ListPage:
            page = await super().list_messages(label=label, page_token=page_token, limit=limit)
            if label is None and limit == 100 and page_token is None:
                for ref in page.messages[:5]:
                    await rig.world.delete(address=MIA, message_id=ref.id)
            return page

    await rig.sync_of(account_id, Shifting(world=rig.world, address=MIA)).step()
    stored = await rig.rows("select provider_message_id from mail_messages")
    assert {row[0] for row in stored} == set(rig.world.mailbox(MIA).messages)
    assert len(stored) == 205


@pytest.mark.parametrize("received_at", [YEAR_33658_MS, -1, 10**30, None, 0])
async def test_a_date_of_arrival_beyond_any_calendar_stops_nobody(rig: Rig, received_at: int | None) -> None:
    await rig.inject("odd")
    await rig.inject("good")

    class Odd(FakeProvider):
        async def get(self, message_id: str) -> RawMessage:
            message = await super().get(message_id)
            return dataclasses.replace(message, received_at=received_at) if message_id == "fake-1" else message

    account_id = await rig.connect()
    await rig.sync_of(account_id, Odd(world=rig.world, address=MIA)).step()
    account = await rig.account(account_id)
    assert (account.state, account.messages) == ("caught-up", 2)
    assert await rig.failures() == []
    assert (await view(rig, "fake-1")).subject == "odd"


# Mail that was made to hurt, or just is what it is

MIXED: Final = b"Subject: many\nContent-Type: multipart/mixed; boundary=b\n\n"


async def test_ten_thousand_parts_are_one_message_with_as_many_as_are_allowed(rig: Rig) -> None:
    part = b"--b\nContent-Type: application/x-thing; name=f\n\nx\n"
    message = await arrived(rig, MIXED + part * 10_000 + b"--b--\n")
    assert message.subject == "many"
    assert 900 < len(message.attachments) <= MAX_PARTS
    assert any("parts" in problem for problem in (await headers(rig)).problems)


@pytest.mark.thorough
async def test_a_header_of_five_megabytes_is_cut_and_its_message_kept(rig: Rig) -> None:
    raw = b"From: Noa <noa@example.org>\nSubject: " + b"a" * 5_000_000 + b"\n\nHello\n"
    message = await arrived(rig, raw)
    assert message.subject == "" or set(message.subject[:-1]) == {"a"}
    assert message.from_.address == "noa@example.org"
    ((raw_sha256,),) = await rig.rows("select raw_sha256 from mail_messages")
    assert await rig.blobs.read(str(raw_sha256), limit=6_000_000) == raw


async def test_a_message_too_slow_to_parse_shows_its_head_and_keeps_its_bytes(
    rig: Rig, clock: MockClock, log: RecordedLog
) -> None:
    head = b"From: Noa <noa@example.org>\nSubject: slow\nContent-Transfer-Encoding: x-uuencode\n\nbegin 644 x\n"
    raw = head + b"!\n" * 6_000_000
    await rig.inject(raw=raw)
    account_id = await rig.connect()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(rig.sync_of(account_id).step)
        while "mail.parse_gave_up" not in log.events("warning"):
            await wait_all_tasks_blocked(0.2)
            clock.jump(PARSE_DEADLINE_S)
    message = await view(rig, "fake-1")
    assert (message.subject, message.from_.address, message.text) == ("slow", "noa@example.org", "")
    assert "only the header was read" in (await headers(rig)).problems
    ((size,),) = await rig.rows("select raw_size from mail_messages")
    assert size == len(raw)
    assert await rig.problems() == []


@pytest.mark.parametrize("charset", ["x-klingon", "utf-8-sig-none", "\\xff", "undefined", "idna", "rot13", "base64"])
async def test_an_unknown_charset_is_guessed(rig: Rig, charset: str) -> None:
    head = f"Subject: =?{charset}?q?caf=E9?=\nContent-Type: text/plain; charset={charset}\n\n".encode()
    message = await arrived(rig, head + b"caf\xe9 au lait\n")
    assert "au lait" in message.text
    assert "au lait" in message.html


async def test_text_that_no_database_takes_is_made_into_text_that_it_does(rig: Rig) -> None:
    raw = (
        b"From: =?utf-8?b?7aCA?= <a\x00b@example.org>\nSubject: =?utf-16-be?b?2AA=?= \x00 \xed\xa0\x80\n"
        b"Message-ID: <\xed\xa0\x80>\nContent-Type: text/html; charset=utf-16-le\n"
        b"Content-Disposition: inline; filename*=utf-8''%ED%A0%80%00\n\n<p>\x00\xd8</p>"
    )
    message = await arrived(rig, raw)
    assert_harmless_view(message)


async def test_odd_mails_go_the_whole_way(rig: Rig) -> None:
    for golden in GOLDEN:
        await rig.inject(raw=golden.raw)
    account_id = await rig.synced()
    assert (await rig.account(account_id)).messages == len(GOLDEN)
    assert await rig.failures() == []
    for number, golden in enumerate(GOLDEN, 1):
        message = await view(rig, f"fake-{number}")
        assert_harmless_view(message)
        assert len(message.attachments) == len(golden.attachments), golden.name


@pytest.mark.parametrize("family", [EVENTS_AND_SCRIPTS, ADDRESSES, REMOTE_CONTENT], ids=["scripts", "links", "remote"])
async def test_hostile_html_comes_out_harmless_through_the_whole_way(rig: Rig, family: tuple[str, ...]) -> None:
    for html in family:
        await rig.inject(raw=b"Content-Type: text/html; charset=utf-8\n\n" + html.encode("utf-8", "replace"))
    account_id = await rig.synced()
    assert (await rig.account(account_id)).messages == len(family)
    for number in range(1, len(family) + 1):
        assert_harmless_view(await view(rig, f"fake-{number}"))


async def test_any_bytes_at_all_are_a_message(rig: Rig) -> None:
    rng = random.Random(11)
    pieces = (b"\n", b"\n\n", b": ", b"--b", b"Content-Type: ", b"multipart/mixed; boundary=b", b"=?utf-8?q?", b"<p>")
    for _ in range(60):
        noise = [rng.choice(pieces) if rng.random() < 0.6 else rng.randbytes(rng.randrange(9)) for _ in range(60)]
        await rig.inject(raw=b"".join(noise))
    account_id = await rig.synced()
    assert (await rig.account(account_id)).messages == 60
    assert await rig.failures() == []
    for number in range(1, 61):
        assert_harmless_view(await view(rig, f"fake-{number}"))


def assert_harmless_view(message: MessageOut) -> None:
    assert_harmless(
        CleanHtml(html=message.html, blocked_images=message.blocked_images, remote_images=message.remote_images)
    )
