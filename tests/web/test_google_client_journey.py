"""An admin pastes Google's client into the app, tests, mends and uses it, without a restart and without a variable.

The provider is a stand-in on this machine that keeps Google's rules: it knows one client, and which addresses that may
send people back to.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import fresh_page, settled
from tests.support.installed import InstalledService

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]

CLIENT, SECRET = "123-canary.apps.googleusercontent.com", "canary-secret-5d"


@dataclass
class Google(ThreadingHTTPServer):
    registered: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Google

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/.well-known/openid-configuration":
            issuer = self.server.issuer
            ends = {"authorization_endpoint": "auth", "token_endpoint": "token", "jwks_uri": "keys"}
            algorithms = {"id_token_signing_alg_values_supported": ["RS256"]}
            self.say(200, {"issuer": issuer, **algorithms, **{name: f"{issuer}/{at}" for name, at in ends.items()}})
            return
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        if asked.get("client_id") != CLIENT:
            self.say(401, "Error 401: invalid_client")
        elif asked["redirect_uri"] not in self.server.registered:
            self.say(400, "Error 400: redirect_uri_mismatch")
        else:
            self.say(200, "<title>Sign in</title><h1>Choose an account</h1>", kind="text/html")

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
        known = (form["client_id"], form["client_secret"]) == ([CLIENT], [SECRET])
        self.say(400 if known else 401, {"error": "invalid_grant" if known else "invalid_client"})

    def say(self, status: int, body: Any, *, kind: str = "application/json") -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Not to the terminal."""


@contextmanager
def google() -> Iterator[Google]:
    server = Google()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def downloaded(**web: object) -> str:
    return json.dumps({"web": {"client_id": CLIENT, "project_id": "svc", "client_secret": SECRET, **web}}, indent=1)


def test_the_client_is_pasted_whole_tested_mended_and_used_without_a_restart(browser: Browser, tmp_path: Path) -> None:
    with google() as provider, InstalledService(tmp_path) as service:
        service.start(SVC_IDP_ISSUER=provider.issuer)
        with fresh_page(browser, base_url=service.base) as page:
            page.goto("/p/mail")
            page.get_by_role("button", name="Google").click()
            uris = [f"{service.base}{path}" for path in ("/oauth/mail/callback", "/auth/idp/callback")]
            for uri in uris:
                page.get_by_text(uri, exact=True).wait_for()

            page.get_by_label("Client ID").fill(json.dumps({"installed": {"client_id": "x", "client_secret": "y"}}))
            expect(page.get_by_role("alert")).to_contain_text("of the type Web application")
            page.get_by_label("Client ID").fill(downloaded(redirect_uris=uris[:1]))
            expect(page.get_by_role("alert")).to_contain_text(f"It does not know {uris[1]} yet")
            expect(page.get_by_label("Client ID")).to_have_value(CLIENT)
            page.get_by_role("button", name="Save").click()

            tells(page, "redirect_uri_mismatch", f"Add exactly {uris[0]}")
            provider.registered |= {uris[0]}
            tells(page, "redirect_uri_mismatch", f"Add exactly {uris[1]}")
            provider.registered |= {uris[1]}
            tells(page, "The provider knows this client, and both addresses of this server.")

            page.get_by_role("button", name="Replace the client").click()
            page.get_by_label("Client ID").fill(downloaded(client_secret="canary-wrong-9k"))
            page.get_by_role("button", name="Save").click()
            settled(page)
            expect(page.locator(".credential-told")).to_have_text("")  # what was told of the one before
            tells(page, "does not accept this server's client id or secret", "Copy both again")
            page.get_by_role("button", name="Replace the client").click()
            page.get_by_label("Client ID").fill(downloaded())
            page.get_by_role("button", name="Save").click()
            settled(page)
            for canary in (SECRET, "canary-wrong-9k"):
                assert canary not in page.content()

            page.get_by_role("link", name="Connect a mailbox").click()
            page.get_by_role("heading", name="Choose an account").wait_for()
            assert parse_qs(urlsplit(page.url).query)["redirect_uri"] == uris[:1]
            page.goto("/login")
            page.get_by_role("link", name="Continue with your identity provider").click()
            page.get_by_role("heading", name="Choose an account").wait_for()
            assert parse_qs(urlsplit(page.url).query)["redirect_uri"] == uris[1:]
        assert service.stop() == 0
        assert SECRET not in service.log()


def tells(page: Page, *words: str) -> None:
    page.get_by_role("button", name="Test Sign-in and mail").click()
    for one in words:
        expect(page.locator(".credential-told")).to_contain_text(one)
