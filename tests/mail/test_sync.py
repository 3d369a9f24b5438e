"""One account's sync: full syncs, polls, expired history, and the same end from every disorder on the way."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from svc.clock import DAY_MS, VirtualClock
from svc.fakes.mail.provider import FakeProvider
from svc.log import Log
from svc.mail.providers.seam import HistoryPage, ListPage, MessageRef, RawMessage, Unreachable
from svc.mail.sync import account_sync
from svc.mail.threads.tables import DRAFTS_NOT_RECEIVED
from svc.nursery import ThreadPool
from svc.store import Tx
from tests.cancel_everywhere import Interrupted, cancel_everywhere
from tests.sizes import CUT_STRIDE
from tests.support.mailbox import MIA, MailSync, State, mail, open_mail_sync


@pytest.mark.thorough
async def test_a_first_sweep_stores_every_message_once_with_its_labels(mail_sync: MailSync) -> None:
    for number in range(250):
        await mail_sync.inject(f"Mail {number}", thread=f"t{number % 40}")
    account_id = await mail_sync.connect()
    await mail_sync.sync_of(account_id).step()
    account = await mail_sync.account(account_id)
    assert (account.state, account.messages, account.progress_done) == ("caught-up", 250, 250)
    assert account.unread_threads == 40
    assert await mail_sync.problems() == []


async def test_after_a_first_sweep_the_query_planner_knows_how_much_there_is(mail_sync: MailSync) -> None:
    for number in range(3):
        await mail_sync.inject(f"Mail {number}")
    await mail_sync.sync_of(await mail_sync.connect()).step()
    assert "3 1" in await mail_sync.store.read(
        lambda tx: [stat for (stat,) in tx.all("select stat from sqlite_stat1 where tbl = 'mail_messages'")]
    )


async def test_new_mail_label_changes_and_deletions_arrive_by_polling(mail_sync: MailSync) -> None:
    kept, archived, gone = [await mail_sync.inject(subject) for subject in ("kept", "archived", "gone")]
    account_id = await mail_sync.connect()
    sync = mail_sync.sync_of(account_id)
    await sync.step()
    await mail_sync.inject("new")
    await mail_sync.fake_mail.set_labels(address=MIA, message_id=archived, labels=frozenset({"STARRED"}))
    await mail_sync.fake_mail.delete(address=MIA, message_id=gone)
    await sync.step()
    rows = {row[2]: row[3] for row in (await mail_sync.state())["messages"]}
    assert rows == {"kept": '["INBOX","UNREAD"]', "archived": '["STARRED"]', "new": '["INBOX","UNREAD"]'}
    assert (await mail_sync.account(account_id)).unread_threads == 2
    assert await mail_sync.problems() == []
    assert kept


async def test_an_expired_history_is_swept_again_in_silence_and_repairs_the_gap(mail_sync: MailSync) -> None:
    first, second, third = [await mail_sync.inject(subject) for subject in ("one", "two", "three")]
    account_id = await mail_sync.connect()
    sync = mail_sync.sync_of(account_id)
    await sync.step()
    await mail_sync.fake_mail.set_labels(address=MIA, message_id=first, labels=frozenset())
    await mail_sync.fake_mail.delete(address=MIA, message_id=second)
    await mail_sync.inject("four")
    await mail_sync.fake_mail.expire_history(address=MIA)
    await sync.step()
    rows = {row[2]: row[3] for row in (await mail_sync.state())["messages"]}
    assert rows == {"one": "[]", "three": '["INBOX","UNREAD"]', "four": '["INBOX","UNREAD"]'}
    account = await mail_sync.account(account_id)
    assert (account.state, account.problem) == ("caught-up", None)
    assert await mail_sync.problems() == []
    assert third


@pytest.mark.thorough
async def test_mail_that_arrives_while_the_sweep_runs_is_not_missed(mail_sync: MailSync) -> None:
    for number in range(150):
        await mail_sync.inject(f"Mail {number}")

    class Arriving(FakeProvider):
        async def list_messages(
            self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
        ) -> ListPage:
            page = await super().list_messages(label=label, page_token=page_token, limit=limit)
            if label is None and limit == 100:
                await mail_sync.inject(f"during page {page_token}")
            return page

    account_id = await mail_sync.connect()
    await mail_sync.sync_of(account_id, Arriving(world=mail_sync.fake_mail, address=MIA)).step()
    assert (await mail_sync.account(account_id)).messages == 152


async def test_a_message_that_cannot_be_fetched_alone_stops_nobody(mail_sync: MailSync) -> None:
    bad = await mail_sync.inject("bad")
    await mail_sync.inject("good")
    mail_sync.fake_mail.fault(address=MIA, operation="get", fault=403, times=1)
    account_id = await mail_sync.connect()
    await mail_sync.sync_of(account_id).step()
    account = await mail_sync.account(account_id)
    assert (account.state, account.messages) == ("caught-up", 1)
    failures = await mail_sync.store.read(lambda tx: tx.all("select provider_message_id, step from mail_ledger"))
    assert len(failures) == 1
    assert failures[0][1] == "fetch"
    assert bad


@pytest.mark.thorough
async def test_a_page_that_fails_in_the_middle_is_asked_for_again(mail_sync: MailSync) -> None:
    for number in range(230):
        await mail_sync.inject(f"Mail {number}")
    account_id = await mail_sync.connect()
    sync = mail_sync.sync_of(account_id)
    mail_sync.fake_mail.fault(address=MIA, operation="get", fault="cut", times=6)
    with pytest.raises(Unreachable):
        await sync.step()
    assert (await mail_sync.account(account_id)).cursor is None
    await sync.step()
    assert (await mail_sync.account(account_id)).messages == 230
    assert await mail_sync.problems() == []


async def test_a_listing_that_goes_in_circles_ends_as_a_fault(mail_sync: MailSync) -> None:
    await mail_sync.inject()

    class Circular(FakeProvider):
        async def list_messages(
            self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
        ) -> ListPage:
            return ListPage(messages=(MessageRef(id="fake-1", thread_id="t"),), next_page_token="again")

    account_id = await mail_sync.connect()
    with pytest.raises(Unreachable, match="again and again"):
        await mail_sync.sync_of(account_id, Circular(world=mail_sync.fake_mail, address=MIA)).step()


@pytest.mark.share(2)
@pytest.mark.thorough
@pytest.mark.parametrize("is_expired", [False, True])
async def test_of_the_list_of_a_mailbox_no_more_than_a_page_is_held(
    mail_sync: MailSync, monkeypatch: pytest.MonkeyPatch, is_expired: bool
) -> None:
    """Of a large mailbox the whole list would be tens of megabytes."""
    monkeypatch.setattr(account_sync, "ID_PAGE_SIZE", 10)
    for number in range(95):
        await mail_sync.inject(f"Mail {number}")
    account_id = await mail_sync.connect()
    if is_expired:
        await mail_sync.sync_of(account_id).step()
        await mail_sync.fake_mail.expire_history(address=MIA)
    listed, held = weakref.WeakSet[MessageRef](), list[int]()

    class Watched(FakeProvider):
        async def list_messages(
            self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
        ) -> ListPage:
            page = await super().list_messages(label=label, page_token=page_token, limit=limit)
            if limit != 10:
                return page
            gc.collect()
            held.append(len(listed))
            page = replace(page, messages=tuple(replace(ref) for ref in page.messages))
            for ref in page.messages:
                listed.add(ref)
            return page

    await mail_sync.sync_of(account_id, Watched(world=mail_sync.fake_mail, address=MIA)).step()
    assert (await mail_sync.account(account_id)).messages == 95
    assert len(held) >= 10
    assert max(held) <= 20


async def test_repeated_and_doubled_history_changes_nothing(mail_sync: MailSync) -> None:
    message = await mail_sync.inject("one")
    account_id = await mail_sync.connect()
    await mail_sync.sync_of(account_id).step()

    class Doubling(FakeProvider):
        async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
            page = await super().history(since="0", page_token=page_token)  # all of it, again
            return HistoryPage(changes=page.changes * 2, next_page_token=None, cursor=page.cursor)

    doubling = mail_sync.sync_of(account_id, Doubling(world=mail_sync.fake_mail, address=MIA))
    await mail_sync.fake_mail.set_labels(address=MIA, message_id=message, labels=frozenset({"INBOX"}))
    await mail_sync.inject("two")
    await doubling.step()
    before = await mail_sync.state()
    await doubling.step()
    assert await mail_sync.state() == before
    events = await mail_sync.store.read(lambda tx: tx.value("select count(*) from events where type = 'mail-received'"))
    assert events == 2
    assert await mail_sync.problems() == []


async def test_a_message_deleted_between_list_and_get_is_skipped(mail_sync: MailSync) -> None:
    await mail_sync.inject("stays")
    await mail_sync.inject("goes")

    class Vanishing(FakeProvider):
        async def get(self, message_id: str) -> RawMessage:
            if message_id == "fake-2" and "fake-2" in mail_sync.fake_mail.mailbox(MIA).messages:
                await mail_sync.fake_mail.delete(address=MIA, message_id="fake-2")
            return await super().get(message_id)

    account_id = await mail_sync.connect()
    await mail_sync.sync_of(account_id, Vanishing(world=mail_sync.fake_mail, address=MIA)).step()
    account = await mail_sync.account(account_id)
    assert (account.state, account.messages) == ("caught-up", 1)


async def test_a_date_in_the_future_does_not_pin_a_thread_to_the_top(mail_sync: MailSync) -> None:
    await mail_sync.inject("liar", raw=mail("liar", date="Sat, 01 Jan 2099 00:00:00 +0000"))
    await trio.sleep(60)
    await mail_sync.inject("honest")
    account_id = await mail_sync.connect()
    await mail_sync.sync_of(account_id).step()
    threads = (await mail_sync.state())["threads"]
    newest = max(threads, key=lambda row: row[7])
    assert newest[1] == "honest"


async def test_an_older_message_that_comes_later_does_not_lead_its_thread(mail_sync: MailSync) -> None:
    await mail_sync.inject(thread="t", raw=mail("Re: plan", text="newest", date="Tue, 20 Oct 2026 10:00:00 +0000"))
    account_id = await mail_sync.connect()
    sync = mail_sync.sync_of(account_id)
    await sync.step()
    await mail_sync.inject(thread="t", raw=mail("plan", text="oldest", date="Mon, 19 Oct 2026 10:00:00 +0000"))
    await sync.step()
    (thread,) = (await mail_sync.state())["threads"]
    assert thread[1:4] == ("Re: plan", "newest", 2)


async def test_mail_that_had_arrived_long_before_the_last_poll_is_no_new_mail(mail_sync: MailSync) -> None:
    """A mail that was marked as deleted, and is so no more; or one that a person copied there."""

    class ThereFor(FakeProvider):
        since_ms = 2 * DAY_MS

        async def get(self, message_id: str) -> RawMessage:
            found = await super().get(message_id)
            assert found.received_at is not None
            return replace(found, received_at=found.received_at - self.since_ms)

    account_id = await mail_sync.synced("first")
    provider = ThereFor(world=mail_sync.fake_mail, address=MIA)
    await mail_sync.inject("there again")
    await mail_sync.sync_of(account_id, provider).step()
    provider.since_ms = DAY_MS // 2
    await mail_sync.inject("late by hours")
    await mail_sync.sync_of(account_id, provider).step()
    await mail_sync.inject("while nobody looked")
    await trio.sleep(3 * DAY_MS / 1_000)
    await mail_sync.sync_of(account_id).step()
    backfill = "json_extract(payload, '$.subject'), json_extract(payload, '$.backfill')"
    events = await mail_sync.rows(f"select {backfill} from events where type = 'mail-received' order by 1")
    assert events == [("first", 1), ("late by hours", 0), ("there again", 1), ("while nobody looked", 0)]


async def test_a_draft_at_the_provider_is_no_received_mail_whatever_else_it_carries(mail_sync: MailSync) -> None:
    labels = frozenset({"DRAFT", "INBOX", "UNREAD"})
    await mail_sync.inject("Hello", thread="t")
    await trio.sleep(60)
    draft = await mail_sync.inject("My answer", thread="t", labels=labels)
    alone = await mail_sync.inject("Alone", labels=labels)
    account_id = await mail_sync.synced()
    assert await mail_sync.rows("select subject, in_inbox, unread, visible from mail_threads order by subject") == [
        ("Alone", 0, 0, 0),
        ("Hello", 1, 1, 1),
    ]
    assert (await mail_sync.account(account_id)).unread_threads == 1
    events = await mail_sync.rows(
        """
        select json_extract(payload, '$.subject'), json_extract(payload, '$.own') from events
        where type = 'mail-received' order by 1
        """
    )
    assert events == [("Alone", 1), ("Hello", 0), ("My answer", 1)]
    for message_id in (draft, alone):  # sent from there, the same message is mail like any other
        await mail_sync.fake_mail.set_labels(address=MIA, message_id=message_id, labels=frozenset({"INBOX"}))
    await mail_sync.sync_of(account_id).step()
    assert await mail_sync.rows("select sum(in_inbox) from mail_messages") == [(3,)]
    assert await mail_sync.problems() == []


async def test_a_home_that_counted_drafts_as_received_counts_anew(mail_sync: MailSync) -> None:
    await mail_sync.inject("Hello", thread="t")
    await mail_sync.inject("Draft", thread="t", labels=frozenset({"DRAFT", "INBOX", "UNREAD"}))
    await mail_sync.inject("Alone", labels=frozenset({"DRAFT", "INBOX", "UNREAD"}))
    await mail_sync.synced()
    right = await mail_sync.state()

    def as_it_was(tx: Tx) -> None:
        tx.run("update mail_messages set in_inbox = 1")
        tx.run("update mail_threads set in_inbox = messages")
        tx.run("update mail_accounts set unread_threads = 2")

    def anew(tx: Tx) -> None:
        for statement in DRAFTS_NOT_RECEIVED:
            tx.run(statement)

    await mail_sync.store.write(as_it_was)
    assert await mail_sync.problems() != []
    await mail_sync.store.write(anew)
    assert await mail_sync.problems() == []
    assert await mail_sync.state() == right


async def test_spam_and_trash_stand_in_neither_section_and_count_as_no_unread(mail_sync: MailSync) -> None:
    await mail_sync.inject("spam", labels=frozenset({"SPAM", "UNREAD"}))
    await mail_sync.inject("trash", labels=frozenset({"TRASH", "UNREAD"}))
    account_id = await mail_sync.connect()
    await mail_sync.sync_of(account_id).step()
    rows = await mail_sync.store.read(lambda tx: tx.all("select in_inbox, unread, visible from mail_threads"))
    assert rows == [(0, 0, 0), (0, 0, 0)]
    assert (await mail_sync.account(account_id)).messages == 2


@pytest.mark.thorough
async def test_a_sweep_cancelled_anywhere_converges(
    tmp_path: Path, wall: VirtualClock, log: Log, threads: ThreadPool
) -> None:
    async with open_mail_sync(tmp_path / "whole", clock=wall, log=log, threads=threads) as whole:
        expected = await _swept(whole)

    attempts = iter(range(10_000))

    async def attempt(run: Interrupted) -> None:
        async with open_mail_sync(tmp_path / str(next(attempts)), clock=wall, log=log, threads=threads) as mail_sync:
            await _fill(mail_sync)
            sync = mail_sync.sync_of(await mail_sync.connect())
            await run(sync.step)
            await sync.step()
            assert await mail_sync.state() == expected
            assert await mail_sync.problems() == []

    assert await cancel_everywhere(attempt, every=CUT_STRIDE) > 10


async def _fill(mail_sync: MailSync) -> None:
    for number in range(3):
        await mail_sync.inject(
            raw=mail(f"Mail {number}", date=f"Mon, 19 Oct 2026 10:0{number}:00 +0000"), thread=f"t{number % 2}"
        )


async def _swept(mail_sync: MailSync) -> State:
    await _fill(mail_sync)
    account_id = await mail_sync.connect()
    await mail_sync.sync_of(account_id).step()
    return await mail_sync.state()
