"""Searching in the app: from *Enter* to the frame with the first found rows, the real service over 100,000 messages.

The words are typed as fast as the driver can, so that no search has begun before *Enter*. Each word is searched once,
so that neither the service nor the page has its answer already.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Page, sync_playwright

from benchmarks.big_home import home_with, prose
from benchmarks.painted import WATCH
from benchmarks.processes import svc_serve
from benchmarks.report import Table, median, percentile, ratio
from tests.support.browser import DESKTOP, QUIET_FLAGS, launch

MESSAGES: Final = 100_000
TIMES: Final = 100
QUICK_TIMES: Final = 20
WARM_TIMES: Final = 3
MIN_CHARS: Final = 4
LIMIT_MS: Final = 100.0
FOUND: Final = "[role=grid][aria-label=Found] [data-thread], .empty"
INBOX: Final = "[role=grid][aria-label=Inbox] [data-thread]"
IS_FOUND: Final = f"() => {{ window.isShown = () => document.querySelector('{FOUND}'); }}"


def first_found(quick: bool) -> Table:
    times = QUICK_TIMES if quick else TIMES
    table = Table(
        title=f"Enter to the first found rows in the app, {MESSAGES:,} messages",
        columns=("search", "median, ms", "p99, ms", f"p99 x {LIMIT_MS:.0f} ms"),
    )
    with TemporaryDirectory() as folder, _page(Path(folder)) as page:
        for name, count in {"a word": 1, "two words": 2}.items():
            waits = [_waited(page, words) for words in _searches(count, times + WARM_TIMES)][WARM_TIMES:]
            p99 = percentile(waits, 99)
            table.add(name, f"{median(waits):.0f}", f"{p99:.0f}", ratio(p99, LIMIT_MS))
    table.notes.append(f"{times} of each, no word twice; until their rows are painted, or that nothing was found")
    return table


def _searches(count: int, times: int) -> list[str]:
    """Neighbours in the prose that the bodies are made of, so that most searches find something."""
    text = prose()
    searches = {
        " ".join(text[at : at + count]) for at in range(0, len(text) - count, count) if len(text[at]) >= MIN_CHARS
    }
    return Random(3).sample(sorted(searches), times)


def _waited(page: Page, words: str) -> float:
    page.keyboard.press("/")
    page.keyboard.type(words)
    page.evaluate("painted.length = 0")
    page.keyboard.press("Enter")
    page.wait_for_function("() => painted.length > 0")
    found = float(page.evaluate("painted[0]"))
    page.keyboard.press("Escape")
    page.wait_for_url("**/p/mail")
    page.wait_for_selector(INBOX)
    return found


@contextmanager
def _page(folder: Path) -> Iterator[Page]:
    """The inbox of the service in Chromium, on a copy of the home with many messages."""
    cached = home_with(MESSAGES, searched=True)
    for suffix in ("", "-config"):
        shutil.copytree(cached.with_name(f"{cached.name}{suffix}"), folder / f"home{suffix}")
    with svc_serve(folder / "home") as server, sync_playwright() as playwright:
        browser = launch(playwright.chromium, flags=QUIET_FLAGS)
        page = browser.new_page(viewport=DESKTOP, reduced_motion="reduce")
        page.goto(f"http://127.0.0.1:{server.port}/p/mail")
        page.wait_for_selector(INBOX)
        page.evaluate(WATCH, "Enter")
        page.evaluate(IS_FOUND)
        yield page
        browser.close()
