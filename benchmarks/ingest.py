"""Mails a second, from raw bytes to committed: the whole way, its parts, and what disk and database allow.

The whole way is the service's: fetched through the seam, parsed, blobs on disk and synced, then one transaction a page.
Beside it: the same blobs as plain files, each synced; and the very rows that the commit path left behind, inserted in
as many transactions with nothing but ``sqlite3``.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import trio

from benchmarks.mailroom import open_mailroom, page_of, some_mails, sync_disks
from benchmarks.report import Table, count, median, paired_ratio
from svc.formats.mime import parse_message
from svc.mail.ingest_steps import INGEST_STEPS
from svc.mail.model import Incoming
from svc.mail.sync import ingest
from svc.mail.sync.ingest import FullSyncPage

MAILS: Final = 1_500
QUICK_MAILS: Final = 300
ROUNDS: Final = 3
QUICK_ROUNDS: Final = 1
POLLED: Final = 200
PRODUCERS: Final = 32
"""Accounts that poll at the same time: their single messages share commits."""

WHOLE: Final = "raw bytes to committed, blobs synced"
FETCH: Final = "  of it: parse and blobs synced"
PARSE: Final = "  of it: MIME parse alone"
FILES: Final = "plain: the same blobs, a file and a sync each"
COMMIT: Final = "a page a transaction (sweep)"
POLL: Final = "a message a transaction (poll), 1 at a time"
POLL_MANY: Final = f"a message a transaction (poll), {PRODUCERS} at a time"
INDEX: Final = "the words of them taken for search, afterwards"
ROWS: Final = "limit: bare sqlite3, the same rows, a page a transaction"


def run(quick: bool) -> Iterable[Table]:
    mails, what = some_mails(QUICK_MAILS if quick else MAILS)
    rounds = QUICK_ROUNDS if quick else ROUNDS
    rates: dict[str, list[float]] = {}
    with TemporaryDirectory() as directory:
        for number in range(rounds):
            for name, seconds, done in _round(Path(directory) / str(number), mails):
                rates.setdefault(name, []).append(done / seconds)
    whole = Table(title="Ingest from raw bytes, synchronous=FULL", columns=("way", "mails/s", "x plain"))
    for name in (WHOLE, FETCH, PARSE, FILES):
        whole.add(name, count(median(rates[name])), paired_ratio(rates[name], rates[FILES]))
    whole.notes.append(f"{len(mails)} mails: {what}; medians of {rounds} interleaved round(s)")
    yield whole
    commit = Table(title="The commit path alone, synchronous=FULL", columns=("way", "mails/s", "x limit"))
    for name in (COMMIT, POLL, POLL_MANY, INDEX, ROWS):
        commit.add(name, count(median(rates[name])), paired_ratio(rates[name], rates[ROWS]))
    commit.notes.append("rows of a mail: thread, message, event, outbox (thread, account), files; counters kept")
    yield commit


def _round(home: Path, mails: Sequence[bytes]) -> Iterator[tuple[str, float, int]]:
    began = time.perf_counter()
    for raw in mails:
        parse_message(raw)
    yield PARSE, time.perf_counter() - began, len(mails)
    sync_disks()
    fetch_s, pages_s, pages = trio.run(_whole, home / "whole", mails)
    yield WHOLE, fetch_s + pages_s, len(mails)
    yield FETCH, fetch_s, len(mails)
    sync_disks()
    yield FILES, _bare_files(home / "whole" / "blobs", home / "files", len(pages)), len(mails)
    sync_disks()
    commit_s, index_s = trio.run(_commit, home / "commit", mails, pages)
    yield COMMIT, commit_s, len(mails)
    yield INDEX, index_s, len(mails)
    sync_disks()
    yield ROWS, _bare_rows(home / "commit" / "svc.sqlite3", home / "bare.sqlite3", len(pages)), len(mails)
    messages = [message for page in pages for message in page.incoming][:POLLED]
    sync_disks()
    yield POLL, trio.run(partial(_poll, home / "poll", mails, messages, producers=1)), len(messages)
    sync_disks()
    yield POLL_MANY, trio.run(partial(_poll, home / "poll-many", mails, messages, producers=PRODUCERS)), len(messages)


async def _whole(home: Path, mails: Sequence[bytes]) -> tuple[float, float, list[FullSyncPage]]:
    """Seconds for fetching with blobs, seconds for the transactions, and the pages they stored."""
    fetch_s = pages_s = 0.0
    pages: list[FullSyncPage] = []
    async with open_mailroom(home, mails) as room:
        for refs in room.pages():
            began = time.perf_counter()
            page = page_of(await room.fetcher.fetch(refs))
            fetched = time.perf_counter()
            await room.store.write(ingest.store_page, account_id=room.account_id, page=page, steps=INGEST_STEPS)
            fetch_s += fetched - began
            pages_s += time.perf_counter() - fetched
            pages.append(page)
    return fetch_s, pages_s, pages


async def _commit(home: Path, mails: Sequence[bytes], pages: Sequence[FullSyncPage]) -> tuple[float, float]:
    """Seconds for the transactions; seconds for the index, with the bodies still at hand."""
    async with open_mailroom(home, mails) as room:
        began = time.perf_counter()
        for page in pages:
            await room.store.write(ingest.store_page, account_id=room.account_id, page=page, steps=INGEST_STEPS)
        elapsed = time.perf_counter() - began
        stored = (await room.account()).messages
        assert stored == len(mails), f"{stored} of {len(mails)} were stored"
        indexer = room.indexer()
        for page in pages:
            await indexer.stored(room.account_id, page.incoming)
        began = time.perf_counter()
        await indexer.catch_up()
    return elapsed, time.perf_counter() - began


async def _poll(home: Path, mails: Sequence[bytes], messages: Sequence[Incoming], *, producers: int) -> float:
    """As polling stores what it finds: each message in its own transaction."""
    async with open_mailroom(home, mails) as room:
        remaining = iter(messages)

        async def produce() -> None:
            for message in remaining:
                await room.store.write(
                    ingest.store_one, account_id=room.account_id, message=message, steps=INGEST_STEPS
                )

        began = time.perf_counter()
        async with trio.open_nursery() as nursery:
            for _ in range(producers):
                nursery.start_soon(produce)
        return time.perf_counter() - began


def _bare_rows(source: Path, target: Path, transactions: int) -> float:
    """Insert every row of ``source`` that the ingest wrote, row by row, in ``transactions`` commits."""
    with sqlite3.connect(source) as full:
        schema = [
            sql
            for (sql,) in full.execute(
                """
                select sql from sqlite_schema
                where sql not null and name not like 'sqlite_%' and name not like 'mail_search%'
                    and name not in (select name from pragma_table_list where type = 'shadow')
                """
            )
        ]
        tables = {
            name: full.execute(f"select * from {name}").fetchall()
            for name in ("mail_threads", "mail_messages", "files", "events", "outbox")
        }
    bare = sqlite3.connect(target, isolation_level=None)
    for pragma in ("journal_mode = wal", "synchronous = full", "wal_autocheckpoint = 4000"):
        bare.execute(f"pragma {pragma}")
    for statement in schema:
        bare.execute(statement)
    began = time.perf_counter()
    for part in range(transactions):
        bare.execute("begin immediate")
        for name, rows in tables.items():
            for row in rows[part * len(rows) // transactions : (part + 1) * len(rows) // transactions]:
                bare.execute(f"insert into {name} values ({', '.join('?' * len(row))})", row)
        bare.execute("commit")
    elapsed = time.perf_counter() - began
    bare.close()
    return elapsed


def _bare_files(source: Path, target: Path, pages: int) -> float:
    """Write every blob below ``source`` into one directory: each file synced and renamed, the directory once a page."""
    contents = [path.read_bytes() for path in source.glob("??/*")]
    target.mkdir()
    directory = os.open(target, os.O_RDONLY)
    began = time.perf_counter()
    for page in range(pages):
        for number in range(page * len(contents) // pages, (page + 1) * len(contents) // pages):
            temporary = target / f"{number}.incoming"
            with temporary.open("xb", buffering=0) as file:
                file.write(contents[number])
                os.fsync(file.fileno())
            temporary.rename(target / str(number))
        os.fsync(directory)
    elapsed = time.perf_counter() - began
    os.close(directory)
    return elapsed
