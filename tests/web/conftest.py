"""Chromium with the web app in it, served by the stand-in server, and watched: what the console says fails the test.

All these tests share the browser, the server, and a page for each kind of window: a page that has loaded the app once
has its modules, and loads it in half the time. Between two tests nothing is left of the first but those
(``Kept.clear``). What can't be taken back from a page (a clock, a script at its start) wants one of its own:
``start(alone=True)``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Playwright, sync_playwright

from tests.peers.needs import CHROMIUM, VENDOR, need
from tests.sizes import SOAK
from tests.support.browser import DESKTOP, HELD, PATIENCE_MS, PLAIN, App, hear, launch, prepare
from tests.web.fake_server import BLANK, FakeAnswers, Served, serving


@dataclass
class Kept:
    """A page that one test after the other uses."""

    page: Page
    options: dict[str, Any]
    app: App | None = None

    def __post_init__(self) -> None:
        hear(self.page, self._note)

    def clear(self, blank: str) -> None:
        """Leave the app for ``blank``, a page of the same origin without it, since it keeps words as it goes; and then
        take away what it and the test left in this browser.
        """
        page, context = self.page, self.page.context
        for other in context.pages:
            if other != page:
                other.close()
        page.unroute_all(behavior="ignoreErrors")
        page.goto(blank)
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        context.clear_cookies()
        page.mouse.move(0, 0)
        if page.viewport_size != (size := self.options.get("viewport", DESKTOP)):
            page.set_viewport_size(size)
        page.emulate_media(color_scheme=self.options.get("color_scheme", "light"), forced_colors="none")
        session = context.new_cdp_session(page)
        session.send("Page.resetNavigationHistory")
        session.detach()
        if self.app and self.app.watched:
            self.app.watched.end()
        self.app = None

    def _note(self, problem: str) -> None:
        if self.app:
            self.app.problems.append(problem)


@dataclass
class Shared:
    """What all tests of this folder share, in one process."""

    browser: Browser
    served: Served
    kept: dict[str, Kept] = field(default_factory=dict)

    def page(self, options: dict[str, Any]) -> Kept:
        key = repr(sorted(options.items()))
        if key not in self.kept:
            page = self.context(options).new_page()
            prepare(page, held=HELD)
            self.kept[key] = Kept(page=page, options=options)
        return self.kept[key]

    def context(self, options: dict[str, Any]) -> BrowserContext:
        opened = self.browser.new_context(**{**PLAIN, **options})
        opened.set_default_timeout(PATIENCE_MS)
        return opened

    def clear(self, kept: Kept, blank: str) -> None:
        """A page that can't be cleared, such as one that crashed, is used no more."""
        try:
            kept.clear(blank)
        except Error:
            self.kept = {key: one for key, one in self.kept.items() if one is not kept}
            kept.page.context.close()


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """What drives browsers. There can be one in a thread at a time, so every test that launches a browser uses it."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    need(CHROMIUM, VENDOR)
    launched = launch(playwright.chromium)
    yield launched
    launched.close()


@pytest.fixture(scope="package")
def shared(browser: Browser) -> Iterator[Shared]:
    with serving() as served:
        shared = Shared(browser=browser, served=served)
        yield shared
        for kept in shared.kept.values():
            kept.page.context.close()
        served.hang_up()


@pytest.fixture
def start(shared: Shared) -> Iterator[Callable[..., App]]:
    """Start the app: ``start(answers, viewport=PHONE)``. After the test its console must be clean.

    ``alone``: in a page of its own, where notices leave by themselves.
    """
    started: list[App] = []
    with ExitStack() as stack:

        def start_app(answers: FakeAnswers | None = None, *, alone: bool = False, **options: Any) -> App:
            served = stack.enter_context(serving()) if started else shared.served
            served.show(answers or FakeAnswers())
            stack.callback(served.settle)
            if alone or started:
                context = shared.context(options)
                kept = Kept(page=context.new_page(), options=options)
                prepare(kept.page, held=() if alone else HELD)
                stack.callback(context.close)
            else:
                kept = shared.page(options)
                stack.callback(shared.clear, kept, served.origin + BLANK)
            kept.app = App(page=kept.page, answers=served.answers, origin=served.origin)
            started.append(kept.app)
            return kept.app

        yield start_app
        for app in started:
            assert app.complaints() == []
            assert app.answers.lies == []


def drawn(*choices: object) -> Any:
    """A fixture: one of them, drawn anew in each run; under ``SVC_SOAK=1`` each in its turn."""

    @pytest.fixture(params=choices if SOAK else ["drawn"])
    def one(request: pytest.FixtureRequest, chance: random.Random) -> Any:
        return request.param if SOAK else chance.choice(choices)

    return one


size = drawn("desktop", "phone")
size_or_zoom = drawn("desktop", "phone", "zoom")
narrow_or_zoom = drawn("phone", "zoom")
frame_width = drawn(390, 768, 1280)
"""Of the window that a test looks at: ``SIZES`` in tests/web/test_app_looks.py."""


@pytest.fixture
def app(start: Callable[..., App]) -> App:
    return start()
