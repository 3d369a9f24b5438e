"""What all tests in a browser share: how it is launched, how they wait, and the app as a test drives it.

Elements are waited for as locators: ``wait_for_selector`` and ``wait_for_function`` would lay Playwright's own script,
of 340 kB, into the page once more, which costs more than the app's own modules.

Nothing here or in a test waits for time to pass: each wait names what it is for, and ends a test that hangs. What the
app shows only for some seconds stays in tests (``HELD``), so that a machine under load can't miss it; a test of such
seconds starts its app ``alone`` and moves the clock itself.

``SVC_SLOW=1`` (and ``make soak``) makes the browser slow, its requests late and the stand-in server's answers late, by
chance (tests/sizes.py): whoever asserts at once what comes a moment later is found by it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import getsource
from typing import Any, Final

from playwright.sync_api import (
    APIResponse,
    Browser,
    BrowserType,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Request,
    Route,
    ViewportSize,
    expect,
)

from tests.peers.needs import HEADLESS_PATH
from tests.sizes import HANGS_S, LATE_ANSWERS_MS, SLOW_PROCESSOR
from tests.web.fake_server import BLANK, STATIC, FakeAnswers

QUIET_FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""Nothing that asks the Internet. What is measured runs with these alone."""
FLAGS: Final = (*QUIET_FLAGS, "--js-flags=--no-opt,--no-maglev")
"""A page of a test ends before a faster translation of its code pays."""
DESKTOP: Final[ViewportSize] = {"width": 1360, "height": 860}
PHONE: Final[ViewportSize] = {"width": 390, "height": 844}
PLAIN: Final[dict[str, Any]] = {
    "viewport": DESKTOP,
    "locale": "en-GB",
    "reduced_motion": "reduce",
    "service_workers": "block",
}
"""A context as most tests want it: each asks the server itself, and nothing is kept between two of them."""
BLOCKED_WORKER: Final = "Service Worker registration blocked by Playwright"
PLAYWRIGHTS_OWN: Final = tuple(f"Blocked script execution in 'about:{page}'" for page in ("blank", "srcdoc"))
"""Playwright puts helpers into every frame; a mail's frame runs none, and is blank first."""
PATIENCE_MS: Final = HANGS_S * 1_000
LOOK_AGAIN_MS: Final = 20
PROBE: Final = f"{BLANK}?is-it-intercepted"
INTERCEPTED: Final = """async probe => {
    while (await (await fetch(probe)).text() !== "intercepted") await new Promise(requestAnimationFrame);
}"""
TWICE: Final = "one => { one.click(); one.click(); }"
"""Pressed again before the answer of the first press, as people do on a slow connection."""

expect.set_options(timeout=PATIENCE_MS)


def milliseconds(path: str, name: str) -> int:
    """A constant of the app."""
    found = re.search(rf"^const {name} = ([\d_]+);$", (STATIC / path).read_text(), re.MULTILINE)
    assert found is not None, f"{path} has no {name}"
    return int(found[1])


HELD: Final = [
    *(milliseconds("ui/toast.js", name) for name in ("SHOWN_MS", "ERROR_SHOWN_MS")),
    milliseconds("ui/copy.js", "THANKS_MS"),
]
"""How long things are shown that leave by themselves, in ms: in a test they stay."""
PREPARE: Final = """(held, lateMs) => {
    if (window !== top) return;
    const [fetch, setTimeout] = [window.fetch, window.setTimeout];
    const late = () => lateMs && new Promise(resolve => setTimeout(resolve, Math.random() * lateMs));
    window.asked = 0;
    window.fetch = async (...given) => {
        window.asked += 1;
        try {
            if (!given[1]?.keepalive) await late(); // such a one leaves with the page, or never
            return await fetch(...given);
        } finally {
            window.asked -= 1;
        }
    };
    window.setTimeout = (run, ms, ...given) => held.includes(ms) ? 0 : setTimeout(run, ms, ...given);
}"""
"""Counts the answers that the page waits for, and lets what leaves by itself stay. Each request leaves late, by
``lateMs`` at most.
"""
SETTLED: Final = """async patience => {
    const app = document.querySelector("script[type=module][src$='/app.js']");
    if (!app) return;
    let waits = "its modules";
    const calm = async () => {
        for (let frames = 0; frames < 3; frames += 1) {
            waits = "a frame to be drawn";
            await new Promise(requestAnimationFrame);
            const late = document.querySelectorAll("[data-late]").length;
            waits = `${window.asked} answers and ${late} parts of the app`;
            if (window.asked || late) frames = 0;
        }
    };
    const settle = async () => {
        const [{ liveState }, { place }, { me, meProblem }] = await Promise.all(
            ["live", "router", "session"].map(name => import(app.src.replace("/app.js", `/${name}.js`))));
        waits = "who is signed in";
        while (!me.value && !meProblem.value) await new Promise(requestAnimationFrame);
        const connecting = () => !place.value.route?.bare && liveState.value === "connecting";
        do {
            waits = "live updates";
            while (connecting()) await new Promise(requestAnimationFrame);
            await calm();
        } while (connecting());
    };
    let timer;
    const late = new Promise((_, refuse) => {
        timer = setTimeout(() => refuse(new Error(`${location} still waits for ${waits}`)), patience);
    });
    await Promise.race([settle(), late]).finally(() => clearTimeout(timer));
}"""
"""A page without the app is so at once."""


