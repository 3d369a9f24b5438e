"""Bad input, from the mailbox to the view of a thread: it is reported where a person looks, and nothing is lost."""

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
from tests.support.mailbox import MIA, MailSync

YEAR_33658_MS: Final = 10**15


async def shown(mail_sync: MailSync, account_id: str) -> AccountOut:
    """The account as ``mail.accounts`` tells it."""
    return await mail_sync.store.read(account_wire.account_summary, await mail_sync.account(account_id))


async def view(mail_sync: MailSync, provider_message_id: str) -> MessageOut:
    detail = await mail_sync.reader.thread(
        mail_sync.principal, thread_id=await mail_sync.thread_id_of(provider_message_id)
    )
    return detail.messages[0]


async def headers(mail_sync: MailSync) -> MessageHeaders:
    ((encoded,),) = await mail_sync.rows("select headers from mail_messages")
    return decode_headers(str(encoded))


async def arrived(mail_sync: MailSync, raw: bytes) -> MessageOut:
    """``raw`` in the mailbox, synced, and read."""
    message_id = await mail_sync.inject(raw=raw)
    account_id = await mail_sync.synced()
    assert await mail_sync.failures() == []
    assert (await shown(mail_sync, account_id)).failed == 0
    assert await mail_sync.problems() == []
    return await view(mail_sync, message_id)


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
    mail_sync: MailSync, operation: Operation, fault: Fault, state: str, problem: str
) -> None:
    await mail_sync.inject("one")
    account_id = await (mail_sync.connect() if operation == "list" else mail_sync.synced())
    await mail_sync.inject("two")
    mail_sync.fake_mail.fault(address=MIA, operation=operation, fault=fault, times=2)
    loop = mail_sync.loop_of(account_id)
    await loop.sync_now()
    account = await shown(mail_sync, account_id)
    assert account.state == state
    assert problem in str(account.problem)
    await loop.sync_now()
    await loop.sync_now()
    account = await shown(mail_sync, account_id)
    assert (account.state, account.problem, account.messages, account.failed) == ("caught-up", None, 2, 0)


@pytest.mark.parametrize("fault", [429, 500, "timeout", "cut", 401])
async def test_a_fault_while_fetching_puts_no_message_on_the_ledger(mail_sync: MailSync, fault: Fault) -> None:
    for number in range(5):
        await mail_sync.inject(f"Mail {number}")
    account_id = await mail_sync.connect()
    mail_sync.fake_mail.fault(address=MIA, operation="get", fault=fault, times=20)
    loop = mail_sync.loop_of(account_id)
    for _ in range(30):
        await loop.sync_now()
    account = await shown(mail_sync, account_id)
    assert (account.state, account.messages, account.failed) == ("caught-up", 5, 0)
    assert await mail_sync.problems() == []


async def test_a_refused_message_is_counted_where_a_person_looks_and_comes_with_the_next_sweep(
    mail_sync: MailSync,
) -> None:
    await mail_sync.inject("refused")
    account_id = await mail_sync.connect()
    mail_sync.fake_mail.fault(address=MIA, operation="get", fault=403, times=1)
    await mail_sync.sync_of(account_id).step()
    assert (await shown(mail_sync, account_id)).failed == 1
    await mail_sync.fake_mail.expire_history(address=MIA)
    await mail_sync.sync_of(account_id).step()
    account = await shown(mail_sync, account_id)
    assert (account.messages, account.failed) == (1, 0)


class Strange(FakeProvider):
    """Answers nonsense, as a broken proxy or a hotel's login page would make of it."""

    async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
        raise LostAnswer("The provider's answer could not be read.")


