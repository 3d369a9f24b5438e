"""A page that means harm, in a real browser that has the service's cookie, tries every route: nothing happens, and it
reads nothing.

It comes from another site, from another port of the same machine (to which the browser sends our cookie), from a
sandboxed frame (whose origin is null), and under a name that was rebound to our address. The browser's own guard of
the local network is off: the service has to hold alone.

What would do or show something is tried from every place, by some of the ways there are. All other rows stand behind
the same guard: a quarter of them is tried, each from one place by one way. All is chosen anew in each run; under
``SVC_SOAK=1`` each row is tried from all places by all ways.
"""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, BrowserContext, Frame, Route, sync_playwright

from tests.peers.needs import CHROMIUM, HEADLESS_PATH, need
from tests.sizes import HOSTILE_OPENED, HOSTILE_SHARES, HOSTILE_SHOWN_WAYS, HOSTILE_WAYS
from tests.support.browser import FLAGS
from tests.support.process import READY_DEADLINE_S, ServiceProcess, free_port, until
from tests.surface.every_row import PROBES, entries, target_of

pytestmark = [pytest.mark.journey, pytest.mark.browser]

HOSTILE: Final = "hostile.example"
REBOUND: Final = "rebound.example"
SETTINGS: Final = {"PROVIDERS": "fake", "SVC_SEED": "mock-world", "SVC_AUTH_RATE_LIMIT": "100000"}
SCRIPT: Final = (Path(__file__).parent / "hostile_page.js").read_text()
PAGE: Final = "<!doctype html><title>Win a prize</title><body>"
SANDBOXED: Final = f"{PAGE}<iframe sandbox='allow-scripts allow-forms allow-popups' srcdoc='{PAGE}'></iframe>"
OUR_FACE: Final = "/login"
IMAGE: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

VANTAGES: Final = ("another site", "another port", "a sandboxed frame", "a rebound name")
MOVES_BY_ITSELF: Final = ("last_seen", "synced_at")
"""Parts of the names of columns that change while nobody asks for anything."""


READ_WAYS: Final = ("no-cors", "cors", "cors with credentials", "token", "range", "img", "script", "link", "iframe")
WRITE_WAYS: Final = (
    *("beacon", "POST no-cors", "POST simple", "POST untyped", "POST json"),
    *("form urlencoded", "form multipart", "form plain"),
)
Write = tuple[str, dict[str, object]]


@dataclass(frozen=True, kw_only=True)
class Attack:
    """``shown`` and ``effective`` would show or do something; the others are every row's plain call."""

    reads: list[str]
    shown: list[str]
    writes: list[Write]
    effective: list[Write]
    opens: list[str]

    def shuffled(self, chance: random.Random) -> Attack:
        return replace(
            self,
            reads=chance.sample(self.reads, len(self.reads)),
            writes=chance.sample(self.writes, len(self.writes)),
        )

    def on(self, service: str, chance: random.Random, share: slice, *, by_all: bool = False) -> dict[str, object]:
        """``share``: which of the rows that show and do nothing. ``by_all``: the others are tried by all ways."""

        def some(ways: Sequence[str], count: int = HOSTILE_WAYS) -> list[str]:
            return chance.sample(ways, min(count, len(ways)))

        return {
            "service": service,
            "reads": [
                *((path, some(READ_WAYS)) for path in self.reads[share]),
                *((path, READ_WAYS if by_all else some(READ_WAYS, HOSTILE_SHOWN_WAYS)) for path in self.shown),
            ],
            "writes": [
                *((path, body, some(WRITE_WAYS)) for path, body in self.writes[share]),
                *(
                    (path, body, WRITE_WAYS if by_all else some(WRITE_WAYS, HOSTILE_SHOWN_WAYS))
                    for path, body in self.effective
                ),
            ],
            "opens": self.opens if by_all else some(self.opens, HOSTILE_OPENED),
        }


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    need(CHROMIUM)
    flags = [
        *FLAGS,
        f"--host-resolver-rules=MAP {HOSTILE} 127.0.0.1, MAP {REBOUND} 127.0.0.1",
        "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests",
    ]
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(HEADLESS_PATH), headless=True, args=flags)
        yield launched
        launched.close()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceProcess]:
    with ServiceProcess(tmp_path) as process:
        process.start(**SETTINGS)
        until(lambda: is_at_rest(process), what="all the seeded mail", deadline_s=READY_DEADLINE_S, tell=process.log)
        yield process


