"""A hundred mail rules against none: what they add to a mail that comes, with no model asked.

Beside the whole way of a mail (fetched, parsed, blobs synced, its own transaction, as polling stores it) stands what
the consumer of rules does with the same mails, a hundred an event batch: read what there is of each, and match all
rules. One in ten of the rules looks for words, but for a sender who never writes: bodies are not read.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import trio

from benchmarks.mailroom import open_mailroom, page_of, some_mails, sync_disks
from benchmarks.report import Table, count, milliseconds, ratio
from svc.configuring import Configuration
from svc.mail.ingest_steps import INGEST_STEPS
from svc.mail.sync import ingest
from svc.pages import save_page
from svc.principal import UNCLAIMED
from svc.rules import finding
from svc.rules.page import KIND
from svc.store import ReadTx, Store, Tx

MAILS: Final = 1_000
QUICK_MAILS: Final = 200
RULES: Final = 100
BATCH: Final = 100


def run(quick: bool) -> Iterable[Table]:
    mails, what = some_mails(QUICK_MAILS if quick else MAILS)
    sync_disks()
    with TemporaryDirectory() as directory:
        ingest_s, none_s, rules_s, stored = trio.run(partial(_measure, Path(directory), mails))
    table = Table(title=f"{RULES} mail rules, no model", columns=("what", "a mail", "mails/s", "of ingest"))
    for name, seconds in (("ingest", ingest_s), ("no rule", none_s), (f"{RULES} rules", rules_s)):
        table.add(name, milliseconds(seconds / stored), count(stored / seconds), ratio(seconds, ingest_s))
    table.notes.append(f"{stored} mails: {what}. Aim: {RULES} rules take under 0.05 of ingest.")
    yield table


async def _measure(home: Path, mails: list[bytes]) -> tuple[float, float, float, int]:
    """Seconds for ingest, for a pass without a rule, and for one with all; how many mails."""
    async with open_mailroom(home, mails) as room:
        began = time.perf_counter()
        for refs in room.pages():
            for message in page_of(await room.fetcher.fetch(refs)).incoming:
                await room.store.write(
                    ingest.store_one, account_id=room.account_id, message=message, steps=INGEST_STEPS
                )
        ingest_s = time.perf_counter() - began
        ids = [str(row) for (row,) in await room.store.read(_ids)]
        none_s = await _pass(room.store, ids)
        await room.store.write(_write_rules)
        return ingest_s, none_s, await _pass(room.store, ids), len(ids)


async def _pass(store: Store, ids: list[str]) -> float:
    pages = Configuration()
    pages.add(KIND)
    await store.read(_match, ids[:1], pages=pages)  # a rule's page is read once, and again when it changes
    began = time.perf_counter()
    for start in range(0, len(ids), BATCH):
        await store.read(_match, ids[start : start + BATCH], pages=pages)
    return time.perf_counter() - began


def _match(tx: ReadTx, ids: list[str], *, pages: Configuration) -> int:
    if not pages.any_of(tx, KIND):
        return 0
    rules = finding.rules_of(tx, pages, None)
    accounts = finding.Accounts()
    found = (finding.found(tx, one, accounts) for one in ids)
    return sum(len(finding.hits(rules, one.mail)) for one in found if one is not None)


def _ids(tx: ReadTx) -> list[tuple[str]]:
    return [(str(row[0]),) for row in tx.all("select id from mail_messages order by sent_at")]


def _write_rules(tx: Tx) -> None:
    for number in range(RULES):
        words = "\n  words: [invoice, due]" if number % 10 == 0 else ""
        when = f"  from: shop{number}.example\n  subject: '*offer {number}*'{words}"
        body = f"---\norder: {number}\nwhen:\n{when}\nthen: [archive]\n---\n"
        save_page(tx, UNCLAIMED, path=f"mail-rules/rule-{number}", title=None, body=body)
