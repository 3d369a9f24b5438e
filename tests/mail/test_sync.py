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
from tests.support.mailbox import MIA, Rig, State, mail, open_rig


@pytest.mark.thorough
async def test_a_first_sweep_stores_every_message_once_with_its_labels(rig: Rig) -> None:
    for number in range(250):
        await rig.inject(f"Mail {number}", thread=f"t{number % 40}")
    account_id = await rig.connect()
    await rig.sync_of(account_id).step()
    account = await rig.account(account_id)
    assert (account.state, account.messages, account.progress_done) == ("caught-up", 250, 250)
    assert account.unread_threads == 40
    assert await rig.problems() == []


async def test_after_a_first_sweep_the_query_planner_knows_how_much_there_is(rig: Rig) -> None:
    for number in range(3):
        await rig.inject(f"Mail {number}")
    await rig.sync_of(await rig.connect()).step()
    assert "3 1" in await rig.store.read(
        lambda tx: [stat for (stat,) in tx.all("select stat from sqlite_stat1 where tbl = 'mail_messages'")]
    )


async def test_new_mail_label_changes_and_deletions_arrive_by_polling(rig: Rig) -> None:
    kept, archived, gone = [await rig.inject(subject) for subject in ("kept", "archived", "gone")]
    account_id = await rig.connect()
    sync = rig.sync_of(account_id)
    await sync.step()
    await rig.inject("new")
    await rig.world.set_labels(address=MIA, message_id=archived, labels=frozenset({"STARRED"}))
    await rig.world.delete(address=MIA, message_id=gone)
    await sync.step()
    rows = {row[2]: row[3] for row in (await rig.state())["messages"]}
    assert rows == {"kept": '["INBOX","UNREAD"]', "archived": '["STARRED"]', "new": '["INBOX","UNREAD"]'}
    assert (await rig.account(account_id)).unread_threads == 2
    assert await rig.problems() == []
    assert kept


async def test_an_expired_history_is_swept_again_in_silence_and_repairs_the_gap(rig: Rig) -> None:
    first, second, third = [await rig.inject(subject) for subject in ("one", "two", "three")]
    account_id = await rig.connect()
    sync = rig.sync_of(account_id)
    await sync.step()
    await rig.world.set_labels(address=MIA, message_id=first, labels=frozenset())
    await rig.world.delete(address=MIA, message_id=second)
    await rig.inject("four")
    await rig.world.expire_history(address=MIA)
    await sync.step()
    rows = {row[2]: row[3] for row in (await rig.state())["messages"]}
    assert rows == {"one": "[]", "three": '["INBOX","UNREAD"]', "four": '["INBOX","UNREAD"]'}
    account = await rig.account(account_id)
    assert (account.state, account.problem) == ("caught-up", None)
    assert await rig.problems() == []
    assert third


@pytest.mark.thorough
async def test_mail_that_arrives_while_the_sweep_runs_is_not_missed(rig: Rig) -> None:
    for number in range(150):
        await rig.inject(f"Mail {number}")

    class Arriving(FakeProvider):
        async def list_messages(
            self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
        ) -> ListPage:
            page = await super().list_messages(label=label, page_token=page_token, limit=limit)
            if label is None and limit == 100:
                await rig.inject(f"during page {page_token}")
            return page

    account_id = await rig.connect()
    await rig.sync_of(account_id, Arriving(world=rig.world, address=MIA)).step()
    assert (await rig.account(account_id)).messages == 152


async def test_a_message_that_cannot_be_fetched_alone_stops_nobody(rig: Rig) -> None:
    bad = await rig.inject("bad")
    await rig.inject("good")
    rig.world.fault(address=MIA, operation="get", fault=403, times=1)
    account_id = await rig.connect()
    await rig.sync_of(account_id).step()
    account = await rig.account(account_id)
    assert (account.state, account.messages) == ("caught-up", 1)
    failures = await rig.store.read(lambda tx: tx.all("select provider_message_id, step from mail_ledger"))
    assert len(failures) == 1
    assert failures[0][1] == "fetch"
    assert bad


@pytest.mark.thorough
async def test_a_page_that_fails_in_the_middle_is_asked_for_again(rig: Rig) -> None:
    for number in range(230):
        await rig.inject(f"Mail {number}")
    account_id = await rig.connect()
    sync = rig.sync_of(account_id)
    rig.world.fault(address=MIA, operation="get", fault="cut", times=6)
    with pytest.raises(Unreachable):
        await sync.step()
    assert (await rig.account(account_id)).cursor is None
    await sync.step()
    assert (await rig.account(account_id)).messages == 230
    assert await rig.problems() == []