def is_at_rest(service: ServiceProcess) -> bool:
    """All the seeded mail has arrived, and what follows from it is done."""
    accounts = service.query("mail.accounts")
    arrived = bool(accounts) and all(account["state"] == "caught-up" for account in accounts)
    return arrived and nothing_follows(service)


def nothing_follows(service: ServiceProcess, cookie: str | None = None) -> bool:
    """What follows from mail, and from a sign-in, is done: people have their pages, and pages their files."""
    metrics = service.request("GET", "/metrics", headers={} if cookie is None else {"cookie": cookie}).body.decode()
    behind = re.findall(r"^svc_consumer_behind_events\{.*\} (\d+)$", metrics, re.MULTILINE)
    return set(behind) == {"0"} and service.rows("select 1 from okf_queue") == []


@pytest.fixture
def attack(service: ServiceProcess) -> Attack:
    """Every row by its plain call, and with real ids what would do or show something."""
    reply = service.request("POST", "/files", IMAGE, {"content-type": "image/png", "x-svc-filename": "a.png"})
    file = reply.json()
    (thread,) = service.query("mail.threads", section="inbox", limit=1)["threads"]
    for _ in range(
        2
    ):  # its cleaned HTML is kept once it was read, and whom 16 more of its messages come from each time
        service.query("mail.thread", id=thread["id"])
    effective: list[tuple[str, dict[str, object]]] = [
        ("/auth/dev-login", {"email": "eve@evil.example"}),
        ("/trpc/pages.save", {"path": "hostile", "body": "I was here."}),
        ("/trpc/mail.archive", {"threadIds": [thread["id"]]}),
        ("/trpc/mail.markUnread", {"threadIds": [thread["id"]]}),
        ("/trpc/files.delete", {"id": file["id"]}),
    ]
    rows = [(target_of(entry), entry) for _, entry in entries()]
    shown = [
        "/static/ui/base.css",
        "/static/app.js",
        f"/files/{file['id']}/content",
        f"/blobs/{file['sha256']}",
        f"/trpc/mail.thread?input={quote(json.dumps({'id': thread['id']}))}",
        *(f"{path}?input={quote(json.dumps(wanted))}" for path, wanted in effective if path.startswith("/trpc/")),
    ]
    return Attack(
        reads=[target for target, entry in rows if entry.method == "GET"],
        shown=shown,
        writes=[(entry.target, entry.wanted) for _, entry in rows if entry.method == "POST"],
        effective=effective,
        opens=[OUR_FACE, "/auth/me", "/auth/idp/start", "/oauth/mail/start", *shown],
    )


@contextmanager
def window(browser: Browser, service: ServiceProcess, cookie: str | None) -> Iterator[BrowserContext]:
    context = browser.new_context(service_workers="block")
    if cookie is not None:
        name, _, value = cookie.partition("=")
        signed_in: Any = {"name": name, "value": value, "url": service.base, "httpOnly": True, "sameSite": "Lax"}
        context.add_cookies([signed_in])
    yield context
    context.close()


def hostile_frame(context: BrowserContext, vantage: str, service: ServiceProcess) -> Frame:
    """Where the script runs. The page itself is handed in: no server of the attacker's is needed to have its origin."""
    port = service.port if vantage == "a rebound name" else free_port()
    name = {"another port": "127.0.0.1", "a rebound name": REBOUND}.get(vantage, HOSTILE)
    url = f"http://{name}:{port}/prize"
    body = SANDBOXED if vantage == "a sandboxed frame" else PAGE

    def hand_in(route: Route) -> None:
        route.fulfill(status=200, content_type="text/html", body=body)

    page = context.new_page()
    page.route(url, hand_in)
    page.goto(url)
    return page.frames[-1]


