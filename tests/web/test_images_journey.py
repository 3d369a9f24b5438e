"""Remote images from one end to the other: Chromium, the whole service, and a hostile web behind real TLS.

The web is on loopback; only the resolver and the last step of a connection are a test's, so that a name that means a
public address leads there, and one that means a private address would be seen to.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
import trio
from playwright.sync_api import Page, sync_playwright

from svc.clock import WallClock
from svc.mail.images.proxy import MAX_BYTES, ImageProxy
from svc.workspace import Workspace
from tests.mail.images.pictures import PNG, SVG
from tests.peers.needs import CHROMIUM, VENDOR, needs
from tests.protocol.small_internet import PICTURES, PUBLIC, Internet, answer, drip, moved
from tests.protocol.small_internet import Page as Said
from tests.recorded_log import RecordedLog
from tests.support.browser import DESKTOP, PATIENCE_MS, launch
from tests.support.certificates import certificates
from tests.support.service import MIA, open_service

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.wall_clock,
    needs(CHROMIUM, VENDOR),
]

IMAGE = "Content-Type: image/png"
OPEN_ENDED = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n" + PNG
HOSTILE: dict[str, tuple[Said, str]] = {
    "svg": (answer(SVG, IMAGE), "it is no picture that is shown"),
    "page": (answer(b"<script>alert(1)</script>", "Content-Type: text/html"), "it is no picture that is shown"),
    "slow": (drip(OPEN_ENDED, every_s=0.2), "no whole answer within 5 seconds"),
    "large": (OPEN_ENDED + bytes(MAX_BYTES + 1 - len(PNG)), "it has more than 10 MB"),
    "gzip": (answer(gzip.compress(bytes(1_000_000)), IMAGE, "Content-Encoding: gzip"), "sent it compressed"),
    "moved": (moved("https://inside.example/a.png"), "not on the public Internet"),
    "gone": (answer(b"", IMAGE, status="410 Gone"), "its server answered 410"),
}
INSIDE = "https://inside.example/b.png"
HTML = (
    f"<p>Look:</p><img width=40 height=40 src=https://{PICTURES}/good.png><img width=40 height=40 "
    f"src=http://{PICTURES}/upgraded.png><img width=1 height=1 src=https://{PICTURES}/count.gif><img width=300 "
    f"height=40 alt=inside src={INSIDE}>"
    + "".join(f"<p><img alt={name} width=300 height=40 src=https://{PICTURES}/{name}.png>" for name in HOSTILE)
)


@dataclass
class LoopbackWeb(Internet):
    """The same small Internet, behind a real socket."""

    port: int = 0

    async def connect(self, address: str, port: int) -> trio.abc.Stream:
        self.dialled.append((address, port))
        return await trio.open_tcp_stream("127.0.0.1", self.port)


async def test_images_of_a_hostile_web_in_a_real_browser(tmp_path: Path) -> None:
    clock = WallClock()
    server_tls, client_tls = certificates(tmp_path, PICTURES)
    web = LoopbackWeb(server_tls=server_tls, client_tls=client_tls)
    web.names["inside.example"] = [["10.0.0.7"]]
    web.pages = {f"{PICTURES}/{name}.png": page for name, (page, _) in HOSTILE.items()}
    web.pages |= {f"{PICTURES}/{name}.png": answer(PNG, IMAGE) for name in ("good", "upgraded")}

    def around(workspace: Workspace) -> None:
        workspace.service(ImageProxy).egress = web.egress()

    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        web.port = listeners[0].socket.getsockname()[1]
        nursery.start_soon(trio.serve_listeners, web.serve, listeners)
        front = await trio.open_tcp_listeners(0, host="127.0.0.1")
        origin = f"http://127.0.0.1:{front[0].socket.getsockname()[1]}"
        async with open_service(
            tmp_path, clock=clock, log=RecordedLog(clock), before=around, listeners=front, PROVIDERS="fake"
        ):
            await trio.to_thread.run_sync(visit, origin)
        nursery.cancel_scope.cancel()
    assert {address for address, _ in web.dialled} == {PUBLIC}
    assert not any(b"count.gif" in head for head in web.heard)
    assert not any(b"cookie" in head.lower() or b"127.0.0.1" in head for head in web.heard)


def arrived(page: Page, origin: str) -> str:
    """The listener keeps what comes early: its first answer means that everything runs."""
    wanted = {"address": MIA, "from": "Noa <noa@example.org>", "subject": "Pictures", "html": HTML, "text": "x"}
    injected = page.request.post(f"{origin}/trpc/fake.mail.inject", data=wanted)
    page.request.post(f"{origin}/trpc/fake.mail.syncNow", data={"address": MIA})
    return str(injected.json()["result"]["data"]["threadId"])


def visit(origin: str) -> None:
    with looking() as (page, requests):
        page.goto(f"{origin}/p/mail/t/{arrived(page, origin)}")
        page.locator("iframe").first.wait_for()
        assert not any("proxy-image" in url for url in requests)
        page.get_by_role("button", name="Load images").click()
        page.get_by_text(f"{len(HOSTILE) + 1} images not loaded.").wait_for()
        frame = page.frame_locator("iframe")
        assert frame.locator("img").evaluate_all("all => all.map(one => one.naturalWidth)") == [2, 2]
        for name, (_, reason) in HOSTILE.items():
            assert reason in (frame.get_by_role("img", name=name).get_attribute("title") or ""), name
        assert "not on the public" in (frame.get_by_role("img", name="inside").get_attribute("title") or "")
        source = page.locator("iframe").evaluate("frame => frame.srcdoc")
        assert PICTURES not in source
        assert "image/svg" not in source
        assert all(url.startswith((origin, "data:", "about:")) for url in requests)
        unknown = page.evaluate("url => fetch(url).then(answer => answer.status)", proxied("https://10.0.0.7/"))
        assert unknown == 404
        shown = page.goto(origin + proxied(f"https://{PICTURES}/good.png"))
        assert shown is not None
        assert shown.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert shown.headers["content-type"] == "image/png"


def proxied(url: str) -> str:
    return f"/mail/proxy-image?url={quote(url, safe='')}"


@contextmanager
def looking() -> Iterator[tuple[Page, list[str]]]:
    requests: list[str] = []
    with sync_playwright() as playwright:
        browser = launch(playwright.chromium)
        page = browser.new_page(viewport=DESKTOP)
        page.set_default_timeout(PATIENCE_MS)
        page.on("request", lambda request: requests.append(request.url))
        yield page, requests
        browser.close()
