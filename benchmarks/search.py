"""Finding mail: over a million messages what each kind of search costs; over the same real mails, notmuch beside it.

Measured as the procedure sees it, in process: a hop to a reader's thread, a snapshot, the plan, the hits, their order,
fifty threads with their passages. ``bare`` is one statement for the newest 2,000 hits: no window costs less.

notmuch (Xapian) is a program a search: its start is measured by itself and taken off. It too answers fifty threads.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

import trio

from benchmarks.big_home import WORDS_A_BODY, home_with, open_workspace, prose, words
from benchmarks.mailroom import ADDRESS, open_mailroom, page_of, real_mail_paths, some_mails, sync_disks
from benchmarks.report import Table, count, median, milliseconds, percentile, ratio
from svc.mail.ingest_steps import INGEST_STEPS
from svc.mail.search import procedures
from svc.mail.search.find import LIMITS
from svc.mail.search.wire import SearchInput, SearchOut
from svc.mail.sync import ingest
from svc.principal import UNCLAIMED
from svc.store import ReadTx, Store

MESSAGES: Final = 1_000_000
QUICK_MESSAGES: Final = 100_000
CALLS: Final = 60
QUICK_CALLS: Final = 20
WARM_CALLS: Final = 3
QUERIES: Final = 400
QUICK_QUERIES: Final = 60
LIMIT_MS: Final = 50.0
MIN_TYPED_CHARS: Final = 4
QUICK_MAILS: Final = 600
ROUNDS: Final = 9
BARE: Final = """
    select f.rowid, s.thread_id, s.labels from mail_search_fts f cross join mail_search s on s.id = f.rowid
    where mail_search_fts match ? order by f.rowid desc limit 2000
