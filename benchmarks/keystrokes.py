"""From a key to the paint it leads to, in Chromium, with 100,000 threads in the list.

The server is the web tests' stand-in: what is measured is the app, from the key's time stamp in the browser to the
first task after the frame that shows its effect. The floor is a page of one element that a key turns red, measured the
same way: most of it is the wait for the next frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from playwright.sync_api import CDPSession, Page, sync_playwright

from benchmarks.first_found import first_found
from benchmarks.painted import WATCH
from benchmarks.report import Table, median, percentile
from tests.support.browser import DESKTOP, QUIET_FLAGS, launch
from tests.web import fake_mail
from tests.web.fake_server import MODULES, FakeAnswers, serving

THREADS: Final = 100_000
TIMES: Final = 300
QUICK_TIMES: Final = 60
AIM_MS: Final = 50
LOAD_MS: Final = 600_000
MIDDLE: Final = f"thr_m{THREADS // 2:06}"

Sample = tuple[float, float]
"""From the key to the paint, and the main thread's work for it; in milliseconds."""

ANSWER_OPEN: Final = """() => {
    window.isShown = () => document.activeElement.matches(".rich-text[contenteditable=true]");
}"""
FLOOR_PAGE: Final = "<body><p>key</p></body>"
FLOOR_SCRIPT: Final = "() => addEventListener('keydown', () => document.querySelector('p').classList.toggle('red'))"
LOAD_ALL: Final = """async base => {
    const { listOf } = await import(base + "/mail/lists.js");
    const list = listOf("inbox", null);
    while (!list.complete) await list.more();
    return list.rows.length;
}"""
SELECT: Final = """async ([base, id]) => {
    const { select } = await import(base + "/mail/selection.js");
    select(id, { focus: true });
}"""


def run(quick: bool) -> Iterable[Table]:
    times = QUICK_TIMES if quick else TIMES
    table = Table(
        title=f"Key to paint, {THREADS:,} threads in the list", columns=("key", "median, ms", "p99, ms", "CPU, ms")
    )
    with serving(FakeAnswers(threads=fake_mail.many(THREADS))) as served, sync_playwright() as playwright:
        browser = launch(playwright.chromium, flags=QUIET_FLAGS)
        context = browser.new_context(viewport=DESKTOP, reduced_motion="reduce", service_workers="block")
        _add(table, "floor: a page of one element", _floor(context.new_page(), times))
        page = context.new_page()
        loaded = _open(page, served.origin)
        _add(table, "j, from the top", _measure(page, ["j"], times)["j"])
        page.evaluate(SELECT, [MODULES, MIDDLE])
        page.wait_for_selector(f"#row-{MIDDLE}")
        _add(table, "j, in the middle", _measure(page, ["j"], times)["j"])
        _add(table, "x", _measure(page, ["x"], times)["x"])  # an even number of times: nothing stays picked
        _add(table, "e", _measure(page, ["e"], times)["e"])
        opened = _measure(page, ["Enter", "u", "j"], times)
        _add(table, "Enter", opened["Enter"])
        _add(table, "u", opened["u"])
        _add(table, "r: the answer has the focus", _answers(page, times))
        browser.close()
        served.hang_up()
    table.notes += [
        f"{times} of each; {loaded:,} rows in the list; the aim: p99 under {AIM_MS} ms",
        "CPU: the median time that the page's main thread worked for it, whatever else the machine did",
        "Enter: until subject and frame of the thread are painted; its messages come with the server's answer",
    ]
    yield table
    yield first_found(quick)


def _open(page: Page, origin: str) -> int:
    page.set_default_timeout(LOAD_MS)
    page.goto(f"{origin}/p/mail")
    page.wait_for_selector("[data-thread]")
    loaded = int(page.evaluate(LOAD_ALL, MODULES))
    page.evaluate(WATCH)
    return loaded


def _floor(page: Page, times: int) -> list[Sample]:
    page.set_content(FLOOR_PAGE)
    page.evaluate(WATCH)
    page.evaluate(FLOOR_SCRIPT)
    return _measure(page, ["j"], times)["j"]


def _measure(page: Page, keys: list[str], times: int) -> dict[str, list[Sample]]:
    """Each key in turn, the next one once the paint before it was seen."""
    found: dict[str, list[Sample]] = {key: [] for key in keys}
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    for _ in range(times):
        for key in keys:
            page.evaluate("painted.length = 0")
            before = _worked(devtools)
            page.keyboard.press(key)
            page.wait_for_function("() => painted.length > 0")
            after = _worked(devtools)
            found[key].append((float(page.evaluate("painted[0]")), after - before))
    devtools.detach()
    return found


def _answers(page: Page, times: int) -> list[Sample]:
    """From ``r`` in an open thread to the frame in which one can type."""
    found: list[Sample] = []
    for _ in range(times):
        page.keyboard.press("Enter")
        page.wait_for_selector(".card-body")
        page.evaluate(ANSWER_OPEN)
        found += _measure(page, ["r"], 1)["r"]
        page.evaluate("window.isShown = () => true")
        page.keyboard.press("Escape")
        page.wait_for_selector(".rich-text[contenteditable=true]", state="detached")
        page.keyboard.press("u")
        page.wait_for_selector(".thread", state="detached")
        page.keyboard.press("j")
    return found


def _worked(devtools: CDPSession) -> float:
    """The main thread's CPU time in tasks so far, in milliseconds."""
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration")) * 1_000


def _add(table: Table, name: str, found: list[Sample]) -> None:
    waits, works = zip(*found, strict=True)
    table.add(name, f"{median(waits):.1f}", f"{percentile(waits, 99):.1f}", f"{median(works):.1f}")
