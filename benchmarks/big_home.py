"""Homes with many messages, written by bulk SQL into a cache (``.cache/bench``) and used again by later runs.

What a list shows is filled in as the ingest would have left it. All messages have the same body.
A home that is searched has words in its index all the same, in bodies cut out of real prose: what the modules of
Python's own library say of themselves.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

import trio

from benchmarks.processes import REPOSITORY, environment
from svc.app import all_rules, all_settings, workspace_of
from svc.clock import WallClock
from svc.config import read_config
from svc.log import Log
from svc.mail.search.model import COLUMNS, Column
from svc.mail.search.plan import account_word
from svc.mail.search.version import VERSION
from svc.mail.search.vocabulary import entries_of
from svc.workspace import Workspace

CACHE: Final = REPOSITORY / ".cache" / "bench"
ADDRESSES: Final = ("one@example.org", "two@example.org", "three@example.org")
MESSAGES_A_THREAD: Final = 2
FORM: Final = 5
"""Count it up when the rows below change: homes of another form are built anew."""

_NUMBERS: Final = "with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n + 1 < :count)"
_SCATTERED: Final = "printf('%08x', (n * 2654435761) % 4294967296)"  # one to one: ids as hashes lie, in no order
_ACCOUNTS: Final = """
    insert into mail_accounts (id, address, provider, state, cursor, messages, unread_threads, created_at)
    values (:id, :address, 'fake', 'caught-up', '1', :messages, :unread, :created_at)
"""
_THREADS: Final = f"""
    {_NUMBERS}
    insert into mail_threads (id, account_id, provider_thread_id, subject, snippet, sender_name, sender_address,
        last_message_at, messages, in_inbox, unread, visible, labels)
    select 'thr_' || {_SCATTERED}, 'acc_' || (n % 3), 't' || n, 'The budget of week ' || n,
        'Here are the notes of our meeting, with what we agreed on and who does what by when.',
        'Sender ' || (n % 997), 'sender' || (n % 997) || '@example.org', 1700000000000 - n * 60000, {MESSAGES_A_THREAD},
        {MESSAGES_A_THREAD} * (n % 2 = 0), (n % 10 = 0), {MESSAGES_A_THREAD},
        case when n % 10 = 0 then '["INBOX","UNREAD"]' when n % 2 = 0 then '["INBOX"]' else '["CATEGORY_UPDATES"]' end
    from numbers
"""
_MESSAGES: Final = f"""
    {_NUMBERS}, copies (k) as (values (0), (1))
    insert into mail_messages (id, account_id, thread_id, provider_message_id, message_id_header, sent_at, stored_at,
        sender_name, sender_address, subject, snippet, headers, labels, in_inbox, unread, visible, attachments, own,
        body_sha256, raw_sha256, raw_size, seen_sweep)
    select 'msg_' || {_SCATTERED} || k, 'acc_' || (n % 3), 'thr_' || {_SCATTERED}, 'm' || n || '-' || k,
        n || '.' || k || '@example.org', 1700000000000 - n * 60000 - k * 1000, 1700000000000,
        'Sender ' || (n % 997), 'sender' || (n % 997) || '@example.org', 'The budget of week ' || n,
        'Here are the notes of our meeting, with what we agreed on and who does what by when.',
        '{{"to":[{{"name":"","address":"one@example.org"}}],"cc":[],"bcc":[],"replyTo":[],"references":[]}}',
        case when n % 10 = 0 and k = 0 then '["INBOX","UNREAD"]' when n % 2 = 0 then '["INBOX"]'
            else '["CATEGORY_UPDATES"]' end,
        (n % 2 = 0), (n % 10 = 0 and k = 0), 1, 0, 0, :body, :body, 4000, 1
    from numbers, copies
"""
BODY_HTML: Final = "<p>Dear all,</p>" + "<p>Here are the <b>notes</b> of our meeting, with what we agreed on.</p>" * 40
BODY: Final = json.dumps({"html": BODY_HTML, "text": "Here are the notes."}).encode()
BODY_SHA256: Final = hashlib.sha256(BODY).hexdigest()
BODIES: Final = 20_000
"""Different ones; each message adds a word of its own to one of them."""

WORDS_A_BODY: Final = 60
_SEARCH: Final = """
    insert into mail_search (id, message_id, account_id, thread_id, labels, attachments, entry, version)
    select sent_at / 1000 * 4096 + seen_sweep, id, account_id, thread_id, labels, attachments, rowid, :version
    from mail_messages
"""
_SEARCH_NAMED: Final = """
    insert into mail_search_named (id, account, subject, sender, recipient, cc, bcc, counted)
    select s.id, replace(s.account_id, '_', ''), m.subject, m.sender_name || ' ' || m.sender_address, :recipient, '',
        '', :version
    from mail_search s join mail_messages m on m.id = s.message_id order by s.id
"""
_SEARCH_BODY: Final = """
    insert into mail_search_body (id, files, body)
    select s.id, '', 'note' || s.entry || ' ' || b.text
    from mail_search s join bodies b on b.number = s.entry * 7919 % :bodies order by s.id
"""
_HAVING: Final = """
    select account_id, entry * 7919 % :bodies, count(*) from mail_search group by 1, 2