"""

Ask = Callable[[], Awaitable[SearchOut]]


def run(quick: bool) -> Iterable[Table]:
    yield _first_results(QUICK_QUERIES if quick else QUERIES)
    yield _big(QUICK_MESSAGES if quick else MESSAGES, QUICK_CALLS if quick else CALLS)
    yield _beside_notmuch(QUICK_MAILS if quick else max(len(real_mail_paths()), QUICK_MAILS))


# What a person waits for while typing


def _first_results(queries: int) -> Table:
    """Each query is asked once: what it reads is in memory by luck alone."""
    times, worked, found = trio.run(_ask_each, home_with(QUICK_MESSAGES, searched=True), queries)
    table = Table(
        title=f"First results over {QUICK_MESSAGES:,} messages, in ms",
        columns=("search", "found", "offered", "p50", "p99", f"within {LIMIT_MS:.0f} ms, %", "processor p50", "p99"),
    )
    for name, values in times.items():
        within = 100 * sum(value * 1_000 <= LIMIT_MS for value in values) / len(values)
        having, offered = found[name]
        cells = (milliseconds(median(values)), milliseconds(percentile(values, 99)), f"{within:.0f}")
        processor = (milliseconds(median(worked[name])), milliseconds(percentile(worked[name], 99)))
        table.add(name, count(having), count(offered), *cells, *processor)
    table.notes += [
        f"{queries} different searches of each kind, in turn; words by how often they stand in the text",
        "found: searches with results; offered: with another spelling; forms of words are searched for, too",
        f"three accounts; {WORDS_A_BODY} words a body, cut out of real prose",
    ]
    return table


def _typed(rng: Random) -> Mapping[str, Callable[[], str]]:
    text = [word for word in prose() if len(word) >= MIN_TYPED_CHARS]
    places = range(len(prose()) - 2)

    def word() -> str:
        return rng.choice(text)

    def slip(right: str) -> str:
        at = rng.randrange(1, len(right) - 1)
        return right[:at] + right[at + 1] + right[at] + right[at + 2 :]

    return {
        "a word": lambda: f"{word()} ",
        "a word, unfinished": lambda: (one := word())[: rng.randint(3, len(one))],
        "two words": lambda: f"{word()} {word()} ",
        "a phrase": lambda: '"{} {}"'.format(*prose()[(at := rng.choice(places)) : at + 2]),
        "a slip": lambda: f"{slip(word())} ",
        "two words, one a slip": lambda: f"{word()} {slip(word())} ",
        "letters that nothing begins with": lambda: "".join(rng.choices("aeiounrstl", k=9)),
    }


Seconds = dict[str, list[float]]


async def _ask_each(home: Path, queries: int) -> tuple[Seconds, Seconds, dict[str, tuple[int, int]]]:
    """By kind: seconds on the wall, those of the processor, and how many found and offered something."""
    times: Seconds = {}
    worked: Seconds = {}
    answers: dict[str, list[SearchOut]] = {}
    kinds = _typed(Random(3))
    async with open_workspace(home) as workspace:
        for turn in range(WARM_CALLS + queries):
            for name, typed in kinds.items():
                wanted = SearchInput(query=typed())
                began = time.perf_counter()
                answer, processor = await workspace.store.read(_answered, wanted)
                elapsed = time.perf_counter() - began
                if turn >= WARM_CALLS:
                    times.setdefault(name, []).append(elapsed)
                    worked.setdefault(name, []).append(processor)
                    answers.setdefault(name, []).append(answer)
    found = {
        name: (sum(bool(one.threads) for one in all_of), sum(one.did_you_mean is not None for one in all_of))
        for name, all_of in answers.items()
    }
    return times, worked, found


def _answered(tx: ReadTx, wanted: SearchInput) -> tuple[SearchOut, float]:
    """With the seconds that a processor was busy with it: others on the machine leave them as they are, nearly."""
    began = time.thread_time()
    return procedures.answer(tx, UNCLAIMED, wanted=wanted, limits=LIMITS), time.thread_time() - began


# A million messages


def _big(messages: int, calls: int) -> Table:
    times, found = trio.run(_measure, home_with(messages, searched=True), calls)
    table = Table(
        title=f"Search over {messages:,} messages, in ms", columns=("search", "threads", "p50", "p99", "x bare")
    )
    bare = median(times[BARE])
    for name, values in times.items():
        cells = (milliseconds(median(values)), milliseconds(percentile(values, 99)), ratio(median(values), bare))
        table.add("bare: the newest 2,000 with the common word" if name == BARE else name, found[name], *cells)
    table.notes += [
        "three accounts; 60 words a body, cut out of real prose; calls interleaved",
        "+: there are more; early: it stopped at what one call may look at, and goes on by its cursor",
    ]
    return table


def _searches() -> Mapping[str, str]:
    known = words()
    common, often, medium, seldom = known[0], known[1], known[60], known[4_000]
    return {
        "a word of one message": "note777 ",
        "a seldom word": f"{seldom} ",
        "a medium word": f"{medium} ",
        "a common word": f"{common} ",
        "a common word, one account": f"{common} ",
        "two common words": f"{common} {often} ",
        "a phrase of common words": f'"{common} {often}"',
        "a common word without another": f"{common} -{often} ",
        "a seldom or a common word": f"{seldom} OR {common} ",
        "unfinished: three letters": known[60][:3],
        "unfinished: a word in every subject": "budge",
        "from: and a medium word": f"from:sender55 {medium} ",
        "before: and a medium word": f"before:2023-06-01 {medium} ",
        "is:unread and a medium word": f"is:unread {medium} ",
        "in:inbox, no word": "in:inbox",
        "has:attachment, which none keeps": "has:attachment",
    }


async def _measure(home: Path, calls: int) -> tuple[dict[str, list[float]], dict[str, str]]:
    times: dict[str, list[float]] = {}
    found: dict[str, str] = {}
    async with open_workspace(home) as workspace:
        with closing(sqlite3.connect(f"{workspace.store.path.as_uri()}?mode=ro", uri=True)) as connection:
            asks: dict[str, Callable[[], Awaitable[object]]] = {BARE: _bare(connection)}
            for name, query in _searches().items():
                account_id = "acc_0" if name.endswith("one account") else None
                wanted = SearchInput(query=query, account_id=account_id)
                asks[name] = _asking(workspace.store, wanted)
            for turn in range(WARM_CALLS + calls):
                for name, ask in asks.items():
                    began = time.perf_counter()
                    answer = await ask()
                    elapsed = time.perf_counter() - began
                    found[name] = _told(answer) if isinstance(answer, SearchOut) else ""
                    if turn >= WARM_CALLS:
                        times.setdefault(name, []).append(elapsed)
    return times, found


def _told(answer: SearchOut) -> str:
    more = "+" if answer.next_cursor else ""
    return f"{len(answer.threads)}{more}{' early' if answer.notices else ''}"


def _asking(store: Store, wanted: SearchInput) -> Ask:
    return lambda: store.read(procedures.answer, UNCLAIMED, wanted=wanted, limits=LIMITS)


def _bare(connection: sqlite3.Connection) -> Callable[[], Awaitable[object]]:
    common = words()[0]

    async def ask() -> object:
        return connection.execute(BARE, (common,)).fetchall()

    return ask


# The same mails in notmuch


def _beside_notmuch(mails: int) -> Table:
    table = Table(title="The same mails in svc and in notmuch", columns=("", "svc", "notmuch", "svc x notmuch"))
    raws, what = some_mails(mails)
    table.notes.append(f"{len(raws):,} mails: {what}; medians of {ROUNDS} interleaved rounds")
    if shutil.which("notmuch") is None:
        table.notes.append("notmuch is not installed here: nothing to compare with")
        return table
    with TemporaryDirectory() as directory:
        notmuch = _Notmuch(Path(directory) / "notmuch", raws)
        sync_disks()
        trio.run(_compare, Path(directory) / "home", raws, notmuch, table)
    table.notes += [
        "indexing: parsed mails to found ones; notmuch also parses, svc has done so when it stored them",
        "searches: fifty threads, newest first; notmuch without its start as a program, and without passages",
    ]
    return table


async def _compare(home: Path, raws: Sequence[bytes], notmuch: _Notmuch, table: Table) -> None:
    async with open_mailroom(home, raws) as room:
        for refs in room.pages():
            page = page_of(await room.fetcher.fetch(refs))
            await room.store.write(ingest.store_page, account_id=room.account_id, page=page, steps=INGEST_STEPS)
        began = time.perf_counter()
        await room.indexer().catch_up()
        indexed_s = time.perf_counter() - began
        rates = (len(raws) / indexed_s, len(raws) / notmuch.indexed_s)
        table.add("mails indexed a second", *map(count, rates), ratio(*rates))
        for name, query in (await room.store.read(_queries)).items():
            ours, theirs = [], []
            for _ in range(ROUNDS):
                ours.append(await _timed(room.store, query))
                theirs.append(notmuch.timed(query))
            middle = (median(ours), median(theirs))
            table.add(f"{name}, ms", *map(milliseconds, middle), ratio(*middle))


async def _timed(store: Store, query: str) -> float:
    began = time.perf_counter()
    await _asking(store, SearchInput(query=f"{query} "))()
    return time.perf_counter() - began


def _queries(tx: ReadTx) -> Mapping[str, str]:
    """Words of these mails, by how many have them; both programs are asked in the same letters."""
    having: Counter[str] = Counter()
    bodies = [str(body).lower().split() for (body,) in tx.all("select body from mail_search_body")]
    for body in bodies:
        having.update({word for word in body if word.isascii() and word.isalpha() and 4 <= len(word) <= 12})
    by_count = [word for word, _ in having.most_common()]
    common, medium, rare = by_count[5], by_count[len(by_count) // 50], by_count[len(by_count) // 2]
    return {
        "a rare word": rare,
        "a medium word": medium,
        "a common word": common,
        "two words": f"{common} {medium}",
        "a phrase": f'"{by_count[0]} {by_count[1]}"',
        "a sender and a word": f"from:com {medium}",
    }


class _Notmuch:
    """A maildir of these mails, indexed; one process a search."""

    def __init__(self, directory: Path, raws: Sequence[bytes]) -> None:
        maildir = directory / "mail"
        for name in ("cur", "new", "tmp"):
            (maildir / name).mkdir(parents=True)
        for number, raw in enumerate(raws):
            (maildir / "cur" / f"{number}:2,S").write_bytes(raw)
        config = directory / "config"
        config.write_text(
            f"[database]\npath={maildir}\n[user]\nname=bench\nprimary_email={ADDRESS}\n[new]\ntags=inbox\n"
        )
        self._environment = {**os.environ, "NOTMUCH_CONFIG": str(config)}
        began = time.perf_counter()
        self._run("new", "--quiet")
        self.indexed_s = time.perf_counter() - began

    def timed(self, query: str) -> float:
        """Seconds of a search, less those of a start that does nothing."""
        began = time.perf_counter()
        self._run("count", "--lastmod", "id:none")
        started = time.perf_counter()
        self._run("search", "--limit=50", "--sort=newest-first", query)
        return max(1e-6, time.perf_counter() - started - (started - began))

    def _run(self, *arguments: str) -> None:
        subprocess.run(["notmuch", *arguments], env=self._environment, check=True, capture_output=True)