def sign_in(service: ServiceProcess) -> str:
    body = json.dumps({"email": "mia@example.org"}).encode()
    reply = service.request("POST", "/auth/dev-login", body, {"content-type": "application/json"})
    assert reply.status == 200
    return (reply.header("set-cookie") or "").partition(";")[0]


def dump(service: ServiceProcess) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, but for what changes by itself: some columns, and where the consumers stand."""
    found = {}
    named = "select name from sqlite_schema where type = 'table' and name != 'consumers' order by name"
    with service.reading() as database:
        for (table,) in database.execute(named).fetchall():
            columns = [name for (name,) in database.execute("select name from pragma_table_info(?)", (table,))]
            steady = [f'"{name}"' for name in columns if not any(part in name for part in MOVES_BY_ITSELF)]
            found[table] = database.execute(f'select {", ".join(steady)} from "{table}"').fetchall()
    return found


def test_it_does_nothing_and_reads_nothing(
    browser: Browser, service: ServiceProcess, attack: Attack, chance: random.Random
) -> None:
    """Neither by the browser of somebody before an unclaimed instance, nor by that of somebody who is signed in."""
    is_hit_in_vain(browser, service, attack, chance, cookie=None)
    is_hit_in_vain(browser, service, attack, chance, cookie=sign_in(service))
    statuses = [line["status"] for line in service.events("http.request")]
    refused = len(attack.effective) * HOSTILE_SHOWN_WAYS  # from each place
    assert statuses.count(403) > 4 * refused
    assert statuses.count(421) > (len(attack.reads) + len(attack.writes)) // HOSTILE_SHARES


def is_hit_in_vain(
    browser: Browser, service: ServiceProcess, attack: Attack, chance: random.Random, *, cookie: str | None
) -> None:
    until(lambda: nothing_follows(service, cookie), what="the files of all pages", deadline_s=READY_DEADLINE_S)
    before = dump(service)
    attack = attack.shuffled(chance)
    for at, vantage in enumerate(VANTAGES):
        with window(browser, service, cookie) as context:
            frame = hostile_frame(context, vantage, service)
            rebound = vantage == "a rebound name"
            target = f"http://{REBOUND}:{service.port}" if rebound else service.base
            read = frame.evaluate(SCRIPT, attack.on(target, chance, slice(at % HOSTILE_SHARES, None, HOSTILE_SHARES)))
        allowed = {path.removeprefix("GET ") for path in PROBES} if rebound else set()
        assert [one for one in read if one["url"] not in allowed and not is_refusal(one, rebound)] == [], vantage
        assert dump(service) == before, vantage


def is_refusal(one: dict[str, Any], rebound: bool) -> bool:
    """Under the rebound name the page reads what it is told there: that this server does not answer to that name."""
    return rebound and (one["status"] == 421 or "This server does not answer to that name." in one["text"])


def test_the_same_script_on_our_own_page_reads_and_does_what_it_likes(
    browser: Browser, service: ServiceProcess, attack: Attack, chance: random.Random
) -> None:
    """Else its silence elsewhere would prove nothing."""
    before = dump(service)
    with window(browser, service, None) as context:
        page = context.new_page()
        page.goto(service.base + OUR_FACE)
        read = page.evaluate(SCRIPT, attack.on(service.base, chance, slice(0, None, HOSTILE_SHARES), by_all=True))
    ways = {"no-cors", "cors", "token", "img", "script", "link", "popup", "WebSocket", "POST json"}
    assert ways <= {one["how"] for one in read}
    after = dump(service)
    assert {table for table in after if after[table] != before[table]} >= {"users", "pages", "files"}