async def test_nonsense_instead_of_an_answer_changes_nothing(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    before = (await mail_sync.state(), (await mail_sync.account(account_id)).cursor)
    loop = mail_sync.loop_of(account_id, Strange(world=mail_sync.fake_mail, address=MIA))
    await loop.sync_now()
    account = await shown(mail_sync, account_id)
    assert (account.state, account.problem) == ("waiting", "The provider's answer could not be read.")
    assert (await mail_sync.state(), (await mail_sync.account(account_id)).cursor) == before


async def test_history_about_messages_nobody_knows_is_passed_by(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    before = await mail_sync.state()

    class Confused(FakeProvider):
        async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
            changes = [
                HistoryChange(kind="deleted", message_id="gone", thread_id="t"),
                HistoryChange(kind="labels-added", message_id="gone", thread_id="t", labels=frozenset({"X"})),
                HistoryChange(kind="labels-removed", message_id="never", thread_id="t", labels=frozenset({"X"})),
                HistoryChange(kind="added", message_id="never", thread_id="t"),
            ]
            return HistoryPage(changes=tuple(changes), next_page_token=None, cursor=since)

    await mail_sync.sync_of(account_id, Confused(world=mail_sync.fake_mail, address=MIA)).step()
    assert await mail_sync.state() == before
    assert await mail_sync.failures() == []


@pytest.mark.thorough
async def test_pages_that_overlap_store_nothing_twice(mail_sync: MailSync) -> None:
    for number in range(250):
        await mail_sync.inject(f"Mail {number}")
        await trio.sleep(1)

    class Overlapping(FakeProvider):
        async def list_messages(
            self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
        ) -> ListPage:
            page = await super().list_messages(label=label, page_token=page_token, limit=limit)
            token = page.next_page_token
            return ListPage(messages=page.messages, next_page_token=str(int(token) - 30) if token else None)

    account_id = await mail_sync.connect()
    await mail_sync.sync_of(account_id, Overlapping(world=mail_sync.fake_mail, address=MIA)).step()
    assert (await mail_sync.account(account_id)).messages == 250
    assert await mail_sync.rows("select count(*) from events") == [(250,)]
    assert await mail_sync.problems() == []


@pytest.mark.thorough
async def test_a_known_message_that_slips_between_two_pages_is_not_taken_for_deleted(mail_sync: MailSync) -> None:
    for number in range(210):
        await mail_sync.inject(f"Mail {number}")
        await trio.sleep(1)
    account_id = await mail_sync.synced()
    await mail_sync.fake_mail.expire_history(address=MIA)

    class Shifting(FakeProvider):
        async def list_messages(
            self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
        ) -> ListPage:
            page = await super().list_messages(label=label, page_token=page_token, limit=limit)
            if label is None and limit == 100 and page_token is None:
                for ref in page.messages[:5]:
                    await mail_sync.fake_mail.delete(address=MIA, message_id=ref.id)
            return page

    await mail_sync.sync_of(account_id, Shifting(world=mail_sync.fake_mail, address=MIA)).step()
    stored = await mail_sync.rows("select provider_message_id from mail_messages")
    assert {row[0] for row in stored} == set(mail_sync.fake_mail.mailbox(MIA).messages)
    assert len(stored) == 205


@pytest.mark.parametrize("received_at", [YEAR_33658_MS, -1, 10**30, None, 0])
async def test_a_date_of_arrival_beyond_any_calendar_stops_nobody(mail_sync: MailSync, received_at: int | None) -> None:
    await mail_sync.inject("odd")
    await mail_sync.inject("good")

    class Odd(FakeProvider):
        async def get(self, message_id: str) -> RawMessage:
            message = await super().get(message_id)
            return dataclasses.replace(message, received_at=received_at) if message_id == "fake-1" else message

    account_id = await mail_sync.connect()
    await mail_sync.sync_of(account_id, Odd(world=mail_sync.fake_mail, address=MIA)).step()
    account = await mail_sync.account(account_id)
    assert (account.state, account.messages) == ("caught-up", 2)
    assert await mail_sync.failures() == []
    assert (await view(mail_sync, "fake-1")).subject == "odd"


# Mail that was made to hurt, or just is what it is

MIXED: Final = b"Subject: many\nContent-Type: multipart/mixed; boundary=b\n\n"


async def test_ten_thousand_parts_are_one_message_with_as_many_as_are_allowed(mail_sync: MailSync) -> None:
    part = b"--b\nContent-Type: application/x-thing; name=f\n\nx\n"
    message = await arrived(mail_sync, MIXED + part * 10_000 + b"--b--\n")
    assert message.subject == "many"
    assert 900 < len(message.attachments) <= MAX_PARTS
    assert any("parts" in problem for problem in (await headers(mail_sync)).problems)


@pytest.mark.thorough
async def test_a_header_of_five_megabytes_is_cut_and_its_message_kept(mail_sync: MailSync) -> None:
    raw = b"From: Noa <noa@example.org>\nSubject: " + b"a" * 5_000_000 + b"\n\nHello\n"
    message = await arrived(mail_sync, raw)
    assert message.subject == "" or set(message.subject[:-1]) == {"a"}
    assert message.from_.address == "noa@example.org"
    ((raw_sha256,),) = await mail_sync.rows("select raw_sha256 from mail_messages")
    assert await mail_sync.blobs.read(str(raw_sha256), limit=6_000_000) == raw


async def test_a_message_too_slow_to_parse_shows_its_head_and_keeps_its_bytes(
    mail_sync: MailSync, clock: MockClock, log: RecordedLog
) -> None:
    head = b"From: Noa <noa@example.org>\nSubject: slow\nContent-Transfer-Encoding: x-uuencode\n\nbegin 644 x\n"
    raw = head + b"!\n" * 6_000_000
    await mail_sync.inject(raw=raw)
    account_id = await mail_sync.connect()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(mail_sync.sync_of(account_id).step)
        while "mail.parse_gave_up" not in log.events("warning"):
            await wait_all_tasks_blocked(0.2)
            clock.jump(PARSE_DEADLINE_S)
    message = await view(mail_sync, "fake-1")
    assert (message.subject, message.from_.address, message.text) == ("slow", "noa@example.org", "")
    assert "only the header was read" in (await headers(mail_sync)).problems
    ((size,),) = await mail_sync.rows("select raw_size from mail_messages")
    assert size == len(raw)
    assert await mail_sync.problems() == []


@pytest.mark.parametrize("charset", ["x-klingon", "utf-8-sig-none", "\\xff", "undefined", "idna", "rot13", "base64"])
async def test_an_unknown_charset_is_guessed(mail_sync: MailSync, charset: str) -> None:
    head = f"Subject: =?{charset}?q?caf=E9?=\nContent-Type: text/plain; charset={charset}\n\n".encode()
    message = await arrived(mail_sync, head + b"caf\xe9 au lait\n")
    assert "au lait" in message.text
    assert "au lait" in message.html


async def test_text_that_no_database_takes_is_made_into_text_that_it_does(mail_sync: MailSync) -> None:
    raw = (
        b"From: =?utf-8?b?7aCA?= <a\x00b@example.org>\nSubject: =?utf-16-be?b?2AA=?= \x00 \xed\xa0\x80\n"
        b"Message-ID: <\xed\xa0\x80>\nContent-Type: text/html; charset=utf-16-le\n"
        b"Content-Disposition: inline; filename*=utf-8''%ED%A0%80%00\n\n<p>\x00\xd8</p>"
    )
    message = await arrived(mail_sync, raw)
    assert_harmless_view(message)


async def test_odd_mails_go_the_whole_way(mail_sync: MailSync) -> None:
    for golden in GOLDEN:
        await mail_sync.inject(raw=golden.raw)
    account_id = await mail_sync.synced()
    assert (await mail_sync.account(account_id)).messages == len(GOLDEN)
    assert await mail_sync.failures() == []
    for number, golden in enumerate(GOLDEN, 1):
        message = await view(mail_sync, f"fake-{number}")
        assert_harmless_view(message)
        assert len(message.attachments) == len(golden.attachments), golden.name


@pytest.mark.parametrize("family", [EVENTS_AND_SCRIPTS, ADDRESSES, REMOTE_CONTENT], ids=["scripts", "links", "remote"])
async def test_hostile_html_comes_out_harmless_through_the_whole_way(
    mail_sync: MailSync, family: tuple[str, ...]
) -> None:
    for html in family:
        await mail_sync.inject(raw=b"Content-Type: text/html; charset=utf-8\n\n" + html.encode("utf-8", "replace"))
    account_id = await mail_sync.synced()
    assert (await mail_sync.account(account_id)).messages == len(family)
    for number in range(1, len(family) + 1):
        assert_harmless_view(await view(mail_sync, f"fake-{number}"))


async def test_any_bytes_at_all_are_a_message(mail_sync: MailSync) -> None:
    rng = random.Random(11)
    pieces = (b"\n", b"\n\n", b": ", b"--b", b"Content-Type: ", b"multipart/mixed; boundary=b", b"=?utf-8?q?", b"<p>")
    for _ in range(60):
        noise = [rng.choice(pieces) if rng.random() < 0.6 else rng.randbytes(rng.randrange(9)) for _ in range(60)]
        await mail_sync.inject(raw=b"".join(noise))
    account_id = await mail_sync.synced()
    assert (await mail_sync.account(account_id)).messages == 60
    assert await mail_sync.failures() == []
    for number in range(1, 61):
        assert_harmless_view(await view(mail_sync, f"fake-{number}"))


def assert_harmless_view(message: MessageOut) -> None:
    assert_harmless(
        CleanHtml(html=message.html, blocked_images=message.blocked_images, remote_images=message.remote_images)
    )
