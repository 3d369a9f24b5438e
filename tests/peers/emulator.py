"""Google, for tests: the emulator behind its shim as a process, and calls that change a mailbox from outside.

    with google(users=["alice@acme.test"]) as g:
        g.insert("alice@acme.test", raw, labels=["INBOX"])
        location = g.authorize(consent_url, "alice@acme.test")

``g.base`` is issuer and API at once (``SVC_IDP_ISSUER``, ``SVC_MAIL_API_URL``). Everything is plain HTTP on loopback,
and everything ends with the ``with`` block, or with the process that opened it.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from tests.peers.cache import emulator_files

CLIENT_ID: Final = "client.apps.test"
CLIENT_SECRET: Final = "secret-of-the-client"
NOBODY: Final = "nobody@nowhere.test"
"""Seeded first: the emulator takes an unknown token for the first user."""

HTTP_DEADLINE_S: Final = 120.0
END_DEADLINE_S: Final = 10.0
_SHIM: Final = Path(__file__).with_name("gmail_shim.py")


@dataclass(frozen=True, kw_only=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(kw_only=True)
class Google:
    """One running emulator. Every method is one or a few blocking requests."""

    port: int
    _connection: HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        self._connection = HTTPConnection("127.0.0.1", self.port, timeout=HTTP_DEADLINE_S)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    # A mailbox, as somebody else changes it

    def insert(
        self, address: str, raw: bytes, *, labels: Sequence[str] = ("INBOX", "UNREAD"), thread_id: str | None = None
    ) -> str:
        """A message arrives; its id. Labels of one's own have to be made before."""
        body: dict[str, Any] = {"raw": base64.urlsafe_b64encode(raw).decode().rstrip("="), "labelIds": list(labels)}
        if thread_id is not None:
            body["threadId"] = thread_id
        return str(self._gmail("POST", address, "messages", body)["id"])

    def modify(self, address: str, message_id: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> None:
        body = {"addLabelIds": list(add), "removeLabelIds": list(remove)}
        self._gmail("POST", address, f"messages/{message_id}/modify", body)

    def delete(self, address: str, message_id: str) -> None:
        self._gmail("DELETE", address, f"messages/{message_id}")

    def has_drafts(self, address: str) -> bool:
        return bool(self._gmail("GET", address, "drafts?maxResults=1").get("drafts"))

    def drafts(self, address: str) -> dict[str, bytes]:
        """What lies among the drafts, by the ids of the drafts."""
        page = self._gmail("GET", address, "drafts?maxResults=500")
        found = {}
        for one in page["drafts"]:
            raw = self._gmail("GET", address, f"messages/{one['message']['id']}?format=raw")["raw"]
            found[one["id"]] = base64.urlsafe_b64decode(raw)
        return found

    def put_draft(self, address: str, raw: bytes, *, draft_id: str | None = None) -> str:
        """As another program does; its id."""
        body = {"message": {"raw": base64.urlsafe_b64encode(raw).decode()}}
        if draft_id is None:
            return str(self._gmail("POST", address, "drafts", body)["id"])
        return str(self._gmail("PUT", address, f"drafts/{draft_id}", body)["id"])

    def create_label(self, address: str, name: str) -> str:
        return str(self._gmail("POST", address, "labels", {"name": name})["id"])

    def labels_of(self, address: str, message_id: str) -> set[str]:
        return set(self._gmail("GET", address, f"messages/{message_id}?format=minimal")["labelIds"])

    def message_ids(self, address: str) -> list[str]:
        """Every message, newest first, spam and trash included."""
        found: list[str] = []
        token = ""
        while True:
            page = self._gmail("GET", address, f"messages?includeSpamTrash=true&maxResults=500&pageToken={token}")
            found.extend(message["id"] for message in page["messages"])
            token = page.get("nextPageToken", "")
            if not token:
                return found

    # The person at the consent screen

    def authorize(self, consent_url: str, address: str) -> str:
        """Consent as ``address`` on the screen at ``consent_url``; where the browser is sent then."""
        parts = urlsplit(consent_url)
        page = self.request("GET", f"{parts.path}?{parts.query}")
        assert page.status == 200, page.body.decode()
        forms = _Forms()
        forms.feed(page.body.decode())
        action, fields = next(form for form in forms.found if form[1].get("email") == address)
        form_type = {"content-type": "application/x-www-form-urlencoded"}
        sent = self.request("POST", urlsplit(action).path, urlencode(fields).encode(), form_type)
        assert sent.status == 302, sent.body.decode()
        return sent.headers["location"]

    # Trouble

    def fault(
        self,
        match: str,
        *,
        times: int = 1,
        status: int = 0,
        body: object = None,
        headers: dict[str, str] | None = None,
        delay_s: float = 0.0,
        cut: str = "",
        truncate: int = -1,
    ) -> None:
        """The next ``times`` requests whose ``METHOD path?query`` matches are delayed, answered otherwise, or cut."""
        fault = {"match": match, "times": times, "status": status, "body": body, "headers": headers or {}}
        self._command("fault", fault | {"delay_s": delay_s, "cut": cut, "truncate": truncate})

    def heal(self) -> None:
        self._command("heal")

    def expire_tokens(self) -> None:
        """Every access token given out so far is answered 401; refresh tokens stay good."""
        self._command("expire")

    def revoke_grants(self) -> None:
        """The user takes all access back."""
        self._command("revoke")

    def requests(self) -> list[str]:
        """Everything asked so far, as ``METHOD path?query``."""
        return [" ".join(line) for line in self._command("log")]

    # HTTP

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Reply:
        self._connection.request(method, path, body, headers or {})
        response = self._connection.getresponse()
        fields = {name.lower(): value for name, value in response.getheaders()}
        return Reply(status=response.status, headers=fields, body=response.read())

    def close(self) -> None:
        self._connection.close()

    def _gmail(self, method: str, address: str, path: str, body: object = None) -> Any:
        headers = {"authorization": f"Bearer seed-{address}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        reply = self.request(method, f"/gmail/v1/users/{quote(address)}/{path}", data, headers)
        assert reply.status in {200, 204}, (reply.status, reply.body)
        return json.loads(reply.body) if reply.body else {}

    def _command(self, name: str, body: object = None) -> Any:
        return json.loads(self.request("POST", f"/_shim/{name}", json.dumps(body or {}).encode()).body)


@contextmanager
def google(*, users: Sequence[str], redirect_uris: Sequence[str] = ()) -> Iterator[Google]:
    """Google with these users and one OAuth client (:data:`CLIENT_ID`). Wants ``needs(EMULATOR)``."""
    files = emulator_files()
    assert files is not None, "run .ci/peers first"
    with tempfile.TemporaryDirectory() as directory:
        seed = Path(directory) / "seed.yaml"  # JSON is YAML
        seed.write_text(json.dumps(_seed(users, redirect_uris)))
        command = [sys.executable, str(_SHIM), *map(str, files), str(seed)]
        with (Path(directory) / "log").open("w+") as log:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
            try:
                yield from _serving(process, Path(log.name))
            finally:
                _end(process)


def _serving(process: subprocess.Popen[bytes], log: Path) -> Iterator[Google]:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"the emulator did not start:\n{log.read_text()}"
    peer = Google(port=json.loads(line)["port"])
    try:
        yield peer
    finally:
        peer.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """The end of its input ends the shim, and the shim ends the emulator."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    for then in (process.terminate, process.kill):
        try:
            process.wait(END_DEADLINE_S)
            break
        except subprocess.TimeoutExpired:
            then()
    process.wait()
    process.stdout.close()


def _seed(users: Sequence[str], redirect_uris: Sequence[str]) -> dict[str, object]:
    everybody = [NOBODY, *users]
    return {
        "tokens": {
            f"seed-{address}": {"login": address, "id": number, "scopes": []}
            for number, address in enumerate(everybody, start=1)
        },
        "google": {
            "users": [{"email": address, "name": address, "email_verified": True} for address in everybody],
            "oauth_clients": [
                {
                    "client_id": CLIENT_ID,
                    "client_secret": CLIENT_SECRET,
                    "name": "Svc",
                    "redirect_uris": list(redirect_uris) or ["http://127.0.0.1:4780/oauth/mail/callback"],
                }
            ],
        },
    }


class _Forms(HTMLParser):
    """The forms of a page: where each goes, and what its fields hold."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append((values.get("action", ""), {}))
        elif tag == "input" and self.found and "name" in values:
            self.found[-1][1][values["name"]] = values.get("value", "")
