"""Settings > Credentials against the whole program and a stand-in for a model vendor: set, test, replace, remove."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import fresh_page, settled
from tests.support.installed import InstalledService

pytestmark = [pytest.mark.browser, pytest.mark.wall_clock]

GOOD, WRONG = "canary-right-key-1f", "canary-wrong-key-2e"


class Vendor(BaseHTTPRequestHandler):
    """Lists its models if the key is right, and otherwise gives the reason."""

    def do_GET(self) -> None:
        known = self.path == "/v1/models" and self.headers["x-api-key"] == GOOD
        body: dict[str, object] = (
            {"data": []} if known else {"error": {"message": f"invalid x-api-key {self.headers['x-api-key']}"}}
        )
        data = json.dumps(body).encode()
        self.send_response(200 if known else 401)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Not to the terminal."""


@contextmanager
def vendor() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Vendor)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.thorough
def test_a_credential_is_set_tested_replaced_and_removed_and_never_seen_again(browser: Browser, tmp_path: Path) -> None:
    with vendor() as url, InstalledService(tmp_path) as service:
        service.start(PROVIDERS="fake", SVC_LLM_A_URL=url)
        with fresh_page(browser, base_url=service.base) as page:
            page.goto("/settings/credentials")
            row = page.get_by_role("listitem").filter(has_text="Model vendor A")
            expect(row.get_by_role("button", name="Set Model vendor A")).to_be_visible()
            enter(page, "Set Model vendor A (Anthropic)", WRONG)
            page.get_by_role("button", name="Test Model vendor A (Anthropic)").click()
            expect(row.get_by_role("status")).to_have_text("The service answered 401: invalid x-api-key ********")
            enter(page, "Replace Model vendor A (Anthropic)", GOOD)
            expect(row).to_contain_text("version 2")
            page.get_by_role("button", name="Test Model vendor A (Anthropic)").click()
            expect(row.get_by_role("status")).to_have_text("The service accepts it.")
            expect(row).to_contain_text("by settings")
            page.reload()
            expect(page.get_by_role("table").get_by_text("test by an admin")).to_have_count(2)
            settled(page)
            for canary in (GOOD, WRONG):
                assert canary not in page.content()
            row.get_by_role("button", name="Remove").click()
            row.get_by_role("button", name="Remove").click()
            expect(row.get_by_role("button", name="Set Model vendor A")).to_be_visible()
        assert service.stop() == 0
        kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        assert not any(canary.encode() in content for canary in (GOOD, WRONG) for content in kept)


def enter(page: Page, button: str, value: str) -> None:
    page.get_by_role("button", name=button).click()
    field = page.get_by_label("Model vendor A (Anthropic)", exact=True)
    expect(field).to_be_focused()
    field.fill(value)
    page.get_by_role("button", name="Save").click()
    expect(field).to_have_count(0)