async def test_a_listing_that_goes_in_circles_ends_as_a_fault(rig: Rig) -> None:
    await rig.inject()

    class Circular(FakeProvider):
        async def list_messages(
            self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
        ) -> ListPage:
            return ListPage(messages=(MessageRef(id="fake-1", thread_id="t"),), next_page_token="again")

    account_id = await rig.connect()
    with pytest.raises(Unreachable, match="again and again"):
        await rig.sync_of(account_id, Circular(world=rig.world, address=MIA)).step()


@pytest.mark.share(2)
@pytest.mark.thorough
@pytest.mark.parametrize("is_expired", [False, True])
async def test_of_the_list_of_a_mailbox_no_more_than_a_page_is_held(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, is_expired: bool
) -> None:
    """Of a large mailbox the whole list would be tens of megabytes."""
    monkeypatch.setattr(account_sync, "ID_PAGE_SIZE", 10)
    for number in range(95):
        await rig.inject(f"Mail {number}")
    account_id = await rig.connect()
    if is_expired:
        await rig.sync_of(account_id).step()
        await rig.world.expire_history(address=MIA)
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

    await rig.sync_of(account_id, Watched(world=rig.world, address=MIA)).step()
    assert (await rig.account(account_id)).messages == 95
    assert len(held) >= 10
    assert max(held) <= 20


async def test_repeated_and_doubled_history_changes_nothing(rig: Rig) -> None:
    message = await rig.inject("one")
    account_id = await rig.connect()
    await rig.sync_of(account_id).step()

    class Doubling(FakeProvider):
        async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
            page = await super().history(since="0", page_token=page_token)  # all of it, again
            return HistoryPage(changes=page.changes * 2, next_page_token=None, cursor=page.cursor)

    doubling = rig.sync_of(account_id, Doubling(world=rig.world, address=MIA))
    await rig.world.set_labels(address=MIA, message_id=message, labels=frozenset({"INBOX"}))
    await rig.inject("two")
    await doubling.step()
    before = await rig.state()
    await doubling.step()
    assert await rig.state() == before
    events = await rig.store.read(lambda tx: tx.value("select count(*) from events where type = 'mail-received'"))
    assert events == 2
    assert await rig.problems() == []


async def test_a_message_deleted_between_list_and_get_is_skipped(rig: Rig) -> None:
    await rig.inject("stays")
    await rig.inject("goes")

    class Vanishing(FakeProvider):
        async def get(self, message_id: str) -> RawMessage:
            if message_id == "fake-2" and "fake-2" in rig.world.mailbox(MIA).messages:
                await rig.world.delete(address=MIA, message_id="fake-2")
            return await super().get(message_id)

    account_id = await rig.connect()
    await rig.sync_of(account_id, Vanishing(world=rig.world, address=MIA)).step()
    account = await rig.account(account_id)
    assert (account.state, account.messages) == ("caught-up", 1)


async def test_a_date_in_the_future_does_not_pin_a_thread_to_the_top(rig: Rig) -> None:
    await rig.inject("liar", raw=mail("liar", date="Sat, 01 Jan 2099 00:00:00 +0000"))
    await trio.sleep(60)
    await rig.inject("honest")
    account_id = await rig.connect()
    await rig.sync_of(account_id).step()
    threads = (await rig.state())["threads"]
    newest = max(threads, key=lambda row: row[7])
    assert newest[1] == "honest"


async def test_an_older_message_that_comes_later_does_not_lead_its_thread(rig: Rig) -> None:
    await rig.inject(thread="t", raw=mail("Re: plan", text="newest", date="Tue, 20 Oct 2026 10:00:00 +0000"))
    account_id = await rig.connect()
    sync = rig.sync_of(account_id)
    await sync.step()
    await rig.inject(thread="t", raw=mail("plan", text="oldest", date="Mon, 19 Oct 2026 10:00:00 +0000"))
    await sync.step()
    (thread,) = (await rig.state())["threads"]
    assert thread[1:4] == ("Re: plan", "newest", 2)


async def test_mail_that_had_arrived_long_before_the_last_poll_is_no_new_mail(rig: Rig) -> None:
    """A mail that was marked as deleted, and is so no more; or one that a person copied there."""

    class ThereFor(FakeProvider):
        since_ms = 2 * DAY_MS

        async def get(self, message_id: str) -> RawMessage:
            found = await super().get(message_id)
            assert found.received_at is not None
            return replace(found, received_at=found.received_at - self.since_ms)

    account_id = await rig.synced("first")
    provider = ThereFor(world=rig.world, address=MIA)
    await rig.inject("there again")
    await rig.sync_of(account_id, provider).step()
    provider.since_ms = DAY_MS // 2
    await rig.inject("late by hours")
    await rig.sync_of(account_id, provider).step()
    await rig.inject("while nobody looked")
    await trio.sleep(3 * DAY_MS / 1_000)
    await rig.sync_of(account_id).step()
    backfill = "json_extract(payload, '$.subject'), json_extract(payload, '$.backfill')"
    events = await rig.rows(f"select {backfill} from events where type = 'mail-received' order by 1")
    assert events == [("first", 1), ("late by hours", 0), ("there again", 1), ("while nobody looked", 0)]


