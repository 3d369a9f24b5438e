"""What the inbox asks for, over mailboxes of very different size: the aim is that the size does not show.

Measured as the procedures see it, in process: a hop to a reader's thread, a snapshot, the query, the records. ``hop``
is the same with an empty query: what no query can be faster than. Beside it are two selects of fifty rows along an
index: ``bare`` takes four columns, ``whole`` all that a row of the list is made of.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

import trio

from benchmarks.big_home import BODY_HTML, BODY_SHA256, MESSAGES_A_THREAD, home_with, open_workspace, thread_id
from benchmarks.report import Table, median, milliseconds, percentile, ratio
from svc.formats.html import POLICY_VERSION, sanitize
from svc.mail.reading.wire import ThreadInput
from svc.mail.threads.queries import THREAD
from svc.mail.threads.wire import ThreadsInput
from svc.principal import UNCLAIMED
from svc.protocol import NOTHING, Procedure
from svc.store import ReadTx, Tx
from svc.workspace import RequestContext, Workspace

SIZES: Final = (1_000, 100_000, 1_000_000)
QUICK_SIZES: Final = (1_000, 100_000)
CALLS: Final = 400
QUICK_CALLS: Final = 150
WARM_CALLS: Final = 20
_FIFTY: Final = """
    select {columns} from mail_threads t
    where t.account_id = 'acc_0' and t.in_inbox > 0 order by t.last_message_at desc, t.id desc limit 50
"""
BARE: Final = _FIFTY.format(columns="t.id, t.subject, t.snippet, t.last_message_at")
WHOLE: Final = _FIFTY.format(columns=THREAD)
BARE_NAME: Final = "bare sqlite3, 50 rows by index"
WHOLE_NAME: Final = "whole: the same with all columns of a row"

AFTER_A_COMMIT: Final = "after a commit"
"""Else it is asked again, and nothing was committed since: what every further window of a person asks."""

Ask = Callable[[], Awaitable[object]]


def run(quick: bool) -> Iterable[Table]:
    sizes = QUICK_SIZES if quick else SIZES
    homes = {size: home_with(size) for size in sizes}
    times = trio.run(_measure, homes, QUICK_CALLS if quick else CALLS)
    table = Table(
        title="Inbox reads, p50 / p99 in ms",
        columns=("query", *(f"{size:,} messages" for size in sizes), "slope", "x bare", "x whole"),
    )
    bare, whole = (median(times[name, sizes[-1]]) for name in (BARE_NAME, WHOLE_NAME))
    for name in dict.fromkeys(name for name, _ in times):
        found = [times[name, size] for size in sizes]
        cells = [f"{milliseconds(median(one))} / {milliseconds(percentile(one, 99))}" for one in found]
        most = median(found[-1])
        table.add(name, *cells, ratio(most, median(found[0])), ratio(most, bare), ratio(most, whole))
    table.notes += [
        "slope: the largest mailbox's median over the smallest's; x bare, x whole: over these selects at the largest",
        "three accounts, two messages a thread, every other thread in the inbox; calls interleaved over the sizes",
    ]
    yield table


async def _measure(homes: dict[int, Path], calls: int) -> dict[tuple[str, int], list[float]]:
    times: dict[tuple[str, int], list[float]] = {}
    async with AsyncExitStack() as stack:
        writers = await stack.enter_async_context(trio.open_nursery())
        stack.callback(writers.cancel_scope.cancel)
        asks: list[tuple[tuple[str, int], Ask, Ask | None]] = []
        for size, home in homes.items():
            workspace = await stack.enter_async_context(open_workspace(home))
            connection = stack.enter_context(
                closing(sqlite3.connect(f"{workspace.store.path.as_uri()}?mode=ro", uri=True))
            )
            for name, ask in _asks(workspace, connection, size).items():
                commit = partial(workspace.store.write, _commit) if name.endswith(AFTER_A_COMMIT) else None
                asks.append(((name, size), ask, commit))
            # Who opens a thread for the first time keeps what its look at the senders found.
            writers.start_soon(partial(workspace.store.run_writer, started=lambda: None))
        for turn in range(WARM_CALLS + calls):
            for what, ask, before in asks:
                if before is not None:
                    await before()
                began = time.perf_counter()
                await ask()
                elapsed = time.perf_counter() - began
                if turn >= WARM_CALLS:
                    times.setdefault(what, []).append(elapsed)
    return times


def _asks(workspace: Workspace, connection: sqlite3.Connection, messages: int) -> dict[str, Ask]:
    procedures = {row.name: row for feature in workspace.features for row in feature.procedures}
    call = RequestContext(workspace=workspace, principal_or_none=UNCLAIMED, request_id="bench")

    def ask(procedure: Procedure[RequestContext], wanted: object) -> Ask:
        return lambda: procedure.call(call, wanted)

    rng = Random(3)
    workspace.store.write_now(_sanitize_once)
    open_thread = procedures["mail.thread"]

    async def open_any() -> object:
        wanted = ThreadInput(id=thread_id(rng.randrange(messages // MESSAGES_A_THREAD)))
        return await open_thread.call(call, wanted)

    async def select(statement: str) -> object:
        return connection.execute(statement).fetchall()

    threads = procedures["mail.threads"]
    inbox = ask(threads, ThreadsInput(section="inbox"))
    of_one = ask(threads, ThreadsInput(section="inbox", account_id="acc_0"))
    accounts = ask(procedures["mail.accounts"], NOTHING)
    return {
        f"mail.threads, unified inbox, {AFTER_A_COMMIT}": inbox,
        "mail.threads, unified inbox": inbox,
        f"mail.threads, unified skipped, {AFTER_A_COMMIT}": ask(threads, ThreadsInput(section="skipped")),
        f"mail.threads, one account, {AFTER_A_COMMIT}": of_one,
        "mail.threads, one account": of_one,
        "mail.thread, any of them, two messages": open_any,
        f"mail.accounts (badges), {AFTER_A_COMMIT}": accounts,
        "mail.accounts (badges)": accounts,
        "hop: an empty read": lambda: workspace.store.read(_nothing),
        BARE_NAME: partial(select, BARE),
        WHOLE_NAME: partial(select, WHOLE),
    }


def _sanitize_once(tx: Tx) -> None:
    """A body is sanitized when it is first opened (see ``sanitizing``); from then on this is what opening reads."""
    tx.run(
        """
        insert or ignore into mail_clean (body_sha256, policy, html, blocked_images, remote_images, made_at)
        values (:sha256, :policy, :html, 0, '[]', 0)
        """,
        sha256=BODY_SHA256,
        policy=POLICY_VERSION,
        html=sanitize(BODY_HTML).html,
    )


def _commit(tx: Tx) -> None:
    """Something that no list shows. What writes the same value again changes nothing, and is no news to a reader."""
    tx.run("update mail_search_state set entries = entries + 1 - 2 * (entries & 1)")


def _nothing(tx: ReadTx) -> None:
    return None
