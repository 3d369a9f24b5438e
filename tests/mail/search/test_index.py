"""The index: what it takes, when, and that it keeps nothing of what is gone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from svc.clock import VirtualClock
from svc.mail.accounts import queries as account_queries
from svc.mail.ingest_steps import INGEST_STEPS
from svc.mail.model import Incoming
from svc.mail.search import actions, procedures
from svc.mail.search.find import LIMITS, Limits
from svc.mail.search.invariants import INVARIANTS
from svc.mail.search.queries import Waiting, waiting
from svc.mail.search.tables import TABLES
from svc.mail.search.tasks import BATCH, Indexer
from svc.mail.search.wire import SearchInput
from svc.mail.sync import ingest
from svc.mail.threads import message_rows
from svc.store import ReadTx, Tx
from tests.cancel_everywhere import Interrupted, cancel_everywhere
from tests.recorded_log import RecordedLog
from tests.support.mailbox import MIA, Rig, mail, open_rig, user
from tests.support.service import Service, open_service

WORDS = "mail_search_named"


def indexer_of(rig: Rig) -> Indexer:
    return rig.indexer()


@pytest.fixture
def indexer(rig: Rig) -> Indexer:
    return indexer_of(rig)


async def found(rig: Rig, query: str, *, limits: Limits = LIMITS, **more: Any) -> list[str]:
    answer = await rig.store.read(
        procedures.answer, rig.principal, wanted=SearchInput(query=query, **more), limits=limits
    )
    return [thread.subject for thread in answer.threads]


async def problems(rig: Rig) -> Sequence[str]:
    """What ``svc fsck`` would say, and what SQLite says of its own full-text table."""

    def check(tx: ReadTx) -> list[str]:
        return [problem for one in INVARIANTS for problem in one.check(tx)]

    def check_words(tx: Tx) -> None:
        tx.run("insert into mail_search_fts (mail_search_fts, rank) values ('integrity-check', 1)")

    await rig.store.write(check_words)
    return await rig.store.read(check)


async def test_what_is_stored_waits_in_the_queue_until_its_words_are_taken(rig: Rig, indexer: Indexer) -> None:
    await rig.synced("Harbour", "Budget")
    assert await problems(rig) == []
    await rig.follow()
    assert await rig.rows("select count(*) from mail_search_queue") == [(2,)]
    assert await problems(rig) == []
    await indexer.catch_up()
    assert await rig.rows("select count(*) from mail_search_queue") == [(0,)]
    assert await found(rig, "harbour") == ["Harbour"]
    assert await problems(rig) == []


async def test_rows_lie_in_the_order_of_dates(rig: Rig, indexer: Indexer) -> None:
    dates = ["Wed, 02 Sep 2026 10:00:00 +0000", "Tue, 01 Sep 2026 10:00:00 +0000", "Thu, 03 Sep 2026 10:00:00 +0000"]
    for date in dates:
        await rig.inject(raw=mail(f"Harbour {date[5:7]}", date=date))
    await rig.synced()
    await indexer.catch_up()
    assert await found(rig, "harbour") == ["Harbour 03", "Harbour 02", "Harbour 01"]
    ids = await rig.rows("select s.id from mail_search s join mail_messages m on m.id = message_id order by m.sent_at")
    assert ids == sorted(ids)


async def test_thousands_of_mails_of_one_second_have_their_places(rig: Rig, indexer: Indexer) -> None:
    await rig.synced("One", "Two", "Three")

    def crowd(tx: Tx) -> None:
        tx.run("update mail_messages set sent_at = 1000000")
        rows = ({"id": 1_000 * 4_096 + place} for place in range(4_095))
        tx.run_many("insert into mail_search_gone (id) values (:id)", rows)
        rows = ({"id": 1_000 * 4_096 + place} for place in range(4_095))
        tx.run_many("insert into mail_search_named values (:id, '', '', '', '', '', '', 0)", rows)

    await rig.store.write(crowd)
    await rig.follow()
    words = await indexer.words(await rig.store.read(indexer_waiting))
    await rig.store.write(actions.take, messages=words)
    ids = await rig.rows("select id / 4096 from mail_search order by 1")
    assert ids == [(1_000,), (1_001,), (1_001,)]


def indexer_waiting(tx: ReadTx) -> list[Waiting]:
    return waiting(tx, limit=BATCH)


async def test_a_deleted_message_leaves_no_word_behind(rig: Rig, indexer: Indexer) -> None:
    account_id = await rig.synced("Harbour secretword", "Budget")
    await indexer.catch_up()
    account = await rig.account(account_id)
    ((message_id,),) = await rig.rows("select id from mail_messages where subject like 'Har%'")

    def delete(tx: Tx) -> None:
        ingest.delete_message(tx, account, message_id=str(message_id))

    await rig.store.write(delete)
    assert await found(rig, "harbour") == []
    assert await problems(rig) == []
    await indexer.catch_up()
    assert await rig.rows(f"select count(*) from {WORDS}") == [(1,)]
    assert await rig.rows("select count(*) from mail_search_gone") == [(0,)]
    assert await problems(rig) == []
    assert await bytes_of(rig, b"secretword") == 0


async def bytes_of(rig: Rig, word: bytes) -> int:
    """In how many places the full-text table itself still has a word: the first of its kind is written out."""
    rows = await rig.rows("select block from mail_search_fts_data")
    return sum(word in block for (block,) in rows if isinstance(block, bytes))


async def test_an_erased_account_leaves_nothing_behind(rig: Rig, indexer: Indexer) -> None:
    await rig.synced("Harbour", "Budget")
    await indexer.catch_up()
    assert await bytes_of(rig, b"harbour") == 1

    def erase(tx: Tx) -> None:
        tx.run("delete from mail_messages")
        tx.run("delete from mail_threads")
        tx.run("delete from mail_accounts")

    await rig.store.write(erase)
    await indexer.catch_up()
    for table in (WORDS, "mail_search_body", "mail_search", "mail_search_gone", "mail_search_queue"):
        assert await rig.rows(f"select count(*) from {table}") == [(0,)], table
    assert await rig.rows("select count(*) from mail_search_fts_docsize") == [(0,)]
    assert await bytes_of(rig, b"harbour") == 0
    assert await problems(rig) == []


async def test_a_message_deleted_before_its_words_were_taken_is_passed_by(rig: Rig, indexer: Indexer) -> None:
    await rig.synced("Harbour", "Budget")
    await rig.follow()
    words = await indexer.words(await rig.store.read(indexer_waiting))
    account = (await rig.store.read(account_queries.connected_accounts))[0]
    await rig.store.write(lambda tx: ingest.delete_message(tx, account, message_id=words[0].message_id))
    await rig.store.write(actions.take, messages=words)
    assert await rig.rows("select count(*) from mail_search") == [(1,)]
    assert await problems(rig) == []


async def test_labels_follow_the_message_also_while_it_waits(rig: Rig, indexer: Indexer) -> None:
    account_id = await rig.synced("Harbour", "Harbour two")
    account = await rig.account(account_id)
    rows = await rig.rows("select id from mail_messages order by sent_at")

    async def relabel(message: object, *labels: str) -> None:
        await rig.store.write(
            lambda tx: message_rows.write_labels(tx, account, message_id=str(message), labels=frozenset(labels))
        )

    await relabel(rows[0][0], "TRASH")
    await indexer.catch_up()
    await relabel(rows[1][0], "SPAM")
    assert await found(rig, "harbour") == []
    assert await found(rig, "harbour in:trash") == ["Harbour"]
    assert await found(rig, "harbour in:spam") == ["Harbour two"]
    assert await problems(rig) == []


async def test_a_new_way_of_taking_words_is_applied_to_everything(rig: Rig, indexer: Indexer) -> None:
    await rig.synced("Harbour", "Budget")
    await indexer.catch_up()
    entries = await rig.rows("select id, entry from mail_search order by id")
    await rig.store.write(actions.outdate)
    await rig.store.write(lambda tx: tx.run("update mail_messages set subject = 'Quay' where subject = 'Harbour'"))
    assert await problems(rig) == []
    await indexer_of(rig).catch_up()
    assert await found(rig, "quay") == ["Harbour"]  # the thread's own subject was not changed
    assert await found(rig, "harbour") == []
    assert await rig.rows("select id, entry from mail_search order by id") == entries
    assert await problems(rig) == []


async def test_with_its_words_a_stored_message_gets_the_line_that_it_would_get_now(rig: Rig, indexer: Indexer) -> None:
    for text in (b"Older words.\n", b"Yes.\n\nOn Monday Noa wrote:\n> Shall we?\n"):
        await rig.inject(thread="t", raw=b"From: noa@example.org\nSubject: Harbour\n\n" + text)
        await trio.sleep(1)
    await rig.synced()
    await indexer.catch_up()
    told = await rig.rows("select snippet from mail_messages order by sent_at")
    assert told == [("Older words.",), ("Yes.",)]
    await rig.store.write(lambda tx: tx.run("update mail_messages set snippet = 'Yes. On Monday Noa wrote:'"))
    await rig.store.write(lambda tx: tx.run("update mail_threads set snippet = 'Yes. On Monday Noa wrote:'"))
    await rig.store.write(actions.outdate)
    await indexer_of(rig).catch_up()
    assert await rig.rows("select snippet from mail_messages order by sent_at") == told
    assert await rig.rows("select snippet from mail_threads") == [("Yes.",)]


async def test_the_newest_mail_is_taken_first(rig: Rig, indexer: Indexer) -> None:
    account_id = await rig.synced(*(f"Old {number}" for number in range(3)))
    await rig.follow()
    await rig.inject("New")
    await rig.sync_of(account_id).step()
    await rig.follow()
    taken = await rig.store.read(indexer_waiting)
    queued = await rig.rows("select message_id from mail_search_queue order by number desc")
    assert [one.message_id for one in taken] == [row[0] for row in queued]
    assert taken[0].subject == "New"
    assert len(taken) == 4


async def test_a_lost_body_costs_only_the_body(rig: Rig, indexer: Indexer, log: RecordedLog) -> None:
    await rig.synced("Harbour")
    ((sha256,),) = await rig.rows("select body_sha256 from mail_messages")
    next(rig.home.glob(f"blobs/**/{sha256}")).unlink()
    await indexer.catch_up()
    assert await found(rig, "harbour") == ["Harbour"]
    assert "search.body_lost" in log.events("error")


async def test_after_a_crash_the_indexer_goes_on_where_it_was(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, threads: Any
) -> None:
    async with open_rig(tmp_path, clock=wall, log=log, threads=threads) as rig:
        await rig.synced("Harbour", "Budget")
    async with open_rig(tmp_path, clock=wall, log=log, threads=threads) as rig:
        assert await found(rig, "harbour") == []
        await indexer_of(rig).catch_up()
        assert await found(rig, "harbour") == ["Harbour"]


async def test_what_was_stored_is_queued_once_though_the_process_dies_between_the_two(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, threads: Any
) -> None:
    async with open_rig(tmp_path, clock=wall, log=log, threads=threads) as rig:
        await rig.synced("Harbour", "Budget")
        assert await rig.rows("select count(*) from mail_search_queue") == [(0,)]
    async with open_rig(tmp_path, clock=wall, log=log, threads=threads) as rig:
        await rig.follow()
        await rig.follow()
        assert await rig.rows("select count(*) from mail_search_queue") == [(2,)]


async def test_a_message_that_search_never_heard_of_is_a_problem(rig: Rig) -> None:
    await rig.synced("Harbour")
    await rig.store.write(
        lambda tx: tx.run("update consumers set seq = (select max(seq) from events) where name = 'mail-search'")
    )
    await rig.store.write(lambda tx: tx.run("update mail_search_state set version = 1"))
    assert len(await problems(rig)) == 1


async def test_a_home_from_before_the_events_were_followed_keeps_its_queue(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        await service.synced("Harbour")
        await service.workspace.store.write(as_before)
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        assert len((await service.query("mail.search", query="harbour"))["threads"]) == 1
        await service.synced("Quay")
        assert len((await service.query("mail.search", query="quay"))["threads"]) == 1
        assert await service.rows("select name from sqlite_schema where name = 'mail_search_stored'") == []


def as_before(tx: Tx) -> None:
    """The home as an older version left it: queued by the trigger, its words not taken yet."""
    tx.run("delete from consumers where name = 'mail-search'")
    tx.run("delete from _sqlite_migrations where name = 'm015_search_follows'")
    tx.run(next(statement for statement in TABLES if "mail_search_stored" in statement))
    tx.run("insert into mail_search_queue (message_id, account_id) select id, account_id from mail_messages")


async def stored_page(rig: Rig, account_id: str, incoming: tuple[Incoming, ...]) -> None:
    """And its blobs are lost."""
    page = ingest.FullSyncPage(incoming=incoming, seen=(), passed=(), next_page_token=None)
    await rig.store.write(lambda tx: tx.run("update mail_accounts set sweep_cursor = '1'"))
    await rig.store.write(ingest.store_page, account_id=account_id, page=page, steps=INGEST_STEPS)
    blobs = list(rig.home.glob("blobs/??/*"))
    assert blobs
    for path in blobs:
        path.unlink()


async def test_what_was_parsed_just_now_is_not_read_from_its_blob_again(rig: Rig, indexer: Indexer) -> None:
    await rig.inject(raw=mail("Harbour", text="the cranes"))
    account_id = await rig.connect()
    fetched = await rig.sync_of(account_id).fetcher.fetch((await rig.world.provider(MIA).list_messages()).messages)
    await stored_page(rig, account_id, fetched.incoming)
    await indexer.stored(account_id, fetched.incoming)
    assert await found(rig, "cranes") == ["Harbour"]


async def test_what_is_stored_while_others_are_indexed_is_not_read_from_its_blob_either(
    rig: Rig, indexer: Indexer
) -> None:
    await rig.inject(raw=mail("Harbour", text="the cranes"))
    account_id = await rig.connect()
    fetched = await rig.sync_of(account_id).fetcher.fetch((await rig.world.provider(MIA).list_messages()).messages)
    indexer.debounce_s = 1.5

    async def meanwhile() -> None:
        await indexer.stored(account_id, fetched.incoming)

    indexer.follow = meanwhile
    await indexer.catch_up()
    await stored_page(rig, account_id, fetched.incoming)
    indexer.follow = rig.follow
    await indexer.catch_up()
    assert await found(rig, "cranes") == ["Harbour"]


async def test_what_is_held_for_the_index_is_let_go_once_nothing_waits_for_it(rig: Rig, indexer: Indexer) -> None:
    await rig.inject(raw=mail("Harbour", text="the cranes"))
    account_id = await rig.connect()
    fetched = await rig.sync_of(account_id).fetcher.fetch((await rig.world.provider(MIA).list_messages()).messages)
    indexer.debounce_s = 1.5
    await indexer.stored(account_id, fetched.incoming)
    assert indexer.held_chars
    await indexer.catch_up()
    assert not indexer.held_chars


async def test_with_a_debounce_the_index_follows_a_moment_later(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, clock: MockClock
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_INDEX_DEBOUNCE_MS="1500") as service:
        await service.synced("Harbour")
        assert (await service.query("mail.search", query="harbour"))["threads"] == []
        await trio.sleep(1.4)
        assert (await service.query("mail.search", query="harbour"))["threads"] == []
        await trio.sleep(0.2)
        assert len((await service.query("mail.search", query="harbour"))["threads"]) == 1
        assert (await service.query("mail.search", query="harbour"))["notices"] == []


async def test_without_one_what_is_stored_is_found(service: Service) -> None:
    await service.synced("Harbour")
    assert await service.rows("select count(*) from mail_search_queue") == [(0,)]


@pytest.mark.thorough
@pytest.mark.parametrize("window", [1, 2, 3, 100])
@pytest.mark.parametrize("examined", [1, 2, 5, 100])
async def test_every_thread_comes_once_however_small_the_windows_are(
    rig: Rig, indexer: Indexer, window: int, examined: int
) -> None:
    for number in range(12):
        text = "harbour" if number % 3 else "nothing"
        subject = f"Harbour {number}" if number % 4 == 0 else f"Other {number}"
        labels = frozenset({"INBOX"} if number % 2 else {"INBOX", "TRASH"})
        await rig.inject(raw=mail(subject, text=text), thread=f"t{number % 5}", labels=labels)
        await trio.sleep(60)
    await rig.synced()
    await indexer.catch_up()
    for query in ("harbour", "-nothing", "harbour in:anywhere", "has:attachment", "harbour is:unread"):
        everything = await pages(rig, query, limit=200, limits=LIMITS)
        for limit in (1, 2, 50):
            limits = Limits(window=window, examined=examined)
            assert sorted(await pages(rig, query, limit=limit, limits=limits)) == sorted(everything), (query, limit)


async def pages(rig: Rig, query: str, *, limit: int, limits: Limits) -> list[str]:
    """Every page of a search: the threads in their order."""
    threads: list[str] = []
    cursor = None
    while True:
        answer = await rig.store.read(
            procedures.answer,
            rig.principal,
            wanted=SearchInput(query=query, limit=limit, cursor=cursor),
            limits=limits,
        )
        assert len(answer.threads) <= limit
        threads += [thread.id for thread in answer.threads]
        cursor = answer.next_cursor
        if cursor is None:
            return threads


async def test_a_search_that_stops_early_says_so_and_goes_on(rig: Rig, indexer: Indexer) -> None:
    await rig.synced(*(f"Harbour {number}" for number in range(6)))
    await indexer.catch_up()
    wanted = SearchInput(query="harbour has:attachment")
    answer = await rig.store.read(procedures.answer, rig.principal, wanted=wanted, limits=Limits(examined=3))
    assert answer.threads == ()
    assert answer.next_cursor is not None
    assert answer.notices == ("Looked back as far as 2026-10-27; go on for what is older.",)


async def test_nobody_finds_anothers_mail(rig: Rig, indexer: Indexer) -> None:
    await rig.inject("Harbour of one", address="one@example.org")
    await rig.inject("Harbour of two", address="two@example.org")
    for name in ("one", "two"):
        rig.principal = user(f"usr_{name}")
        account_id = await rig.connect(f"{name}@example.org")
        await rig.sync_of(account_id, address=f"{name}@example.org").step()
    await indexer.catch_up()
    for name in ("one", "two"):
        rig.principal = user(f"usr_{name}")
        for query in ("harbour", "har", "in:anywhere", "-nothing", "to:example.org", "label:inbox"):
            assert await found(rig, query) == [f"Harbour of {name}"], query
    rig.principal = user("usr_three")
    assert await found(rig, "harbour") == []


async def test_one_mail_in_two_accounts_is_found_once(rig: Rig, indexer: Indexer) -> None:
    work = "mia@work.example"
    raw = b"From: noa@example.org\r\nSubject: Harbour\r\nMessage-ID: <one@example.org>\r\n\r\nShall we?\r\n"
    accounts = {}
    for address in (MIA, work):
        await rig.inject(address=address, raw=b"Delivered-To: " + address.encode() + b"\r\n" + raw)
        accounts[address] = await rig.connect(address)
        await rig.sync_of(accounts[address], address=address).step()
    await indexer.catch_up()
    assert await found(rig, "harbour") == ["Harbour"]
    for account_id in accounts.values():
        assert await found(rig, "harbour", account_id=account_id) == ["Harbour"]


@pytest.mark.thorough
async def test_the_indexer_may_be_cut_off_at_any_step(rig: Rig) -> None:
    """As by a drain, or a kill: what was committed stays, what was not waits for the next process."""
    account = await rig.account(await rig.synced("First"))
    numbers = count()

    async def attempt(run: Interrupted) -> None:
        subject = f"Quay{next(numbers)}"
        await rig.inject(subject)
        await rig.sync_of(account.id).step()
        ((oldest,),) = await rig.rows("select id from mail_messages order by rowid limit 1")
        await rig.store.write(lambda tx: ingest.delete_message(tx, account, message_id=str(oldest)))
        await run(indexer_of(rig).catch_up)
        assert await problems(rig) == []
        await indexer_of(rig).catch_up()
        assert await problems(rig) == []
        assert await found(rig, subject) == [subject]
        assert await rig.rows(f"select count(*) from {WORDS}") == await rig.rows("select count(*) from mail_messages")

    assert await cancel_everywhere(attempt) > 5