"""
_NO_WORDS: Final[Mapping[Column, str]] = dict.fromkeys(COLUMNS, "")
_NO_PROSE: Final = frozenset({"site-packages", "test", "tests", "lib2to3", "idlelib"})
_SAID: Final = re.compile(r'"""(.*?)"""', re.DOTALL)
_WORD: Final = re.compile(r"[a-z]{2,}")


@asynccontextmanager
async def open_workspace(home: Path) -> AsyncIterator[Workspace]:
    """The whole service on ``home``, opened as a boot does, with nothing running."""
    environ = environment(home)
    config = read_config(all_settings(), environ, all_rules())
    clock = WallClock()
    log = Log.to_stderr(form="readable", clock=clock, level="warning")
    async with workspace_of(config, clock=clock, log=log, rng=Random(1), environ=environ) as workspace:
        yield workspace


def home_with(messages: int, *, searched: bool = False) -> Path:
    """A home with three accounts that hold ``messages`` between them: from the cache, or built now."""
    building = CACHE / f"building-{os.getpid()}"
    shutil.rmtree(building, ignore_errors=True)
    home = building / "home"
    home.mkdir(parents=True)
    trio.run(_create, home)
    (database,) = (home / "db").glob("*.sqlite3")
    kind = f"{'searched-' if searched else ''}{messages}"
    wanted = CACHE / f"{kind}-{_form_of(database)}"
    if not wanted.exists():
        _fill(database, messages, searched=searched)
        entries = [{"op": "label", "address": address, "id": "Label_1", "name": "Later"} for address in ADDRESSES]
        (home / "spool" / "fake.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        for outdated in CACHE.glob(f"{kind}-*"):
            shutil.rmtree(outdated)
        building.rename(wanted)
    shutil.rmtree(building, ignore_errors=True)
    return wanted / "home"


async def _create(home: Path) -> None:
    async with open_workspace(home) as workspace:
        await workspace.blobs.put(BODY)


def _form_of(database: Path) -> str:
    with closing(sqlite3.connect(database)) as connection:
        schema = connection.execute("select sql from sqlite_schema where sql is not null order by name").fetchall()
    return hashlib.sha256(repr((FORM, schema)).encode()).hexdigest()[:12]


def _fill(database: Path, messages: int, *, searched: bool) -> None:
    threads = messages // MESSAGES_A_THREAD
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        for pragma in ("synchronous = off", "cache_size = -262144", "foreign_keys = off"):
            connection.execute(f"pragma {pragma}")
        connection.execute("begin")
        for number, address in enumerate(ADDRESSES):
            mine = range(number, threads, len(ADDRESSES))
            row = {
                "id": f"acc_{number}",
                "address": address,
                "messages": len(mine) * MESSAGES_A_THREAD,
                "unread": sum(n % 10 == 0 for n in mine),
                "created_at": 1_700_000_000_000 + number,
            }
            connection.execute(_ACCOUNTS, row)
        connection.execute(_THREADS, {"count": threads})
        connection.execute(_MESSAGES, {"count": threads, "body": BODY_SHA256})
        connection.execute("delete from mail_search_queue")
        connection.execute("update mail_search_state set version = ?, entries = ?", (VERSION, messages))
        connection.execute("commit")
        if searched:
            _index(connection)
        connection.execute("analyze")
        connection.execute("pragma wal_checkpoint(truncate)")
    _sync(database)


def thread_id(number: int) -> str:
    """The id of a home's thread ``number``; the newest is 0."""
    return f"thr_{number * 2654435761 % 4294967296:08x}"


def words() -> Sequence[str]:
    """The words of the bodies, the most common first."""
    return [word for word, _ in Counter(prose()).most_common()]


@cache
def prose() -> Sequence[str]:
    """The words of real sentences, one after the other."""
    library = Path(os.__file__).parent
    sources = (path for path in sorted(library.rglob("*.py")) if not _NO_PROSE.intersection(path.parts))
    said = (text for path in sources for text in _SAID.findall(path.read_text(encoding="utf-8", errors="ignore")))
    return [word for text in said for word in _WORD.findall(text.lower())]


def _index(connection: sqlite3.Connection) -> None:
    rng = Random(2)
    known = prose()
    starts = [rng.randrange(len(known) - WORDS_A_BODY) for _ in range(BODIES)]
    bodies = [" ".join(known[start : start + WORDS_A_BODY]) for start in starts]
    connection.execute("begin")
    connection.execute("create temp table bodies (number integer primary key, text text not null)")
    connection.executemany("insert into bodies (number, text) values (?, ?)", enumerate(bodies))
    connection.execute(_SEARCH, {"version": VERSION})
    connection.execute(_SEARCH_NAMED, {"recipient": ADDRESSES[0], "version": VERSION})
    connection.execute(_SEARCH_BODY, {"bodies": BODIES})
    _count_words(connection, bodies)
    connection.execute("insert into mail_search_fts (mail_search_fts) values ('rebuild')")
    connection.execute("commit")
    connection.execute("pragma wal_checkpoint(truncate)")


def _count_words(connection: sqlite3.Connection, bodies: Sequence[str]) -> None:
    """What the messages of each account add to its vocabulary, each different body taken once."""
    having: dict[str, Counter[int]] = defaultdict(Counter)
    for account_id, number, messages in connection.execute(_HAVING, {"bodies": BODIES}):
        having[account_word(account_id)][number] = messages
    entries = [entries_of({**_NO_WORDS, "subject": "The budget of week", "body": body}) for body in bodies]
    for account, numbers in having.items():
        counted: Counter[tuple[str, str, str]] = Counter()
        for number, messages in numbers.items():
            for stem, word, _ in entries[number].forms:
                counted[entries[number].language, stem, word] += messages
        connection.executemany(
            "insert into mail_search_vocabulary (account, language, stem, word, messages) values (?, ?, ?, ?, ?)",
            [(account, *entry, messages) for entry, messages in sorted(counted.items())],
        )


def _sync(database: Path) -> None:
    descriptor = os.open(database, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
