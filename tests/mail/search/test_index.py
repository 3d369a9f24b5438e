"""The index: what it takes, when, and that it keeps nothing of what is gone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import trio

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
from tests.support.mailbox import MIA, MailSync, mail, open_mail_sync, user
from tests.support.service import Service, open_service

WORDS = "mail_search_named"


def indexer_of(mail_sync: MailSync) -> Indexer:
    return mail_sync.indexer()


@pytest.fixture
def indexer(mail_sync: MailSync) -> Indexer:
    return indexer_of(mail_sync)


async def found(mail_sync: MailSync, query: str, *, limits: Limits = LIMITS, **more: Any) -> list[str]:
    answer = await mail_sync.store.read(
        procedures.answer, mail_sync.principal, wanted=SearchInput(query=query, **more), limits=limits
    )
    return [thread.subject for thread in answer.threads]


async def problems(mail_sync: MailSync) -> Sequence[str]:
    """What ``svc fsck`` would say, and what SQLite says of its own full-text table."""

    def check(tx: ReadTx) -> list[str]:
        return [problem for one in INVARIANTS for problem in one.check(tx)]

    def check_words(tx: Tx) -> None:
        tx.run("insert into mail_search_fts (mail_search_fts, rank) values ('integrity-check', 1)")

    await mail_sync.store.write(check_words)
    return await mail_sync.store.read(check)


async def test_what_is_stored_waits_in_the_queue_until_its_words_are_taken(
    mail_sync: MailSync, indexer: Indexer
) -> None:
    await mail_sync.synced("Harbour", "Budget")
    assert await problems(mail_sync) == []
    await mail_sync.follow()
    assert await mail_sync.rows("select count(*) from mail_search_queue") == [(2,)]
    assert await problems(mail_sync) == []
    await indexer.catch_up()
    assert await mail_sync.rows("select count(*) from mail_search_queue") == [(0,)]
    assert await found(mail_sync, "harbour") == ["Harbour"]
    assert await problems(mail_sync) == []


async def test_rows_lie_in_the_order_of_dates(mail_sync: MailSync, indexer: Indexer) -> None:
    dates = ["Wed, 02 Sep 2026 10:00:00 +0000", "Tue, 01 Sep 2026 10:00:00 +0000", "Thu, 03 Sep 2026 10:00:00 +0000"]
    for date in dates:
        await mail_sync.inject(raw=mail(f"Harbour {date[5:7]}", date=date))
    await mail_sync.synced()
    await indexer.catch_up()
    assert await found(mail_sync, "harbour") == ["Harbour 03", "Harbour 02", "Harbour 01"]
    ids = await mail_sync.rows(
        "select s.id from mail_search s join mail_messages m on m.id = message_id order by m.sent_at"
    )
    assert ids == sorted(ids)


async def test_thousands_of_mails_of_one_second_have_their_places(mail_sync: MailSync, indexer: Indexer) -> None:
    await mail_sync.synced("One", "Two", "Three")

    def crowd(tx: Tx) -> None:
        tx.run("update mail_messages set sent_at = 1000000")
        rows = ({"id": 1_000 * 4_096 + place} for place in range(4_095))
        tx.run_many("insert into mail_search_gone (id) values (:id)", rows)
        rows = ({"id": 1_000 * 4_096 + place} for place in range(4_095))
        tx.run_many("insert into mail_search_named values (:id, '', '', '', '', '', '', 0)", rows)

    await mail_sync.store.write(crowd)
    await mail_sync.follow()
    words = await indexer.words(await mail_sync.store.read(indexer_waiting))
    await mail_sync.store.write(actions.take, messages=words)
    ids = await mail_sync.rows("select id / 4096 from mail_search order by 1")
    assert ids == [(1_000,), (1_001,), (1_001,)]


def indexer_waiting(tx: ReadTx) -> list[Waiting]:
    return waiting(tx, limit=BATCH)


async def test_a_deleted_message_leaves_no_word_behind(mail_sync: MailSync, indexer: Indexer) -> None:
    account_id = await mail_sync.synced("Harbour secretword", "Budget")
    await indexer.catch_up()
    account = await mail_sync.account(account_id)
    ((message_id,),) = await mail_sync.rows("select id from mail_messages where subject like 'Har%'")

    def delete(tx: Tx) -> None:
        ingest.delete_message(tx, account, message_id=str(message_id))

    await mail_sync.store.write(delete)
    assert await found(mail_sync, "harbour") == []
    assert await problems(mail_sync) == []
    await indexer.catch_up()
    assert await mail_sync.rows(f"select count(*) from {WORDS}") == [(1,)]
    assert await mail_sync.rows("select count(*) from mail_search_gone") == [(0,)]
    assert await problems(mail_sync) == []
    assert await bytes_of(mail_sync, b"secretword") == 0


async def bytes_of(mail_sync: MailSync, word: bytes) -> int:
    """In how many places the full-text table itself still has a word: the first of its kind is written out."""
    rows = await mail_sync.rows("select block from mail_search_fts_data")
    return sum(word in block for (block,) in rows if isinstance(block, bytes))


async def test_an_erased_account_leaves_nothing_behind(mail_sync: MailSync, indexer: Indexer) -> None:
    await mail_sync.synced("Harbour", "Budget")
    await indexer.catch_up()
    assert await bytes_of(mail_sync, b"harbour") == 1

    def erase(tx: Tx) -> None:
        tx.run("delete from mail_messages")
        tx.run("delete from mail_threads")
        tx.run("delete from mail_accounts")

    await mail_sync.store.write(erase)
    await indexer.catch_up()
    for table in (WORDS, "mail_search_body", "mail_search", "mail_search_gone", "mail_search_queue"):
        assert await mail_sync.rows(f"select count(*) from {table}") == [(0,)], table
    assert await mail_sync.rows("select count(*) from mail_search_fts_docsize") == [(0,)]
    assert await bytes_of(mail_sync, b"harbour") == 0
    assert await problems(mail_sync) == []


async def test_a_message_deleted_before_its_words_were_taken_is_passed_by(
    mail_sync: MailSync, indexer: Indexer
) -> None:
    await mail_sync.synced("Harbour", "Budget")
    await mail_sync.follow()
    words = await indexer.words(await mail_sync.store.read(indexer_waiting))
    account = (await mail_sync.store.read(account_queries.connected_accounts))[0]
    await mail_sync.store.write(lambda tx: ingest.delete_message(tx, account, message_id=words[0][0].message_id))
    await mail_sync.store.write(actions.take, messages=words)
    assert await mail_sync.rows("select count(*) from mail_search") == [(1,)]
    assert await problems(mail_sync) == []


async def test_labels_follow_the_message_also_while_it_waits(mail_sync: MailSync, indexer: Indexer) -> None:
    account_id = await mail_sync.synced("Harbour", "Harbour two")
    account = await mail_sync.account(account_id)
    rows = await mail_sync.rows("select id from mail_messages order by sent_at")

    async def relabel(message: object, *labels: str) -> None:
        await mail_sync.store.write(
            lambda tx: message_rows.write_labels(tx, account, message_id=str(message), labels=frozenset(labels))
        )

    await relabel(rows[0][0], "TRASH")
    await indexer.catch_up()
    await relabel(rows[1][0], "SPAM")
    assert await found(mail_sync, "harbour") == []
    assert await found(mail_sync, "harbour in:trash") == ["Harbour"]
    assert await found(mail_sync, "harbour in:spam") == ["Harbour two"]
    assert await problems(mail_sync) == []


async def test_a_new_way_of_taking_words_is_applied_to_everything(mail_sync: MailSync, indexer: Indexer) -> None:
    await mail_sync.synced("Harbour", "Budget")
    await indexer.catch_up()
    entries = await mail_sync.rows("select id, entry from mail_search order by id")
    await mail_sync.store.write(actions.outdate)
    await mail_sync.store.write(
        lambda tx: tx.run("update mail_messages set subject = 'Quay' where subject = 'Harbour'")
    )
    assert await problems(mail_sync) == []
    await indexer_of(mail_sync).catch_up()
    assert await found(mail_sync, "quay") == ["Harbour"]  # the thread's own subject was not changed
    assert await found(mail_sync, "harbour") == []
    assert await mail_sync.rows("select id, entry from mail_search order by id") == entries
    assert await problems(mail_sync) == []


async def test_with_its_words_a_stored_message_gets_the_line_that_it_would_get_now(
    mail_sync: MailSync, indexer: Indexer
) -> None:
    for text in (b"Older words.\n", b"Yes.\n\nOn Monday Noa wrote:\n> Shall we?\n"):
        await mail_sync.inject(thread="t", raw=b"From: noa@example.org\nSubject: Harbour\n\n" + text)
        await trio.sleep(1)
    await mail_sync.synced()
    await indexer.catch_up()
    told = await mail_sync.rows("select snippet from mail_messages order by sent_at")
    assert told == [("Older words.",), ("Yes.",)]
    await mail_sync.store.write(lambda tx: tx.run("update mail_messages set snippet = 'Yes. On Monday Noa wrote:'"))
    await mail_sync.store.write(lambda tx: tx.run("update mail_threads set snippet = 'Yes. On Monday Noa wrote:'"))
    await mail_sync.store.write(actions.outdate)
    await indexer_of(mail_sync).catch_up()
    assert await mail_sync.rows("select snippet from mail_messages order by sent_at") == told
    assert await mail_sync.rows("select snippet from mail_threads") == [("Yes.",)]


async def test_the_newest_mail_is_taken_first(mail_sync: MailSync, indexer: Indexer) -> None:
    account_id = await mail_sync.synced(*(f"Old {number}" for number in range(3)))
    await mail_sync.follow()
    await mail_sync.inject("New")
    await mail_sync.sync_of(account_id).step()
    await mail_sync.follow()
    taken = await mail_sync.store.read(indexer_waiting)
    queued = await mail_sync.rows("select message_id from mail_search_queue order by number desc")
    assert [one.message_id for one in taken] == [row[0] for row in queued]
    assert taken[0].subject == "New"
    assert len(taken) == 4


async def test_a_lost_body_costs_only_the_body(mail_sync: MailSync, indexer: Indexer, log: RecordedLog) -> None:
    await mail_sync.synced("Harbour")
    ((sha256,),) = await mail_sync.rows("select body_sha256 from mail_messages")
    next(mail_sync.home.glob(f"blobs/**/{sha256}")).unlink()
    await indexer.catch_up()
    assert await found(mail_sync, "harbour") == ["Harbour"]
    assert "search.body_lost" in log.events("error")


async def test_what_is_queued_again_while_it_is_indexed_waits_again(mail_sync: MailSync, indexer: Indexer) -> None:
    await indexer.catch_up()
    await mail_sync.synced("Harbour")
    await mail_sync.follow()
    taken = await indexer.words(await mail_sync.store.read(indexer_waiting))
    await mail_sync.store.write(actions.queue, message_ids=[taken[0][0].message_id])
    await mail_sync.store.write(actions.take, messages=taken)
    assert await mail_sync.rows("select count(*) from mail_search_queue") == [(1,)]
    await indexer.catch_up()
    assert await mail_sync.rows("select count(*) from mail_search_queue") == [(0,)]
    assert await found(mail_sync, "harbour") == ["Harbour"]
    assert await problems(mail_sync) == []


async def test_after_a_crash_the_indexer_goes_on_where_it_was(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, threads: Any
) -> None:
    async with open_mail_sync(tmp_path, clock=wall, log=log, threads=threads) as mail_sync:
        await mail_sync.synced("Harbour", "Budget")
    async with open_mail_sync(tmp_path, clock=wall, log=log, threads=threads) as mail_sync:
        assert await found(mail_sync, "harbour") == []
        await indexer_of(mail_sync).catch_up()
        assert await found(mail_sync, "harbour") == ["Harbour"]


async def test_what_was_stored_is_queued_once_though_the_process_dies_between_the_two(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, threads: Any
) -> None:
    async with open_mail_sync(tmp_path, clock=wall, log=log, threads=threads) as mail_sync:
        await mail_sync.synced("Harbour", "Budget")
        assert await mail_sync.rows("select count(*) from mail_search_queue") == [(0,)]
    async with open_mail_sync(tmp_path, clock=wall, log=log, threads=threads) as mail_sync:
        await mail_sync.follow()
        await mail_sync.follow()
        assert await mail_sync.rows("select count(*) from mail_search_queue") == [(2,)]


async def test_a_message_that_search_never_heard_of_is_a_problem(mail_sync: MailSync) -> None:
    await mail_sync.synced("Harbour")
    await mail_sync.store.write(
        lambda tx: tx.run("update consumers set seq = (select max(seq) from events) where name = 'mail-search'")
    )
    await mail_sync.store.write(lambda tx: tx.run("update mail_search_state set version = 1"))
    assert len(await problems(mail_sync)) == 1


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


async def stored_page(mail_sync: MailSync, account_id: str, incoming: tuple[Incoming, ...]) -> None:
    """And its blobs are lost."""
    page = ingest.FullSyncPage(incoming=incoming, seen=(), passed=(), next_page_token=None)
    await mail_sync.store.write(lambda tx: tx.run("update mail_accounts set sweep_cursor = '1'"))
    await mail_sync.store.write(ingest.store_page, account_id=account_id, page=page, steps=INGEST_STEPS)
    blobs = list(mail_sync.home.glob("blobs/??/*"))
    assert blobs
    for path in blobs:
        path.unlink()


async def test_what_was_parsed_just_now_is_not_read_from_its_blob_again(mail_sync: MailSync, indexer: Indexer) -> None:
    await mail_sync.inject(raw=mail("Harbour", text="the cranes"))
    account_id = await mail_sync.connect()
    fetched = await mail_sync.sync_of(account_id).fetcher.fetch(
        (await mail_sync.fake_mail.provider(MIA).list_messages()).messages
    )
    await stored_page(mail_sync, account_id, fetched.incoming)
    await indexer.stored(account_id, fetched.incoming)
    assert await found(mail_sync, "cranes") == ["Harbour"]


async def test_what_is_stored_while_others_are_indexed_is_not_read_from_its_blob_either(
    mail_sync: MailSync, indexer: Indexer
) -> None:
    await mail_sync.inject(raw=mail("Harbour", text="the cranes"))
    account_id = await mail_sync.connect()
    fetched = await mail_sync.sync_of(account_id).fetcher.fetch(
        (await mail_sync.fake_mail.provider(MIA).list_messages()).messages
    )
    indexer.debounce_s = 1.5

    async def meanwhile() -> None:
        await indexer.stored(account_id, fetched.incoming)

    indexer.follow = meanwhile
    await indexer.catch_up()
    await stored_page(mail_sync, account_id, fetched.incoming)
    indexer.follow = mail_sync.follow
    await indexer.catch_up()
    assert await found(mail_sync, "cranes") == ["Harbour"]


async def test_what_is_held_for_the_index_is_let_go_once_nothing_waits_for_it(
    mail_sync: MailSync, indexer: Indexer
) -> None:
    await mail_sync.inject(raw=mail("Harbour", text="the cranes"))
    account_id = await mail_sync.connect()
    fetched = await mail_sync.sync_of(account_id).fetcher.fetch(
        (await mail_sync.fake_mail.provider(MIA).list_messages()).messages
    )
    indexer.debounce_s = 1.5
    await indexer.stored(account_id, fetched.incoming)
    assert indexer.held_chars
    await indexer.catch_up()
    assert not indexer.held_chars


async def test_without_a_debounce_what_is_stored_is_found(service: Service) -> None:
    await service.synced("Harbour")
    assert await service.rows("select count(*) from mail_search_queue") == [(0,)]


@pytest.mark.thorough
@pytest.mark.parametrize("window", [1, 2, 3, 100])
@pytest.mark.parametrize("examined", [1, 2, 5, 100])
async def test_every_thread_comes_once_however_small_the_windows_are(
    mail_sync: MailSync, indexer: Indexer, window: int, examined: int
) -> None:
    for number in range(12):
        text = "harbour" if number % 3 else "nothing"
        subject = f"Harbour {number}" if number % 4 == 0 else f"Other {number}"
        labels = frozenset({"INBOX"} if number % 2 else {"INBOX", "TRASH"})
        await mail_sync.inject(raw=mail(subject, text=text), thread=f"t{number % 5}", labels=labels)
        await trio.sleep(60)
    await mail_sync.synced()
    await indexer.catch_up()
    for query in ("harbour", "-nothing", "harbour in:anywhere", "has:attachment", "harbour is:unread"):
        everything = await pages(mail_sync, query, limit=200, limits=LIMITS)
        for limit in (1, 2, 50):
            limits = Limits(window=window, examined=examined)
            assert sorted(await pages(mail_sync, query, limit=limit, limits=limits)) == sorted(everything), (
                query,
                limit,
            )


async def pages(mail_sync: MailSync, query: str, *, limit: int, limits: Limits) -> list[str]:
    """Every page of a search: the threads in their order."""
    threads: list[str] = []
    cursor = None
    while True:
        answer = await mail_sync.store.read(
            procedures.answer,
            mail_sync.principal,
            wanted=SearchInput(query=query, limit=limit, cursor=cursor),
            limits=limits,
        )
        assert len(answer.threads) <= limit
        threads += [thread.id for thread in answer.threads]
        cursor = answer.next_cursor
        if cursor is None:
            return threads


async def test_a_search_that_stops_early_says_so_and_goes_on(mail_sync: MailSync, indexer: Indexer) -> None:
    await mail_sync.synced(*(f"Harbour {number}" for number in range(6)))
    await indexer.catch_up()
    wanted = SearchInput(query="harbour has:attachment")
    answer = await mail_sync.store.read(
        procedures.answer, mail_sync.principal, wanted=wanted, limits=Limits(examined=3)
    )
    assert answer.threads == ()
    assert answer.next_cursor is not None
    assert answer.notices == ("Looked back as far as 2026-10-27; go on for what is older.",)


async def test_nobody_finds_anothers_mail(mail_sync: MailSync, indexer: Indexer) -> None:
    await mail_sync.inject("Harbour of one", address="one@example.org")
    await mail_sync.inject("Harbour of two", address="two@example.org")
    for name in ("one", "two"):
        mail_sync.principal = user(f"usr_{name}")
        account_id = await mail_sync.connect(f"{name}@example.org")
        await mail_sync.sync_of(account_id, address=f"{name}@example.org").step()
    await indexer.catch_up()
    for name in ("one", "two"):
        mail_sync.principal = user(f"usr_{name}")
        for query in ("harbour", "har", "in:anywhere", "-nothing", "to:example.org", "label:inbox"):
            assert await found(mail_sync, query) == [f"Harbour of {name}"], query
    mail_sync.principal = user("usr_three")
    assert await found(mail_sync, "harbour") == []


async def test_one_mail_in_two_accounts_is_found_once(mail_sync: MailSync, indexer: Indexer) -> None:
    work = "mia@work.example"
    raw = b"From: noa@example.org\r\nSubject: Harbour\r\nMessage-ID: <one@example.org>\r\n\r\nShall we?\r\n"
    accounts = {}
    for address in (MIA, work):
        await mail_sync.inject(address=address, raw=b"Delivered-To: " + address.encode() + b"\r\n" + raw)
        accounts[address] = await mail_sync.connect(address)
        await mail_sync.sync_of(accounts[address], address=address).step()
    await indexer.catch_up()
    assert await found(mail_sync, "harbour") == ["Harbour"]
    for account_id in accounts.values():
        assert await found(mail_sync, "harbour", account_id=account_id) == ["Harbour"]


@pytest.mark.thorough
async def test_the_indexer_may_be_cut_off_at_any_step(mail_sync: MailSync) -> None:
    """As by a drain, or a kill: what was committed stays, what was not waits for the next process."""
    account = await mail_sync.account(await mail_sync.synced("First"))
    numbers = count()

    async def attempt(run: Interrupted) -> None:
        subject = f"Quay{next(numbers)}"
        await mail_sync.inject(subject)
        await mail_sync.sync_of(account.id).step()
        ((oldest,),) = await mail_sync.rows("select id from mail_messages order by rowid limit 1")
        await mail_sync.store.write(lambda tx: ingest.delete_message(tx, account, message_id=str(oldest)))
        await run(indexer_of(mail_sync).catch_up)
        assert await problems(mail_sync) == []
        await indexer_of(mail_sync).catch_up()
        assert await problems(mail_sync) == []
        assert await found(mail_sync, subject) == [subject]
        assert await mail_sync.rows(f"select count(*) from {WORDS}") == await mail_sync.rows(
            "select count(*) from mail_messages"
        )

    assert await cancel_everywhere(attempt) > 5
