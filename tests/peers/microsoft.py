"""A Microsoft of our own: its token endpoint, its consent screen, and who its tokens are for.

It answers by what it is asked, as the real one does, and keeps what it was asked. In-process it stands in for
:class:`Egress`; over HTTP (:func:`microsoft`) it also tells Dovecot what a token is worth (RFC 7662). Its tokens and
codes are canaries: words that occur nowhere else.
"""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

import trio

from svc.clock import Clock, WallClock
from svc.protocol.egress import EgressFault, EgressResponse
from tests.mail.scripted_http import Asked, answer, id_token
from tests.peers.dovecot import Dovecot, dovecot

LOGIN: Final = "https://login.microsoftonline.com"
DIRECTORY: Final = "9188040d-6c67-4c5b-b112-36a304b66dad"
"""Of personal accounts."""
CLIENT_ID: Final = "11111111-2222-3333-4444-555555555555"
CLIENT_SECRET: Final = "canary-microsoft-secret"
SCOPES: Final = "https://outlook.office.com/IMAP.AccessAsUser.All https://outlook.office.com/SMTP.Send"


@dataclass
class Microsoft:
    """``refusal``: the code (AADSTS) and the error of the token endpoint instead of a grant. ``names`` are the claims
    that say who signed in. ``tokens``: those that the mail servers take, and for whom."""

    address: str
    base: str = LOGIN
    directory: str = "common"
    secret: str = CLIENT_SECRET
    names: dict[str, str] | None = None
    scope: str = SCOPES
    refusal: tuple[str, str] | None = None
    page: EgressResponse = field(default_factory=lambda: answer(b"<title>Sign in to your account</title>"))
    cut: bool = False
    lifetime_s: int = 3_600
    clock: Clock = field(default_factory=WallClock)
    tokens: dict[str, str] = field(default_factory=dict)
    codes: dict[str, tuple[str, str]] = field(default_factory=dict)
    refresh_token: str = ""
    grants: int = 0
    asked: list[Asked] = field(default_factory=list)

    # As the way out of a service in-process

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None = None,
        deadline_s: float,
        limit_bytes: int,
    ) -> EgressResponse:
        asked = Asked(method=method, url=url, headers=headers, body=body, at_s=trio.current_time())
        self.asked.append(asked)
        await trio.lowlevel.checkpoint()
        if self.cut or not url.startswith(self.base):
            raise EgressFault("connect", f"{method} nobody listens", may_have_happened=False)
        return self.answer(urlsplit(url).path, asked.form)

    def answer(self, path: str, form: Mapping[str, str]) -> EgressResponse:
        if path.endswith("/oauth2/v2.0/authorize"):
            return self.page
        assert path == f"/{self.directory}/oauth2/v2.0/token", path
        if self.refusal is not None:
            return self._refused(*self.refusal)
        return self._granted(form)

    def consented(self, query: Mapping[str, str]) -> str:
        """A person signs in and lets the app in: where their browser is sent."""
        self.grants += 1
        code = f"canary-code-{self.grants}"
        self.codes[code] = (query["code_challenge"], query["redirect_uri"])
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state'], 'session_state': 'x'})}"

    def forms(self, grant_type: str) -> list[dict[str, str]]:
        return [one.form for one in self.asked if one.body and one.form["grant_type"] == grant_type]

    def _granted(self, form: Mapping[str, str]) -> EgressResponse:
        if form["client_id"] != CLIENT_ID:
            return self._refused("700016", "unauthorized_client")
        if form.get("client_secret", "") != self.secret:
            return (
                self._refused("7000215", "invalid_client")
                if "client_secret" in form
                else self._refused("7000218", "invalid_client")
            )
        if form["grant_type"] == "authorization_code":
            challenge, redirect_uri = self.codes.pop(form["code"], ("", ""))
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            if base64.urlsafe_b64encode(digest).decode().rstrip("=") != challenge:
                return self._refused("9002313", "invalid_request")
            if redirect_uri != form["redirect_uri"]:
                return self._refused("50011", "invalid_request")
        elif form["refresh_token"] != self.refresh_token:
            return self._refused("70000", "invalid_grant")
        return self._tokens()

    def _tokens(self) -> EgressResponse:
        self.grants += 1
        token = f"canary-access-{self.grants}"
        self.tokens[token] = self.address
        self.refresh_token = f"canary-refresh-{self.grants}"  # each renewal gives another one
        now_s = self.clock.now() // 1_000
        claims = self.names if self.names is not None else {"email": self.address, "preferred_username": self.address}
        told: dict[str, object] = {
            "token_type": "Bearer",
            "scope": self.scope,
            "expires_in": self.lifetime_s,
            "access_token": token,
            "refresh_token": self.refresh_token,
            "id_token": id_token(
                iss=f"{self.base}/{DIRECTORY}/v2.0",
                tid=DIRECTORY,
                aud=CLIENT_ID,
                sub="subject",
                exp=now_s + 86_400,
                iat=now_s,
                **claims,
            ),
        }
        return answer(told)

    def _refused(self, code: str, error: str) -> EgressResponse:
        words = f"AADSTS{code}: canary words. Trace ID: 1 Correlation ID: 2"
        return answer(
            {"error": error, "error_description": words, "error_codes": [int(code)]},
            status=401 if error == "invalid_client" else 400,
        )

    def worth(self, token: str) -> dict[str, Any]:
        """As Dovecot asks."""
        return {"active": True, "email": self.tokens[token]} if token in self.tokens else {"active": False}


