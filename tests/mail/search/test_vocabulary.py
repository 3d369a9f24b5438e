"""The vocabulary is what the words of the indexed messages add up to, whatever became of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import pytest

from svc.formats.words.entries import MAX_WORDS
from svc.mail.search import actions, queries, tasks, vocabulary
from svc.mail.search.invariants import INVARIANTS
from svc.mail.search.tasks import MANY, MAX_SENT_CHARS, TOGETHER
from svc.mail.search.version import VERSION
from svc.mail.search.vocabulary import entries_of
from svc.mail.sync import ingest
from svc.nursery import ProcessPool, WorkerCrashed, WorkerTimeout
from svc.store import ReadTx, Row, Tx, Value
from tests.mail.search.test_forms import SENTENCES, columns
from tests.recorded_log import RecordedLog
from tests.support.mailbox import MailSync, mail

CALLS = -(-MANY // TOGETHER)
KEPT = "select account, language, stem, word, messages from mail_search_vocabulary order by 1, 2, 3, 4"


async def taken_again(mail_sync: MailSync) -> list[tuple[object, ...]]:
    """The rows that there should be: the words of each message, taken from what the index keeps of it."""

    def read(tx: ReadTx) -> list[tuple[object, ...]]:
        counted: Counter[tuple[str, ...]] = Counter()
        for row_id in queries.newest(tx, limit=1_000):
            if (words := queries.counted_words(tx, row_id, version=VERSION)) is not None:
                entries = entries_of(words.columns)
                counted.update((words.account, entries.language, stem, word) for stem, word, _ in entries.forms)
        return sorted((*entry, messages) for entry, messages in counted.items())

    return await mail_sync.store.read(read)


async def problems(mail_sync: MailSync) -> Sequence[str]:
    return await mail_sync.store.read(lambda tx: [problem for one in INVARIANTS for problem in one.check(tx)])


async def filled(mail_sync: MailSync) -> str:
    for sentence in SENTENCES.values():
        await mail_sync.inject(raw=mail("Harbour", text=sentence))
    account_id = await mail_sync.synced("Harbour", "Harbour plans", "Quay")
    await mail_sync.indexer().catch_up()
    return account_id


async def test_it_is_what_the_messages_add_up_to(mail_sync: MailSync) -> None:
    await filled(mail_sync)
    assert await mail_sync.rows(KEPT) == await taken_again(mail_sync) != []
    assert await problems(mail_sync) == []


async def test_a_deleted_message_takes_its_words_along(mail_sync: MailSync) -> None:
    account = await mail_sync.account(await filled(mail_sync))
    for (message_id,) in await mail_sync.rows(
        "select id from mail_messages where subject in ('Quay', 'Harbour plans')"
    ):

        def delete(tx: Tx, message_id: object = message_id) -> None:
            ingest.delete_message(tx, account, message_id=str(message_id))

        await mail_sync.store.write(delete)
    await mail_sync.indexer().catch_up()
    assert await mail_sync.rows("select * from mail_search_vocabulary where word in ('quay', 'plans')") == []
    assert await mail_sync.rows(KEPT) == await taken_again(mail_sync) != []


async def test_words_that_are_taken_again_are_counted_once(mail_sync: MailSync) -> None:
    await filled(mail_sync)
    kept = await mail_sync.rows(KEPT)
    ids = [str(row[0]) for row in await mail_sync.rows("select id from mail_messages")]
    await mail_sync.store.write(actions.queue, message_ids=ids)
    await mail_sync.indexer().catch_up()
    assert await mail_sync.rows(KEPT) == kept
    await mail_sync.store.write(actions.outdate)
    assert await mail_sync.rows(KEPT) == []
    await mail_sync.indexer().catch_up()
    assert await mail_sync.rows(KEPT) == kept
    assert await problems(mail_sync) == []


async def test_after_an_upgrade_nothing_of_the_older_version_is_left(
    mail_sync: MailSync, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words that were counted in another way are not taken away, one by one, but all at once."""
    await filled(mail_sync)
    kept = await mail_sync.rows(KEPT)

    def as_before(tx: Tx) -> None:
        tx.run("update mail_search_state set version = 3")
        tx.run("update mail_search set version = 3")
        tx.run("update mail_search_named set counted = 3")
        tx.run("update mail_search_vocabulary set stem = stem || 'x'")

    await mail_sync.store.write(as_before)
    monkeypatch.setattr(actions, "QUEUED_AT_A_TIME", 2)
    await mail_sync.indexer().catch_up()
    assert await mail_sync.rows(KEPT) == kept


async def test_an_account_that_is_erased_leaves_no_word(mail_sync: MailSync, monkeypatch: pytest.MonkeyPatch) -> None:
    account_id = await filled(mail_sync)
    monkeypatch.setattr(vocabulary, "FORGOTTEN_AT_A_TIME", 50)
    steps = 1
    while await mail_sync.store.write(actions.erase, account_id=account_id) == "more":
        steps += 1
    assert steps > 3
    assert await mail_sync.rows(KEPT) == []
    await mail_sync.indexer().catch_up()
    assert await mail_sync.rows(KEPT) == []


