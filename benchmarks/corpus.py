"""Every mail of the corpus through parsing, sanitizing and ingest: none may raise, none may be passed over.

A fault ends the run with the mail's name. Sanitizing takes each body as opening its thread would, though never in a
worker process: what counts here is what it costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

import trio

from benchmarks.mailroom import open_mailroom, page_of, real_mail_paths, some_mails, sync_disks
from benchmarks.report import Table, count, milliseconds, percentile
from svc.formats.html import plan, sanitize, text_fallback, text_to_html
from svc.formats.mime import ParsedMessage, parse_message
from svc.mail.ingest_steps import INGEST_STEPS
from svc.mail.sync import ingest

QUICK_MAILS: Final = 400

T = TypeVar("T")
R = TypeVar("R")


def run(quick: bool) -> Iterable[Table]:
    paths = real_mail_paths()
    mails, what = some_mails(QUICK_MAILS if quick else max(len(paths), QUICK_MAILS))
    names = (
        [path.name for path in paths] if len(mails) == len(paths) else [f"#{number}" for number in range(len(mails))]
    )
    table = Table(title="The corpus, whole" if not quick else "The corpus, a sample", columns=_COLUMNS)
    parsed = _each("MIME parse", table, names, mails, parse_message)
    bodies = list(zip(names, parsed, strict=True))
    with_html = [(name, message) for name, message in bodies if message.html is not None]
    _each("sanitize HTML", table, [name for name, _ in with_html], [one for _, one in with_html], _clean)
    plain = [(name, message) for name, message in bodies if message.html is None]
    _each("text to HTML", table, [name for name, _ in plain], [one for _, one in plain], _clean)
    sync_disks()
    with TemporaryDirectory() as directory:
        seconds = trio.run(_ingest, Path(directory) / "home", mails)
    table.add("fetch, blobs, commit", count(len(mails)), count(len(mails) / seconds), "", "", "")
    plans = [plan(message.html or "") for _, message in with_html]
    table.notes += [
        f"{len(mails):,} mails: {what}; none raised, none was passed over",
        f"HTML bodies by plan: {', '.join(f'{plans.count(one)} {one}' for one in sorted(set(plans)))}",
    ]
    yield table


_COLUMNS: Final = ("step", "mails", "mails/s", "p99, ms", "slowest, ms", "slowest is")


def _each(step: str, table: Table, names: Sequence[str], items: Sequence[T], work: Callable[[T], R]) -> list[R]:
    """Do ``work`` on every item, one after the other, and note it as a row."""
    results: list[R] = []
    times: list[float] = []
    for name, item in zip(names, items, strict=True):
        began = time.perf_counter()
        try:
            results.append(work(item))
        except Exception as error:
            raise RuntimeError(f"{step} failed on {name}") from error
        times.append(time.perf_counter() - began)
    if times:
        slowest = max(range(len(times)), key=times.__getitem__)
        table.add(
            step,
            count(len(times)),
            count(len(times) / sum(times)),
            milliseconds(percentile(times, 99)),
            milliseconds(times[slowest]),
            names[slowest],
        )
    return results


def _clean(message: ParsedMessage) -> object:
    if message.html is None:
        return text_to_html(message.text)
    return sanitize(message.html) if plan(message.html) != "text" else text_fallback(message.html)


async def _ingest(home: Path, mails: Sequence[bytes]) -> float:
    async with open_mailroom(home, mails) as room:
        began = time.perf_counter()
        for refs in room.pages():
            page = page_of(await room.fetcher.fetch(refs))
            await room.store.write(ingest.store_page, account_id=room.account_id, page=page, steps=INGEST_STEPS)
        elapsed = time.perf_counter() - began
        stored = (await room.account()).messages
        if stored != len(mails):
            raise RuntimeError(f"{len(mails) - stored} of {len(mails)} mails were passed over")
    return elapsed