async def test_a_draft_at_the_provider_is_no_received_mail_whatever_else_it_carries(rig: Rig) -> None:
    labels = frozenset({"DRAFT", "INBOX", "UNREAD"})
    await rig.inject("Hello", thread="t")
    await trio.sleep(60)
    draft = await rig.inject("My answer", thread="t", labels=labels)
    alone = await rig.inject("Alone", labels=labels)
    account_id = await rig.synced()
    assert await rig.rows("select subject, in_inbox, unread, visible from mail_threads order by subject") == [
        ("Alone", 0, 0, 0),
        ("Hello", 1, 1, 1),
    ]
    assert (await rig.account(account_id)).unread_threads == 1
    events = await rig.rows(
        """
        select json_extract(payload, '$.subject'), json_extract(payload, '$.own') from events
        where type = 'mail-received' order by 1
        """
    )
    assert events == [("Alone", 1), ("Hello", 0), ("My answer", 1)]
    for message_id in (draft, alone):  # sent from there, the same message is mail like any other
        await rig.world.set_labels(address=MIA, message_id=message_id, labels=frozenset({"INBOX"}))
    await rig.sync_of(account_id).step()
    assert await rig.rows("select sum(in_inbox) from mail_messages") == [(3,)]
    assert await rig.problems() == []


async def test_a_home_that_counted_drafts_as_received_counts_anew(rig: Rig) -> None:
    await rig.inject("Hello", thread="t")
    await rig.inject("Draft", thread="t", labels=frozenset({"DRAFT", "INBOX", "UNREAD"}))
    await rig.inject("Alone", labels=frozenset({"DRAFT", "INBOX", "UNREAD"}))
    await rig.synced()
    right = await rig.state()

    def as_it_was(tx: Tx) -> None:
        tx.run("update mail_messages set in_inbox = 1")
        tx.run("update mail_threads set in_inbox = messages")
        tx.run("update mail_accounts set unread_threads = 2")

    def anew(tx: Tx) -> None:
        for statement in DRAFTS_NOT_RECEIVED:
            tx.run(statement)

    await rig.store.write(as_it_was)
    assert await rig.problems() != []
    await rig.store.write(anew)
    assert await rig.problems() == []
    assert await rig.state() == right


async def test_spam_and_trash_stand_in_neither_section_and_count_as_no_unread(rig: Rig) -> None:
    await rig.inject("spam", labels=frozenset({"SPAM", "UNREAD"}))
    await rig.inject("trash", labels=frozenset({"TRASH", "UNREAD"}))
    account_id = await rig.connect()
    await rig.sync_of(account_id).step()
    rows = await rig.store.read(lambda tx: tx.all("select in_inbox, unread, visible from mail_threads"))
    assert rows == [(0, 0, 0), (0, 0, 0)]
    assert (await rig.account(account_id)).messages == 2


@pytest.mark.thorough
async def test_a_sweep_cancelled_anywhere_converges(
    tmp_path: Path, wall: VirtualClock, log: Log, threads: ThreadPool
) -> None:
    async with open_rig(tmp_path / "whole", clock=wall, log=log, threads=threads) as whole:
        expected = await _swept(whole)

    attempts = iter(range(10_000))

    async def attempt(run: Interrupted) -> None:
        async with open_rig(tmp_path / str(next(attempts)), clock=wall, log=log, threads=threads) as rig:
            await _fill(rig)
            sync = rig.sync_of(await rig.connect())
            await run(sync.step)
            await sync.step()
            assert await rig.state() == expected
            assert await rig.problems() == []

    assert await cancel_everywhere(attempt, every=CUT_STRIDE) > 10


async def _fill(rig: Rig) -> None:
    for number in range(3):
        await rig.inject(
            raw=mail(f"Mail {number}", date=f"Mon, 19 Oct 2026 10:0{number}:00 +0000"), thread=f"t{number % 2}"
        )


async def _swept(rig: Rig) -> State:
    await _fill(rig)
    account_id = await rig.connect()
    await rig.sync_of(account_id).step()
    return await rig.state()
