"""A real browser shows what was sanitized: nothing runs, nothing is fetched, nothing moves away.

Every payload is shown twice: as the web app shows mail, in a sandboxed frame under its policy, and, in case both of
these should ever fail, in a page of the same origin without either.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from html import escape
from typing import Final

import pytest
from playwright.sync_api import Dialog, Error, Frame, Page, Request, Route, sync_playwright

from svc.formats.html import FRAME_CSP, sanitize, text_fallback
from tests.formats.html import hostile_html
from tests.peers.needs import CHROMIUM, HEADLESS_PATH, needs

ORIGIN: Final = "http://workspace.example/"
BATCH: Final = 120
FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SETTLED: Final = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))"
"""What a page starts on its own (a refresh, an animation) has started by then; the control test holds it to that."""

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.browser,
    needs(CHROMIUM),
]


@dataclass
class Observed:
    """What the browser did."""

    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    navigations: list[str] = field(default_factory=list)


def test_nothing_happens_in_the_frame_of_the_web_app() -> None:
    with _page() as (page, observed):
        for html in _documents():
            head = f'<meta http-equiv="Content-Security-Policy" content="{FRAME_CSP}">'
            srcdoc = escape(f"<!doctype html><html><head>{head}</head><body>{html}</body></html>")
            sandbox = "allow-popups allow-popups-to-escape-sandbox"
            _show(page, f'<!doctype html><iframe id="mail" sandbox="{sandbox}" srcdoc="{srcdoc}"></iframe>')
        assert observed == Observed()


def test_nothing_would_happen_without_the_frame_and_its_policy() -> None:
    with _page() as (page, observed):
        for html in _documents():
            _show(page, f"<!doctype html><html><head></head><body>{html}</body></html>")
            assert page.evaluate("document.querySelectorAll('[src],[srcset],[background],script,svg,form').length") == 0
        assert observed == Observed()


def test_the_browser_would_have_told() -> None:
    harmful = (
        "<img src=//evil.example/a.png onerror=alert(1)><style>@import '//evil.example/b.css'</style>"
        "<p style='background:url(//evil.example/c.png)'>x</p>"
        "<svg><animate onbegin=alert(2) attributeName=x dur=1s></svg>"
    )
    with _page() as (page, observed):
        _show(page, harmful)
        assert sorted(observed.requests) == [f"http://evil.example/{name}" for name in ("a.png", "b.css", "c.png")]
        assert sorted(observed.dialogs) == ["1", "2"]
        refresh = "<meta http-equiv=refresh content='0;url=//evil.example/d'>"
        with page.expect_request("http://evil.example/d"), suppress(Error):  # the page leaves while it is looked at
            _show(page, refresh)
        assert observed.requests[-1] == "http://evil.example/d"


def _documents() -> Iterator[str]:
    """The payloads one after the other, many in a document but each closed by itself."""
    payloads = hostile_html.EVERYTHING
    for start in range(0, len(payloads), BATCH):
        batch = payloads[start : start + BATCH]
        yield "".join(f"<div>{sanitize(payload).html}</div>" for payload in batch)
        yield sanitize("".join(batch)).html
        yield "".join(text_fallback(payload).html for payload in batch)


@contextmanager
def _page() -> Iterator[tuple[Page, Observed]]:
    observed = Observed()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(HEADLESS_PATH), args=list(FLAGS))
        page = browser.new_page()

        def dismissed(dialog: Dialog) -> None:
            observed.dialogs.append(dialog.message)
            dialog.dismiss()

        def navigated(frame: Frame) -> None:
            if frame.url not in {ORIGIN, "about:srcdoc", "about:blank"}:
                observed.navigations.append(frame.url)

        page.on("dialog", dismissed)
        page.on("framenavigated", navigated)
        page.route("**/*", lambda route, request: _answer(route, request, observed))
        yield page, observed
        browser.close()


def _answer(route: Route, request: Request, observed: Observed) -> None:
    """There is no network: the page itself comes from here, and everything else is noted and refused."""
    if request.url == ORIGIN and request.is_navigation_request():
        route.fulfill(status=200, content_type="text/html", body="<!doctype html>")
        return
    observed.requests.append(request.url)
    route.abort()


def _show(page: Page, document: str) -> None:
    """Load the document as a browser would load it from the network, and move over everything in it."""
    page.goto(ORIGIN)
    page.set_content(document, wait_until="domcontentloaded")
    page.mouse.move(20, 20)
    page.mouse.move(200, 200)
    page.evaluate(SETTLED)