@contextmanager
def microsoft(address: str) -> Iterator[Microsoft]:
    """Over HTTP, on this machine. ``/introspect`` is Dovecot's; the consent screen consents at once."""
    peer = Microsoft(address=address)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            if "/authorize" in self.path and "state" in query:
                self._say(answer(b"", status=302, location=peer.consented(query)))
            else:
                self._say(answer(b"", status=404))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
            if urlsplit(self.path).path == "/introspect":
                self._say(answer(json.dumps(peer.worth(form.get("token", ""))).encode()))
                return
            peer.asked.append(Asked(method="POST", url=self.path, headers={}, body=body, at_s=time.monotonic()))
            self._say(peer.answer(urlsplit(self.path).path, form))

        def _say(self, said: EgressResponse) -> None:
            self.send_response(said.status)
            location = said.headers.get("location")
            if location is not None:
                self.send_header("location", location)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(said.body)))
            self.end_headers()
            self.wfile.write(said.body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        peer.base = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield peer
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def dovecot_for(peer: Microsoft) -> Iterator[Dovecot]:
    """A mail server that takes its tokens, and asks it what each is worth. Wants ``needs(DOVECOT)``."""
    with tempfile.TemporaryDirectory(prefix="svc-microsoft-") as directory:
        Path(directory).chmod(0o755)
        asks = Path(directory) / "oauth.ext"
        asks.write_text(
            f"introspection_mode = post\nintrospection_url = {peer.base}/introspect\nusername_attribute = email\n"
            "active_attribute = active\nactive_value = true\n"
        )
        asks.chmod(0o644)  # Dovecot asks as a user of its own
        passdb = f"passdb {{\n  driver = oauth2\n  mechanisms = xoauth2\n  args = {asks}\n}}\n"
        with dovecot(extra=f"auth_mechanisms = plain login xoauth2\n{passdb}") as server:
            yield server


def settings_for(peer: Microsoft, server: Dovecot) -> dict[str, str]:
    """Of a service that connects mailboxes there."""
    return {
        "MICROSOFT_CLIENT_ID": CLIENT_ID,
        "MICROSOFT_CLIENT_SECRET": CLIENT_SECRET,
        "SVC_MICROSOFT_LOGIN_URL": peer.base,
        "SVC_MICROSOFT_IMAP": f"localhost:{server.tls_port}",
        "SVC_MICROSOFT_SMTP": f"localhost:{server.submission_port}",
    }
