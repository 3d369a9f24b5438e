"""The app opened for the first time on a phone: how much comes, in how many answers, and when it can be used.

The real ``svc serve`` with the demo mail, as a wheel installs it, in Chromium with nothing kept, on a slow processor
behind a phone's link; and beside it as a checkout serves it, each module by itself. The app can be used when the inbox
has its rows and answers a key: ``j``, pressed as soon as there are rows, marks the first one, and that is painted.

The page itself notes the time: what a driver evaluates in it to wait for an element is as slow there as the app, and no
part of it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.processes import REPOSITORY, svc_serve
from benchmarks.report import Table, median, ratio
from tests.peers.needs import HEADLESS_PATH
from tests.support.browser import PHONE, QUIET_FLAGS, launch
from tests.support.installed import lay_package

ROUNDS: Final = 7
QUICK_ROUNDS: Final = 3
LIMIT_KIB: Final = 300.0
LIMIT_S: Final = 1.0
SLOWER: Final = 4
"""The processor: a phone of the middle class beside a laptop, as Lighthouse takes it."""
LINK: Final = {"offline": False, "latency": 70, "downloadThroughput": 12e6 / 8, "uploadThroughput": 12e6 / 8}
"""LTE as WebPageTest defines it: 12 Mbit/s, 70 ms there and back for each request."""
WAIT_S: Final = 120.0
POLL_MS: Final = 5.0
NOTE: Final = """
    new MutationObserver((_, observer) => {
        if (!window.svcAwaited && document.querySelector("[data-thread]")) {
            window.svcAwaited = true;
            svcNoted(`rows ${performance.now()}`);
        }
        if (!document.querySelector(".row.selected")) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => svcNoted(`marked ${performance.now()}`)));
    }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["class"] });
"""


@dataclass(frozen=True)
class Load:
    """One first load. ``kib``: as it came through the wire, compressed."""

    answers: int
    kib: float
    painted_s: float
    rows_s: float
    usable_s: float


def run(quick: bool) -> Iterable[Table]:
    columns = ("way", "answers", "KiB", "x the limit", "s to a first paint", "s to rows", "s to use", "x the limit")
    table = Table(title="First load on a phone", columns=columns)
    if HEADLESS_PATH is None or shutil.which("node") is None:
        table.notes.append("not measured: Chromium or Node not here (.ci/peers)")
        yield table
        return
    rounds = QUICK_ROUNDS if quick else ROUNDS
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = launch(playwright.chromium, flags=QUIET_FLAGS)
        for way, root in (("joined", lay_package(Path(folder) / "installed")), ("modules", REPOSITORY)):
            with svc_serve(Path(folder) / way, settings={"SVC_SEED": "mock-world"}, root=root) as served:
                address = f"http://127.0.0.1:{served.port}/p/mail"
                _load(browser, address)  # the server compresses a file when it is first asked for
                _add(table, way, [_load(browser, address) for _ in range(rounds)])
        browser.close()
    table.notes.append(f"medians of {rounds} rounds; processor {SLOWER} x slower, 12 Mbit/s, 70 ms a request")
    yield table


def _add(table: Table, way: str, loads: Sequence[Load]) -> None:
    names = ("answers", "kib", "painted_s", "rows_s", "usable_s")
    answers, kib, painted, rows, usable = (median([float(getattr(one, name)) for one in loads]) for name in names)
    table.add(
        way,
        f"{answers:.0f}",
        f"{kib:.0f}",
        ratio(kib, LIMIT_KIB),
        f"{painted:.2f}",
        f"{rows:.2f}",
        f"{usable:.2f}",
        ratio(usable, LIMIT_S),
    )


def _load(browser: Browser, address: str) -> Load:
    context = browser.new_context(viewport=PHONE, service_workers="block")
    page = context.new_page()
    wire = context.new_cdp_session(page)
    sizes: list[float] = []

    def count(event: dict[str, Any]) -> None:
        sizes.append(float(event["encodedDataLength"]))

    wire.on("Network.loadingFinished", count)
    wire.send("Network.enable")
    wire.send("Network.emulateNetworkConditions", LINK)
    wire.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    noted: dict[str, float] = {}

    def note(event: dict[str, Any]) -> None:
        what, _, at_ms = str(event["payload"]).partition(" ")
        noted[what] = float(at_ms) / 1_000

    wire.on("Runtime.bindingCalled", note)
    wire.send("Runtime.enable")
    wire.send("Runtime.addBinding", {"name": "svcNoted"})
    page.add_init_script(NOTE)
    page.goto(address, wait_until="commit")
    _until(page, noted, "rows")
    wire.send("Input.dispatchKeyEvent", {"type": "keyDown", "key": "j", "code": "KeyJ", "text": "j"})
    _until(page, noted, "marked")
    painted = float(page.evaluate("performance.getEntriesByName('first-paint')[0]?.startTime ?? NaN"))
    found = Load(len(sizes), sum(sizes) / 1_024, painted / 1_000, noted["rows"], noted["marked"])
    context.close()
    return found


def _until(page: Page, noted: Mapping[str, float], what: str) -> None:
    """Wait for a note without asking the page."""
    deadline = time.monotonic() + WAIT_S
    while what not in noted:
        if time.monotonic() > deadline:
            raise RuntimeError(f"the page noted no {what!r}, only {noted!r}")
        page.wait_for_timeout(POLL_MS)