def launch(chromium: BrowserType, *, flags: Sequence[str] = FLAGS, without: Sequence[str] = ()) -> Browser:
    """``without``: what Playwright would switch on."""
    return chromium.launch(
        executable_path=str(HEADLESS_PATH), headless=True, args=list(flags), ignore_default_args=list(without)
    )


def prepare(
    page: Page, *, held: Sequence[int] = HELD, slow: bool = SLOW_PROCESSOR > 1, late_ms: int = LATE_ANSWERS_MS
) -> None:
    """``slow``: on a slow processor. The session for it has Chromium forget, at the next page, that it is offline."""
    page.add_init_script(f"({PREPARE})({list(held)}, {late_ms})")
    if slow:
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOW_PROCESSOR})


@contextmanager
def fresh_page(browser: Browser, **options: Any) -> Iterator[Page]:
    """A fresh browser context, with a prepared page."""
    context = browser.new_context(**{**PLAIN, **options})
    context.set_default_timeout(PATIENCE_MS)
    try:
        page = context.new_page()
        prepare(page, slow=SLOW_PROCESSOR > 1 and options.get("service_workers") != "allow")
        yield page
    finally:
        context.close()


def hear(page: Page, note: Callable[[str], None]) -> None:
    """Whatever its console complains about, and every script that fails."""
    page.on("console", lambda message: note(message.text) if _complains(message) else None)
    page.on("pageerror", lambda error: note(error.stack or str(error)))


def _complains(message: ConsoleMessage) -> bool:
    return message.type in {"error", "warning"} and message.text != BLOCKED_WORKER


def intercept(
    page: Page, url: str | re.Pattern[str], handler: Callable[[Route], Any], *, times: int | None = None
) -> None:
    """``page.route``, but in force when it returns: a page that has loaded goes on asking without it for a moment."""
    page.route(url, handler, times=times)
    if not page.url.startswith("http"):
        return  # what loads later is intercepted from its beginning
    probe = re.compile(re.escape(PROBE))
    page.route(probe, lambda route: route.fulfill(body="intercepted"))
    page.evaluate(INTERCEPTED, PROBE)
    page.unroute(probe)


def until(page: Page, holds: Callable[[], bool], *, what: str = "", tell: Callable[[], str] = str) -> None:
    """For what the page can't tell. ``what`` completes "waited for …"; without it the code is told."""
    deadline = time.monotonic() + PATIENCE_MS / 1_000
    while not holds():
        assert time.monotonic() < deadline, (
            f"waited {PATIENCE_MS / 1_000:g} s for {what or getsource(holds).strip()}\n{tell()}"
        )
        page.wait_for_timeout(LOOK_AGAIN_MS)


def settled(page: Page) -> None:
    """Until the page has all that it asked for, listens to live updates, and has drawn what it knows."""
    until(page, lambda: _settles(page), what="the page to have all that it asked for")


def _settles(page: Page) -> bool:
    return _evaluated(page, f"patience => ({SETTLED})(patience).then(() => true)", PATIENCE_MS)


def _evaluated(page: Page, expression: str, argument: Any) -> bool:
    """Whether it is so; not on a page that is being left for another one."""
    try:
        return bool(page.evaluate(expression, argument))
    except Error as error:
        if "navigation" not in str(error):
            raise
        return False


