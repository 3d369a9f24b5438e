"""Sixty-four people search at once: how long they wait, and what the inbox of a sixty-fifth waits meanwhile.

The real ``svc serve`` over loopback. In each round one search goes out alone, then sixty-four at the same moment while
another connection goes on asking for its inbox. The ratio is the round's own: a search, or a page of the inbox, among
many beside the same one alone; and what each answered search took of the whole time, beside one alone: under 1 beats
one after the other.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from threading import Barrier, Event
from typing import Final
from urllib.parse import quote

from benchmarks.big_home import home_with, words
from benchmarks.processes import svc_serve
from benchmarks.report import Table, count, median, milliseconds, percentile, ratio

MESSAGES: Final = 40_000
CLIENTS: Final = 64
ROUNDS: Final = 9
QUICK_ROUNDS: Final = 3
WARM_ROUNDS: Final = 1
DEADLINE_S: Final = 120.0
SETTINGS: Final = {"SVC_INDEX_DEBOUNCE_MS": "500"}
"""As outside of tests: the fakes have all mail indexed before each search."""
INBOX: Final = ("mail.threads", {"section": "inbox"})

Answer = tuple[float, int]
"""Seconds, and the status."""


def run(quick: bool) -> Iterable[Table]:
    rounds = QUICK_ROUNDS if quick else ROUNDS
    yield _table([*_rounds(WARM_ROUNDS + rounds)][WARM_ROUNDS:])


class _Round:
    def __init__(self) -> None:
        self.search_alone_s = self.inbox_alone_s = self.all_s = 0.0
        self.searches: list[Answer] = []
        self.inbox: list[Answer] = []

    @property
    def refused(self) -> int:
        return sum(status != http.client.OK for _, status in self.searches)


def _rounds(rounds: int) -> Iterable[_Round]:
    queries = _queries()
    with ExitStack() as stack:
        server = stack.enter_context(svc_serve(home_with(MESSAGES, searched=True), settings=SETTINGS))
        pool = stack.enter_context(ThreadPoolExecutor(CLIENTS + 1))
        lines = [stack.enter_context(closing(_line(server.port))) for _ in range(CLIENTS + 1)]
        for number in range(rounds):
            yield _round(lines, pool, [queries[(number + client) % len(queries)] for client in range(CLIENTS)])


def _round(lines: list[http.client.HTTPConnection], pool: ThreadPoolExecutor, queries: list[str]) -> _Round:
    told = _Round()
    alone = [_ask(lines[0], "mail.search", {"query": query})[0] for query in queries[: len(_queries())]]
    told.search_alone_s = sum(alone) / len(alone)
    told.inbox_alone_s = median([_ask(lines[-1], *INBOX)[0] for _ in alone])
    together, done = Barrier(CLIENTS + 1), Event()

    def search(client: int) -> Answer:
        together.wait()
        return _ask(lines[client], "mail.search", {"query": queries[client]})

    inbox = pool.submit(_until(done, lambda: _ask(lines[-1], *INBOX)))
    searches = [pool.submit(search, client) for client in range(CLIENTS)]
    together.wait()
    began = time.perf_counter()
    told.searches = [one.result() for one in searches]
    told.all_s = time.perf_counter() - began
    done.set()
    told.inbox = inbox.result()
    return told


def _until(done: Event, ask: Callable[[], Answer]) -> Callable[[], list[Answer]]:
    def asked() -> list[Answer]:
        answers = [ask()]
        while not done.is_set():
            answers.append(ask())
        return answers

    return asked


def _queries() -> list[str]:
    """What people type: common and seldom words, two of them, a phrase, a sender, a word not yet finished."""
    known = words()
    common, often, medium, seldom = known[0], known[1], known[60], known[4_000]
    return [
        f"{common} ",
        f"{seldom} ",
        f"{common} {often} ",
        f"{medium} ",
        f'"{common} {often}"',
        f"from:sender55 {medium} ",
        known[60][:3],
        "budge",
    ]


def _line(port: int) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)


def _ask(line: http.client.HTTPConnection, procedure: str, wanted: dict[str, str]) -> Answer:
    began = time.perf_counter()
    line.request("GET", f"/trpc/{procedure}?input={quote(json.dumps(wanted))}")
    answer = line.getresponse()
    answer.read()
    return time.perf_counter() - began, answer.status


def _table(rounds: list[_Round]) -> Table:
    table = Table(
        title=f"{CLIENTS} searches at once, {MESSAGES:,} messages",
        columns=("what", "alone, ms", "p50, ms", "p99, ms", "p50 x alone", "p99 x alone"),
    )
    _add(table, "mail.search", [(one.search_alone_s, one.searches) for one in rounds])
    _add(table, "mail.threads meanwhile", [(one.inbox_alone_s, one.inbox) for one in rounds])
    each = median([one.all_s / (CLIENTS - one.refused) / one.search_alone_s for one in rounds])
    table.notes += [
        f"refused: {count(sum(one.refused for one in rounds))} of {count(len(rounds) * CLIENTS)}",
        f"the time that each answered one took of all the time x one alone: {each:.2f}",
        f"medians of {len(rounds)} rounds; the ratio of each round by itself",
    ]
    return table


def _add(table: Table, what: str, rounds: list[tuple[float, list[Answer]]]) -> None:
    alone = [alone_s for alone_s, _ in rounds]
    middles, highs = ([percentile([s for s, _ in answers], at) for _, answers in rounds] for at in (50, 99))
    table.add(
        what,
        *(milliseconds(median(values)) for values in (alone, middles, highs)),
        *(ratio(median([v / a for v, a in zip(values, alone, strict=True)]), 1) for values in (middles, highs)),
    )
