"""OpenID providers that we did not write, as processes, and the person in front of their screens.

    with openid_provider(redirect_uri=…, accounts={"mia": {"email": "mia@acme.test", "email_verified": True}}) as idp:
        location = idp.sign_in(consent_url, "mia")

``idp.base`` is the issuer. ``certified`` is npm oidc-provider, with its own login and consent screens; ``documents`` is
the same one, which reads Client ID Metadata Documents and grants access to resources; ``mock`` is npm
oauth2-mock-server, which signs the first account in at once and lies on demand. Ends with the ``with`` block.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.client import HTTPConnection
from pathlib import Path
from typing import IO, Final, Literal
from urllib.parse import urlencode, urljoin, urlsplit

from tests.peers.cache import emulator_files, peers_dir
from tests.sizes import HANGS_S

CLIENT_ID: Final = "client.openid.test"
CLIENT_SECRET: Final = "secret of the client/+"
HTTP_DEADLINE_S: Final = HANGS_S
END_DEADLINE_S: Final = 10.0
MAX_STEPS: Final = 12
_PROGRAM: Final = Path(__file__).with_suffix(".mjs")

Accounts = Mapping[str, Mapping[str, object]]


@dataclass(kw_only=True)
class OpenId:
    """One running provider."""

    port: int
    stdin: IO[bytes]
    stdout: IO[bytes]
    cookies: dict[str, str] = field(default_factory=dict)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def sign_in(self, consent_url: str, account: str, *, abort: bool = False) -> str:
        """Fill in every screen from ``consent_url`` on, as ``account``; where the browser is sent in the end."""
        self.cookies.clear()
        url, form = consent_url, None
        for _ in range(MAX_STEPS):
            status, location, page = self._ask(url, form)
            if location:
                url, form = urljoin(url, location), None
                if not url.startswith(self.base):
                    return url
                continue
            assert status == 200, page
            screen = _Screen()
            screen.feed(page)
            if abort:
                assert screen.abort, page
                url, form = urljoin(url, screen.abort), None
                continue
            fields = screen.fields | ({"login": account, "password": "any"} if "login" in screen.fields else {})
            url, form = urljoin(url, screen.action), fields
        raise AssertionError(f"the provider's screens do not end: {url}")

    def lie(self, **how: object) -> None:
        """From now on: ``claims`` and ``header`` to sign, ``tamper`` after signing, ``unsigned``. Only the mock can."""
        self.stdin.write(json.dumps(how).encode() + b"\n")
        self.stdin.flush()
        assert self.stdout.readline() == b"done\n"

    def _ask(self, url: str, form: Mapping[str, str] | None) -> tuple[int, str | None, str]:
        parts = urlsplit(url)
        headers = {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        if form is not None:
            headers["content-type"] = "application/x-www-form-urlencoded"
        connection = HTTPConnection("127.0.0.1", self.port, timeout=HTTP_DEADLINE_S)
        try:
            target = f"{parts.path}?{parts.query}" if parts.query else parts.path
            body = None if form is None else urlencode(form).encode()
            connection.request("GET" if form is None else "POST", target, body, headers)
            response = connection.getresponse()
            for pair in (value.partition(";")[0] for value in response.headers.get_all("set-cookie") or []):
                name, _, value = pair.partition("=")
                self.cookies[name] = value
            return response.status, response.headers.get("location"), response.read().decode()
        finally:
            connection.close()


@contextmanager
def openid_provider(
    *,
    redirect_uri: str = "",
    accounts: Accounts,
    provider: Literal["certified", "documents", "mock"] = "certified",
    algorithm: str = "RS256",
    authentication: str = "client_secret_post",
    in_token: bool = True,
    documents: Mapping[str, str] | None = None,
    scope: str = "",
) -> Iterator[OpenId]:
    """``in_token``: the ID token says the address; else only the UserInfo endpoint does, as the standard has it.

    ``documents``, ``scope``: for the provider of that name, what it finds at the address of each, and what it grants.
    """
    files = emulator_files()
    assert files is not None, "run .ci/peers first"
    settings = {
        "provider": provider,
        "client": {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "redirect_uris": [redirect_uri]},
        "accounts": accounts,
        "algorithm": algorithm,
        "authentication": authentication,
        "inToken": in_token,
        "documents": documents or {},
        "scope": scope,
    }
    command = [str(files[0]), str(_PROGRAM), str(peers_dir() / "node_modules"), json.dumps(settings)]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            log.seek(0)
            assert line, f"the provider did not start:\n{log.read()}"
            yield OpenId(port=json.loads(line)["port"], stdin=process.stdin, stdout=process.stdout)
        finally:
            process.stdin.close()
            try:
                process.wait(END_DEADLINE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


class _Screen(HTMLParser):
    """The one form of a page, and the link by which one turns back."""

    def __init__(self) -> None:
        super().__init__()
        self.action = ""
        self.fields: dict[str, str] = {}
        self.abort: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.action = values.get("action", "")
        elif tag == "input" and "name" in values:
            self.fields[values["name"]] = values.get("value", "")
        elif tag == "a" and values.get("href", "").endswith("/abort"):
            self.abort = values["href"]