def drawn(page: Page) -> None:
    """Until the page has shown what it knows now."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")


def still(page: Page) -> None:
    """Until it is drawn, and what moves to an end has come to it."""
    drawn(page)
    page.evaluate(
        """() => Promise.allSettled(document.getAnimations()
            .filter(one => one.effect.getComputedTiming().endTime < Infinity).map(one => one.finished))"""
    )
    drawn(page)


@dataclass
class Traffic:
    """What the page and its frames have asked for and not heard the end of."""

    page: Page
    under_way: set[Request] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.page.on("request", self._begun)
        self.page.on("requestfinished", self._ended)
        self.page.on("requestfailed", self._ended)

    def end(self) -> None:
        self.page.remove_listener("request", self._begun)
        self.page.remove_listener("requestfinished", self._ended)
        self.page.remove_listener("requestfailed", self._ended)

    def quiet(self) -> None:
        """Until nothing is under way, also not because of the last answer. For what must not happen."""
        calm = 0
        while calm < 2:
            until(self.page, lambda: not self.under_way, what="answers to all that the page asked", tell=self._tell)
            drawn(self.page)
            calm = 0 if self.under_way else calm + 1

    def _begun(self, request: Request) -> None:
        self.under_way.add(request)

    def _ended(self, request: Request) -> None:
        self.under_way.discard(request)

    def _tell(self) -> str:
        return "\n".join(f"{one.method} {one.url}" for one in self.under_way)


@dataclass
class Held:
    """The next call of a procedure, which is heard only when it is let go, or whose answer comes only then."""

    page: Page
    tell: Callable[[], str]
    routes: list[Route] = field(default_factory=list)
    answer: APIResponse | None = None

    def take(self, route: Route) -> None:
        if self.routes:
            route.fallback()
        else:
            self.routes.append(route)

    def asked(self) -> None:
        """Wait until the page has made the call."""
        until(self.page, lambda: bool(self.routes), what="the call that is held back", tell=self.tell)

    def heard(self) -> None:
        """The server does what it was asked for. The page does not learn of it yet."""
        self.answer = self.routes[0].fetch()

    def let_go(self) -> None:
        if self.answer is None:
            self.routes[0].continue_()
        else:
            self.routes[0].fulfill(response=self.answer)


@dataclass(kw_only=True)
class AppPage:
    """A page of the app, as its user sees and drives it."""

    page: Page
    problems: list[str] = field(default_factory=list)
    """What the console said."""
    tolerated: tuple[str, ...] = ()
    """Parts of console errors that this test brings about on purpose."""

    def settled(self) -> None:
        settled(self.page)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def chord(self, *keys: str) -> None:
        """One key right after the other: the app waits for the second only a moment, and a busy machine is slower."""
        self.page.evaluate(
            """keys => keys.forEach(key => document.activeElement.dispatchEvent(
                new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })))""",
            list(keys),
        )

    def selects(self, thread_id: str | None) -> None:
        """Wait until this row is the selected one, or none is."""
        selected = self.page.locator(".row.selected")
        if thread_id is None:
            expect(selected).to_have_count(0)
        else:
            expect(selected).to_have_attribute("data-thread", thread_id)

    def focuses(self, thread_id: str) -> None:
        """Wait until the row of this thread has the focus."""
        expect(self.page.locator(f"#row-{thread_id}")).to_be_focused()

    def go_to_section(self, title: str) -> None:
        """By the first letters in its head: notices may lie over the middle."""
        self.page.get_by_role("button", name=title, exact=True).click(position={"x": 16, "y": 16})

    def at(self, path: str) -> None:
        """Wait until this is the address."""
        self.until("path => location.pathname === path", path)

    def until(self, expression: str, argument: Any = None) -> None:
        until(
            self.page,
            lambda: _evaluated(self.page, expression, argument),
            what=f"{expression} of {argument!r}",
        )

    def complaints(self) -> list[str]:
        """Unexpected messages of the console."""
        tolerated = (*self.tolerated, *PLAYWRIGHTS_OWN)
        return [one for one in self.problems if not any(part in one for part in tolerated)]


@dataclass(kw_only=True)
class App(AppPage):
    """One page with the app, and the answers of its server."""

    answers: FakeAnswers
    origin: str
    watched: Traffic | None = None

    def open(self, path: str = "/p/mail", *, ready: str = "[data-thread]") -> Page:
        """Returns once it has all that it asked for, listens to live updates, and has drawn what it knows."""
        self.page.goto(self.origin + path)
        self.page.locator(ready).first.wait_for()
        self.settled()
        return self.page

    def another_tab(self, path: str = "/p/mail", *, ready: str = "[data-thread]") -> Page:
        """In the same browser, beside this one."""
        tab = App(page=self.page.context.new_page(), answers=self.answers, origin=self.origin)
        prepare(tab.page)
        return tab.open(path, ready=ready)

    def watch_traffic(self) -> None:
        """Begin to follow what the page asks for, so that ``traffic`` can be waited for."""
        self.watched = Traffic(self.page)

    @property
    def traffic(self) -> Traffic:
        assert self.watched is not None, "watch_traffic() first"
        return self.watched

    def row(self, thread_id: str) -> Locator:
        return self.page.locator(f"#row-{thread_id}")

    def called(self, name: str, *, times: int = 1) -> list[Any]:
        """The calls of a procedure, once there are so many. The page shows a step before the server hears of it."""
        self.wait(
            lambda: len(self.calls(name)) >= times, what=f"{times} of {name}", tell=lambda: str(self.answers.calls)
        )
        return self.calls(name)

    def wait(self, is_so: Callable[[], bool], *, what: str, tell: Callable[[], str] = str) -> None:
        """For what the page can't tell. ``what`` completes "waited for …"."""
        until(self.page, is_so, what=what, tell=tell)

    def hold(self, name: str, about: str = "") -> Held:
        """Hold back the next call of a procedure; of a query, the next one that names ``about``."""
        held = Held(self.page, tell=lambda: f"{self.problems} {self.answers.calls}")
        intercept(self.page, re.compile(rf"/trpc/([\w.,]*,)?{re.escape(name)}([,?]|$).*{re.escape(about)}"), held.take)
        return held

    def calls(self, name: str) -> list[Any]:
        """The calls of a procedure so far. The server notes one before it acts: each of these has done its work."""
        with self.answers.lock:
            return [given for called, given in self.answers.calls if called == name]