async def test_a_word_that_is_missing_is_a_problem(mail_sync: MailSync) -> None:
    await filled(mail_sync)
    await mail_sync.store.write(lambda tx: tx.run("delete from mail_search_vocabulary where word = 'plans'"))
    assert [problem.partition(" has ")[2] for problem in await problems(mail_sync)] == [
        "words that the vocabulary has not"
    ]


def test_a_message_adds_so_many_words_at_the_most() -> None:
    words = [f"{a}{b}{c}word" for a in "abcdefghijklmn" for b in "abcdefghijklmn" for c in "abcdefghijklmn"]
    assert len(words) > MAX_WORDS
    assert len({word for _, word, _ in entries_of(columns(body=" ".join(words))).forms}) == MAX_WORDS


async def test_words_and_the_queue_are_found_by_their_indexes_also_without_statistics(mail_sync: MailSync) -> None:
    """A database has statistics only after it was closed once in an orderly way."""
    plans: list[str] = []

    def read(tx: ReadTx) -> None:
        seen: list[str] = []
        ask = tx.all

        def noted(sql: str, **values: Value) -> list[Row]:
            seen.extend(str(row[3]) for row in ask(f"explain query plan {sql}", **values))
            return ask(sql, **values)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(tx, "all", noted)
            queries.known_words(tx, ["acc"], ["harbour"])
            queries.waiting(tx, limit=10)
        plans.extend(seen)

    await mail_sync.store.read(read)
    assert "SEARCH v USING INDEX mail_search_vocabulary_words (account=? AND word=?)" in plans
    assert not any(plan.startswith("SCAN m") for plan in plans)


@dataclass
class Watched:
    """A pool that counts its calls. ``fault``: what each of them ends with."""

    pool: ProcessPool
    fault: Exception | None = None
    calls: int = 0

    async def run(self, fn: Callable[..., object], *args: object, deadline_s: float) -> object:
        self.calls += 1
        if self.fault is not None:
            raise self.fault
        return await self.pool.run(fn, *args, deadline_s=deadline_s)


@pytest.mark.parametrize(
    ("mails", "processors", "sent_chars", "fault", "calls"),
    [
        (MANY, 2, MAX_SENT_CHARS, None, CALLS),
        (MANY, 2, MAX_SENT_CHARS, WorkerCrashed("it died"), CALLS),
        (MANY, 2, MAX_SENT_CHARS, WorkerTimeout("too long"), CALLS),
        (MANY, 2, MAX_SENT_CHARS, OSError("there is no room for a process"), CALLS),
        (MANY, 2, TOGETHER, None, 0),
        (MANY - 1, 2, MAX_SENT_CHARS, None, 0),
        (MANY, 1, MAX_SENT_CHARS, None, 0),
    ],
)
async def test_many_messages_are_counted_in_a_worker_or_else_here(
    mail_sync: MailSync,
    log: RecordedLog,
    monkeypatch: pytest.MonkeyPatch,
    mails: int,
    processors: int,
    sent_chars: int,
    fault: Exception | None,
    calls: int,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    monkeypatch.setattr(tasks, "MAX_SENT_CHARS", sent_chars)
    for number in range(mails):
        await mail_sync.inject(f"The plans of the harbour {'abcdefghij'[number % 10] * 3}")
    await mail_sync.synced()
    pool = Watched(mail_sync.processes, fault)
    await replace(mail_sync.indexer(), processes=cast("ProcessPool", pool)).catch_up()
    assert pool.calls == calls
    assert await mail_sync.rows(KEPT) == await taken_again(mail_sync) != []
    assert log.events("info").count("search.entries_here") == (calls if fault else 0)


async def test_of_two_spellings_the_one_that_more_messages_have_is_kept(mail_sync: MailSync) -> None:
    for subject in ("La reunion", "La réunion", "La réunion", "Le café", "Le cafe", "Le cafe"):
        await mail_sync.inject(subject)
    await mail_sync.synced()
    await mail_sync.indexer().catch_up()
    kept = "select distinct word, coalesce(written, word) from mail_search_vocabulary where word in ('reunion', 'cafe')"
    assert sorted(await mail_sync.rows(kept)) == [("cafe", "cafe"), ("reunion", "réunion")]
    assert await mail_sync.rows(KEPT) == await taken_again(mail_sync)
    ids = [str(row[0]) for row in await mail_sync.rows("select id from mail_messages")]
    await mail_sync.store.write(actions.queue, message_ids=ids)
    await mail_sync.indexer().catch_up()
    assert await mail_sync.rows(KEPT) == await taken_again(mail_sync)
    await mail_sync.store.write(lambda tx: tx.run("delete from mail_messages where subject like '%é%'"))
    await mail_sync.indexer().catch_up()
    assert await mail_sync.rows(KEPT) == await taken_again(mail_sync) != []
