"""Chromium with the web app in it, served by the stand-in server, and watched: what the console says fails the test."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, BrowserContext, BrowserType, ConsoleMessage, Locator, Page, sync_playwright

from tests.web.fake_server import Stage, World, serving

CHROMIUM: Final = Path("/usr/bin/chromium")
VENDOR: Final = Path(__file__).parents[2] / "static" / "vendor" / "preact.mjs"
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKTOP: Final = {"width": 1360, "height": 860}
PHONE: Final = {"width": 390, "height": 844}
PLAYWRIGHTS_OWN: Final = "Blocked script execution in 'about:srcdoc'"
"""Playwright puts helpers into every frame; a mail's frame runs none."""
PATIENCE_MS: Final = 30_000


@dataclass
class App:
    """One page with the app, and the world that its server shows."""

    page: Page
    world: World
    origin: str
    problems: list[str] = field(default_factory=list)
    tolerated: tuple[str, ...] = ()
    """Parts of console errors that this test brings about on purpose."""

    def open(self, path: str = "/p/mail", *, ready: str = "[role=option]") -> Page:
        self.page.goto(self.origin + path)
        self.page.wait_for_selector(ready)
        return self.page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def row(self, thread_id: str) -> Locator:
        return self.page.locator(f"#row-{thread_id}")

    def selected(self) -> str | None:
        return self.page.evaluate("document.querySelector('[aria-selected=true][data-thread]')?.dataset.thread ?? null")

    def until(self, expression: str, argument: Any = None) -> None:
        self.page.wait_for_function(expression, arg=argument)

    def path(self) -> str:
        return str(self.page.evaluate("location.pathname"))

    def called(self, name: str, *, times: int = 1) -> list[Any]:
        """The calls of a procedure, once there are so many. The page shows a step before the server hears of it."""
        self.wait(lambda: len(self.calls(name)) >= times)
        return self.calls(name)

    def wait(self, is_so: Callable[[], bool]) -> None:
        """For what the page can't tell. Gives up after a while: the caller asserts what it wants."""
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while not is_so() and time.monotonic() < deadline:
            self.page.wait_for_timeout(10)

    def calls(self, name: str) -> list[Any]:
        return [given for called, given in self.world.calls if called == name]


@dataclass
class Shared:
    """What a module's tests share: the server, and a context for each kind of window, which keeps the fetched files."""

    browser: Browser
    stage: Stage
    contexts: dict[str, BrowserContext] = field(default_factory=dict)

    def context(self, options: dict[str, Any]) -> BrowserContext:
        key = repr(sorted(options.items()))
        if key not in self.contexts:
            opened = self.browser.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce", **options})
            opened.set_default_timeout(PATIENCE_MS)
            self.contexts[key] = opened
        return self.contexts[key]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip("Chromium is not installed: apt-get install chromium")
    if not VENDOR.exists():
        pytest.skip("static/vendor is not there: make sets it up (node static/vendor.mjs)")
    with sync_playwright() as playwright:
        launched = launch(playwright.chromium)
        yield launched
        launched.close()


def launch(chromium: BrowserType, *, without: Sequence[str] = ()) -> Browser:
    """``without``: what Playwright would switch on."""
    return chromium.launch(
        executable_path=str(CHROMIUM), headless=True, args=list(FLAGS), ignore_default_args=list(without)
    )


@pytest.fixture(scope="module")
def shared(browser: Browser) -> Iterator[Shared]:
    with serving() as stage:
        yield Shared(browser=browser, stage=stage)
        stage.hang_up()


@pytest.fixture
def start(shared: Shared) -> Iterator[Callable[..., App]]:
    """Start the app: ``start(world, viewport=PHONE)``. After the test its console must be clean."""
    started: list[App] = []
    with ExitStack() as stack:

        def start_app(world: World | None = None, **options: Any) -> App:
            stage = stack.enter_context(serving()) if started else shared.stage
            stage.world = world or World()
            page = shared.context(options).new_page()
            stack.callback(stage.settle)
            stack.callback(page.close)
            stack.callback(_forget, page, stage.origin)
            app = App(page=page, world=stage.world, origin=stage.origin)
            _watch(app)
            started.append(app)
            return app

        yield start_app
        for app in started:
            tolerated = (*app.tolerated, PLAYWRIGHTS_OWN)
            unexpected = [one for one in app.problems if not any(part in one for part in tolerated)]
            assert unexpected == []


@pytest.fixture
def app(start: Callable[..., App]) -> App:
    return start()


def _forget(page: Page, origin: str) -> None:
    """What the app keeps in this browser is another test's no more. It keeps words as its page goes: first that."""
    page.goto("about:blank")
    session = page.context.new_cdp_session(page)
    session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage"})
    session.detach()


def _watch(app: App) -> None:
    def heard(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            app.problems.append(message.text)

    app.page.on("console", heard)
    app.page.on("pageerror", lambda error: app.problems.append(str(error)))
