"""Uploads that mean harm, opened in Chromium by every way there is: nothing of them runs, and nothing is read.

They are opened by somebody who is signed in, as files and as blobs: by the address itself, from the app's own page,
from a page in the app's origin that has no policy at all (so that the answers alone have to hold), from another port of
this machine (the same site: the browser sends the cookie along) and from another site.

By its own address each is opened as a file and as a blob. From a page it is embedded as one of the two, by chance: from
one in the app's origin without a policy each of them, from the others half of them. Under ``SVC_SOAK=1`` all are
embedded as both, from everywhere.

A page of the headless shell costs half of one of the whole browser, and both have the same engine. So the whole one,
with its viewers of documents, opens what the engine alone does not show, by every way from everywhere; under
``SVC_SOAK=1`` it opens all of it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Error, Page, Playwright, Request, Response, Route

from tests.peers.needs import CHROMIUM, CHROMIUM_PATH, HEADLESS_PATH, need
from tests.sizes import SOAK, UPLOAD_ADDRESSES, UPLOAD_SHARES
from tests.support.browser import FLAGS, PATIENCE_MS
from tests.support.browser import until as browser_until
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess, free_port
from tests.web.hostile_uploads import TOLD, Upload, linked, sheet, uploads

pytestmark = [pytest.mark.journey, pytest.mark.browser]

OPEN: Final = (Path(__file__).parent / "open_uploads.js").read_text()
EMBEDDED: Final = ("iframe", "img", "object", "embed", "script", "module", "worker", "popup")
SETTLED_MS: Final = 1_500
BARE: Final = "<!doctype html><title>A page</title><body>"
OUR_PAGE: Final = "/login"
BARE_PATH: Final = "/embedder"
BARE_ORIGIN: Final = "our origin without a policy"
"""Whose embeds are held by the answers alone."""
REACHES: Final = {
    "our own page": {"iframe", "img", "script", "module", "popup"},
    BARE_ORIGIN: set(EMBEDDED),
    "another port": {"iframe", "object", "embed", "popup"},
    "another site": {"popup"},
}
"""From where, and by which ways, the content itself comes: elsewhere the browser refuses, or sends no cookie along."""
EMAIL: Final = "mia@example.org"
VIEWED: Final = {"form.pdf", "saved.mhtml", "saved.eml"}
"""What the whole browser has viewers for."""


@dataclass(frozen=True)
class Kept:
    """An upload that the service took, and where it is found."""

    upload: Upload
    addresses: tuple[str, str]


@dataclass
class Watch:
    """What a window's pages said and asked for."""

    context: BrowserContext
    heard: list[dict[str, str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    alerts: list[str] = field(default_factory=list)
    answered: set[tuple[str, int]] = field(default_factory=set)
    """The ways that an upload was asked for, and the status that came."""

    def reached(self) -> set[str]:
        """The ways by which an upload came."""
        return {way for way, status in self.answered if status == 200}

    def ran(self) -> set[tuple[str, str]]:
        return {(one["name"], one["way"]) for one in self.heard if one["what"].startswith("ran in ")}


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    need(CHROMIUM)
    launched = launch(playwright, CHROMIUM_PATH if SOAK else HEADLESS_PATH)
    yield launched
    launched.close()


@pytest.fixture
def whole_browser(playwright: Playwright) -> Iterator[Browser]:
    need(CHROMIUM)
    launched = launch(playwright, CHROMIUM_PATH)
    yield launched
    launched.close()


def launch(playwright: Playwright, path: Path) -> Browser:
    """Without its own guard of the local network: the service has to hold alone."""
    flags = [*FLAGS, "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests"]
    return playwright.chromium.launch(executable_path=str(path), headless=True, args=flags)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with InstalledService(tmp_path_factory.mktemp("hostile")) as process:
        process.start(PROVIDERS="fake")
        yield process


@pytest.fixture(scope="module")
def cookie(service: ServiceProcess) -> str:
    body = json.dumps({"email": EMAIL}).encode()
    reply = service.request("POST", "/auth/dev-login", body, {"content-type": "application/json"})
    return (reply.header("set-cookie") or "").partition(";")[0]


@pytest.fixture(scope="module")
def kept(service: ServiceProcess, cookie: str) -> list[Kept]:
    style = keep(service, cookie, sheet())
    return [style, *(keep(service, cookie, one) for one in (*uploads(), linked(style.addresses[0])))]


def keep(service: ServiceProcess, cookie: str, upload: Upload) -> Kept:
    headers = {"cookie": cookie, "x-svc-filename": upload.name, "content-type": upload.mime}
    reply = service.request("POST", "/files", upload.content, {name: value for name, value in headers.items() if value})
    assert reply.status == 201, reply.body
    file = reply.json()
    return Kept(upload, (f"/files/{file['id']}/content", f"/blobs/{file['sha256']}"))


@contextmanager
def window(browser: Browser, service: ServiceProcess, cookie: str) -> Iterator[Watch]:
    """A browser's window with the service's cookie, watched."""
    context = browser.new_context(accept_downloads=False, service_workers="block")
    context.set_default_timeout(PATIENCE_MS)
    name, _, value = cookie.partition("=")
    signed_in: Any = {"name": name, "value": value, "url": service.base, "httpOnly": True, "sameSite": "Lax"}
    context.add_cookies([signed_in])
    watch = Watch(context)

    def heard(text: str) -> None:
        if text.startswith(TOLD):
            watch.heard.append(json.loads(text.removeprefix(TOLD)))

    def asked(request: Request) -> None:
        if "hostile" in request.url:
            watch.asked.append(request.url)

    def alerted(dialog: Dialog) -> None:
        watch.alerts.append(dialog.message)
        dialog.dismiss()

    def answered(response: Response) -> None:
        _, mark, way = response.url.partition("?via=")
        if mark:
            watch.answered.add((way, response.status))

    context.on("response", answered)
    context.on("console", lambda message: heard(message.text))
    context.on("request", asked)
    context.on("dialog", alerted)
    yield watch
    context.close()


def hand_in(context: BrowserContext, url: str) -> Page:
    """A page at ``url`` that no server needs to serve, without any policy."""

    def fulfill(route: Route) -> None:
        route.fulfill(status=200, content_type="text/html", body=BARE)

    page = context.new_page()
    page.route(url, fulfill)
    page.goto(url)
    return page


def chosen(kept: list[Kept], chance: random.Random) -> list[str]:
    return [address for one in kept for address in chance.sample(one.addresses, UPLOAD_ADDRESSES)]


def open_from(page: Page, base: str, kept: list[Kept], chance: random.Random) -> None:
    open_all(page, base, chosen(kept, chance))


def open_all(page: Page, base: str, addresses: list[str]) -> None:
    opened = [base + address for address in addresses]
    page.evaluate(OPEN, {"addresses": opened, "ways": EMBEDDED, "patience": SETTLED_MS})


def open_directly(context: BrowserContext, base: str, addresses: list[str]) -> None:
    """Each in a page of its own: what one does after it has loaded must not cut off the next."""
    for address in addresses:
        page = context.new_page()
        with suppress(Error):  # a download ends the visit
            page.goto(f"{base}{address}?via=top")
        page.close()


def vantage(context: BrowserContext, name: str, base: str) -> Page:
    if name == "our own page":
        page = context.new_page()
        page.goto(base + OUR_PAGE)
        return page
    origin = {BARE_ORIGIN: base, "another port": f"http://127.0.0.1:{free_port()}"}
    return hand_in(context, origin.get(name, "http://elsewhere.invalid") + BARE_PATH)


def test_opened_by_its_own_address_nothing_runs(
    browser: Browser, service: ServiceProcess, cookie: str, kept: list[Kept]
) -> None:
    before = written(service)
    with window(browser, service, cookie) as watch:
        open_directly(watch.context, service.base, [address for one in kept for address in one.addresses])
        assert (watch.heard, watch.asked, watch.alerts) == ([], [], [])
    assert written(service) == before


def wait_until_reached(page: Page, watch: Watch, ways: set[str]) -> None:
    browser_until(page, lambda: watch.reached() >= ways, what=f"{sorted(ways)}", tell=lambda: str(watch.reached()))


@pytest.mark.share(2)
@pytest.mark.parametrize("name", REACHES)
def test_whoever_embeds_or_opens_it_nothing_runs(
    browser: Browser, service: ServiceProcess, cookie: str, kept: list[Kept], name: str, chance: random.Random
) -> None:
    before = written(service)
    with window(browser, service, cookie) as watch:
        page = vantage(watch.context, name, service.base)
        tried = kept if name == BARE_ORIGIN else chance.sample(kept, len(kept) // UPLOAD_SHARES)
        open_from(page, service.base, tried, chance)
        wait_until_reached(page, watch, REACHES[name])
        assert (watch.heard, watch.asked, watch.alerts) == ([], [], [])
    assert written(service) == before


def test_the_viewers_of_the_whole_browser_run_nothing(
    whole_browser: Browser, service: ServiceProcess, cookie: str, kept: list[Kept]
) -> None:
    before = written(service)
    viewed = [one for one in kept if one.upload.name in VIEWED]
    assert {one.upload.name for one in viewed} == VIEWED
    addresses = [address for one in viewed for address in one.addresses]
    with window(whole_browser, service, cookie) as watch:
        open_directly(watch.context, service.base, addresses)
        assert "top" in watch.reached()
        for name, ways in REACHES.items():
            watch.answered.clear()
            page = vantage(watch.context, name, service.base)
            open_all(page, service.base, addresses)
            wait_until_reached(page, watch, ways)
        assert (watch.heard, watch.asked, watch.alerts) == ([], [], [])
    assert written(service) == before


def test_served_bare_in_our_origin_the_same_uploads_run_and_read(
    browser: Browser, service: ServiceProcess, cookie: str, kept: list[Kept], chance: random.Random
) -> None:
    """Else the silence above would prove nothing."""
    by_address = {address: one.upload for one in kept for address in one.addresses}

    def serve_bare(route: Route) -> None:
        upload = by_address[route.request.url.removeprefix(service.base).partition("?")[0]]
        headers = {"content-type": upload.mime} if upload.mime else {}
        route.fulfill(status=200, headers=headers, body=upload.content)

    expected = {(one.upload.name, way) for one in kept for way in one.upload.runs}
    with window(browser, service, cookie) as watch:
        for pattern in ("**/files/*/content*", "**/blobs/*"):
            watch.context.route(pattern, serve_bare)
        open_directly(watch.context, service.base, chosen(kept, chance))
        page = vantage(watch.context, BARE_ORIGIN, service.base)
        open_from(page, service.base, kept, chance)
        browser_until(
            page,
            lambda: expected <= watch.ran(),
            what="every upload to run in the browser",
            tell=lambda: f"missing: {sorted(expected - watch.ran())}",
        )
        assert any(EMAIL in one["what"] for one in watch.heard)
        assert any("hostile-refresh" in url for url in watch.asked)
    assert written(service) == [("hostile",)]


def written(service: ServiceProcess) -> list[tuple[Any, ...]]:
    return service.rows("select path from pages where path like 'hostile%'")
