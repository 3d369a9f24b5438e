"""A stand-in for the service, for the web app's tests: canned answers of the RPC, a small ``/ws``, the real policy.

It serves the app as an installed service does, its modules joined, and keeps threads in memory, up to 100,000 of them.
Tests hold the object and change its answers: they add mail, make calls fail, cut the sockets. Runs in threads,
on a port of its own.

With ``LATE_ANSWERS_MS`` (tests/sizes.py) each request is heard late, and each answer and each live update comes late,
by chance: they overtake each other in every way that a network lets them. Static files come at once.
"""

from __future__ import annotations

import atexit
import base64
import bisect
import hashlib
import json
import random
import re
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import parse_qs, urlsplit

from svc.protocol import SEQ_HEADER
from svc.protocol.security import shell_csp
from svc.protocol.static import own_policy, shell_page
from tests.chance import seeded
from tests.sizes import HANGS_S, LATE_ANSWERS_MS
from tests.support.joined_app import join_app
from tests.support.process import until
from tests.web import fake_mail
from tests.web.fake_blocking import BlockingPart
from tests.web.fake_compose import ComposePart
from tests.web.fake_everything import EverythingPart
from tests.web.fake_images import ImagePart
from tests.web.fake_labels import LabelPart
from tests.web.fake_letters import LetterPart
from tests.web.fake_notifications import NotificationsPart
from tests.web.fake_runs import RunPart
from tests.web.fake_settings import SettingsPart
from tests.web.fake_socket import Socket
from tests.web.fake_truth import lies_in_answer, lies_in_news, lies_in_question
from tests.web.refusal import Refusal as Refusal

STATIC = Path(__file__).parents[2] / "static"
BASE = "/static/test"
MODULES = f"{BASE}/joined"
"""Where the modules are that tests import themselves (tests/support/joined_app.py)."""
BLANK = "/blank"
"""A page of the same origin with nothing in it."""
TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@cache
def app_folder() -> Path:
    """Made once a process, and gone with it."""
    folder = Path(mkdtemp(prefix="svc-app-"))
    atexit.register(shutil.rmtree, folder)
    return join_app(folder / "static").resolve()


@dataclass
class FakeAnswers(
    BlockingPart,
    ComposePart,
    EverythingPart,
    ImagePart,
    LabelPart,
    LetterPart,
    NotificationsPart,
    RunPart,
    SettingsPart,
):
    """Accounts and threads as the RPC shows them, and what goes wrong next."""

    accounts: list[dict[str, Any]] = field(default_factory=fake_mail.accounts)
    threads: list[dict[str, Any]] = field(default_factory=fake_mail.threads)
    details: dict[str, dict[str, Any]] = field(default_factory=fake_mail.details)
    joined: dict[str, str] = field(default_factory=dict)
    me: dict[str, Any] = field(default_factory=fake_mail.me)
    off: tuple[str, ...] = ()
    """The parts that the server has switched off."""
    has_socket: bool = True
    calls: list[tuple[str, Any]] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    """What was asked below /leak: addresses that only a mail names."""
    failing: dict[str, Refusal] = field(default_factory=dict)
    lies: list[str] = field(default_factory=list)
    """Where an answer is not what the product would say: a test that finds one here fails."""
    seq: int = 100
    events: list[dict[str, Any]] = field(default_factory=list)
    sockets: list[Any] = field(default_factory=list)
    orders: dict[tuple[str, str | None], tuple[list[str], list[dict[str, Any]]]] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def thread(self, thread_id: str) -> dict[str, Any]:
        for thread in self.threads:
            if thread["id"] == thread_id:
                return thread
        raise Refusal("NOT_FOUND", 404, "There is no such thread.")

    def change(self, thread_id: str, **patch: Any) -> None:
        """A thread changes at the server: its row, its account's badge, and the events that say so."""
        self.change_all({thread_id: patch})

    def change_all(self, patches: dict[str, dict[str, Any]]) -> None:
        """Many at once: each badge is told of only after the last of its threads."""
        with self.lock:
            accounts = {}
            for thread_id, patch in patches.items():
                thread = self.thread(thread_id)
                thread.update(patch)
                self.emit("mail", "thread.changed", thread_id, {"accountId": thread["accountId"], "thread": thread})
                accounts[thread["accountId"]] = True
            for account_id in accounts:
                self.recount(account_id)

    def add(self, **fields: Any) -> str:
        with self.lock:
            thread = fake_mail.thread(**fields)
            self.threads.append(thread)
            self.emit("mail", "thread.changed", thread["id"], {"accountId": thread["accountId"], "thread": thread})
            self.recount(thread["accountId"])
            return str(thread["id"])

    def remove(self, thread_id: str) -> None:
        with self.lock:
            thread = self.thread(thread_id)
            self.threads.remove(thread)
            self.emit("mail", "thread.removed", thread_id, {"accountId": thread["accountId"]})

    def join(self, thread_id: str, *, into: str) -> None:
        """Two threads become one: the id of the first leads to the second."""
        with self.lock:
            self.joined[thread_id] = into
            self.remove(thread_id)

    def set_account(self, account_id: str, **patch: Any) -> None:
        with self.lock:
            account = next(one for one in self.accounts if one["id"] == account_id)
            account.update(patch)
            self.emit("accounts", "account.changed", account_id, {"account": account})

    def recount(self, account_id: str) -> None:
        mine = [t for t in self.threads if t["unread"] and t["inInbox"] and t["accountId"] == account_id]
        self.set_account(account_id, unread=len(mine), unreadTwins=sum(not t["leads"] for t in mine))

    def emit(self, topic: str, kind: str, record_id: str, payload: Any) -> None:
        self.seq += 1
        self.orders.clear()
        self.lies += lies_in_news(kind, payload)
        frame = {"type": "event", "seq": self.seq, "topic": topic, "kind": kind, "id": record_id, "payload": payload}
        self.events.append(json.loads(json.dumps(frame)))
        for one in list(self.sockets):
            one.send(frame)

    def forget_events(self) -> None:
        """Live updates begin anew, and say so: the page has missed what is no longer kept."""
        for one in list(self.sockets):
            one.raw({"type": "reset", "seq": self.seq})

    def cut_sockets(self) -> None:
        for one in list(self.sockets):
            one.cut()

    def call(self, name: str, given: dict[str, Any]) -> Any:
        with self.lock:
            self.calls.append((name, given))
            if name in self.failing:
                raise self.failing[name]
            handler = getattr(self, "rpc_" + name.replace(".", "_").lower(), None)
            if handler is None:
                raise Refusal("NOT_FOUND", 404, f'No procedure found on path "{name}"')
            answer = json.loads(json.dumps(handler(given)))
            self.lies += [*lies_in_question(name, given), *lies_in_answer(name, answer)]
            return answer

    def rpc_plugins_offers(self, given: dict[str, Any]) -> dict[str, Any]:
        """No plugin is there."""
        return {"palette": [], "themes": [], "pages": []}

    def auth(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """A status and an answer to a POST that begins or ends a session."""
        if path != "/auth/dev-login":
            return 404, {"code": "not_found"}
        self.me = fake_mail.me(user={"id": "u1", "email": body["email"], "name": "", "role": "admin"})
        return 200, {"user": self.me["user"]}

    def rpc_mail_accounts(self, given: dict[str, Any]) -> Any:
        return self.accounts

    def rpc_mail_threads(self, given: dict[str, Any]) -> Any:
        keys, rows = self.ordered(given.get("section") or given["labelName"], given.get("accountId"))
        if only := given.get("only"):
            rows = [row for row in rows if row[_PASSES[only]]]
            keys = [_key(row) for row in reversed(rows)]
        cursor, limit = given.get("cursor"), given.get("limit", 50)
        begin = len(keys) - bisect.bisect_left(keys, cursor) if cursor else 0
        page = rows[begin : begin + limit]
        more = _key(page[-1]) if begin + limit < len(rows) else None
        return {"threads": page, "nextCursor": more}

    def rpc_mail_thread(self, given: dict[str, Any]) -> Any:
        thread = self.thread(self.joined.get(given["id"], given["id"]))
        return {"thread": thread, **self.details.get(thread["id"], fake_mail.detail(thread))}

    def rpc_mail_open(self, given: dict[str, Any]) -> Any:
        self.change(given["threadId"], unread=False)
        return {}

    def rpc_mail_markunread(self, given: dict[str, Any]) -> Any:
        self.step("markUnread", given["threadIds"], lambda row: {"unread": True})
        return {}

    def rpc_mail_markunreadfrom(self, given: dict[str, Any]) -> Any:
        return {}

    def rpc_mail_archive(self, given: dict[str, Any]) -> Any:
        self.step("archive", given["threadIds"], lambda row: {"inInbox": False})
        return {}

    def rpc_mail_mute(self, given: dict[str, Any]) -> Any:
        self.step("mute", given["threadIds"], lambda row: {"inInbox": False, "muted": True})
        return {}

    def rpc_mail_unmute(self, given: dict[str, Any]) -> Any:
        self.step("unmute", given["threadIds"], lambda row: {"muted": False})
        return {}

    def rpc_mail_unarchive(self, given: dict[str, Any]) -> Any:
        self.step("unarchive", given["threadIds"], lambda row: {"inInbox": True, "snoozedUntil": None})
        return {}

    def ordered(self, section: str, account: str | None) -> tuple[list[str], list[dict[str, Any]]]:
        """The keys of a section or label upwards, for searching, and its rows newest first; kept until something
        changes."""
        if (section, account) not in self.orders:
            rows = [t for t in self.threads if _is_in(t, section) and _is_shown(t, account)]
            key = _sent_key if section == "Sent" else _key
            rows.sort(key=key, reverse=True)
            self.orders[section, account] = ([key(row) for row in reversed(rows)], rows)
        return self.orders[section, account]


_PASSES = {"unread": "unread", "to-me": "toMe", "attachment": "hasAttachments", "starred": "starred"}


def _is_in(thread: dict[str, Any], section: str) -> bool:
    if section == "all":
        return not thread["hidden"]
    if section in {"inbox", "skipped"}:
        return thread["inInbox"] == (section == "inbox") and not thread["hidden"]
    return any(label["name"].lower() == section.lower() for label in thread["labels"])


def _is_shown(thread: dict[str, Any], account: str | None) -> bool:
    return bool(thread["leads"]) if account is None else thread["accountId"] == account


def _sent_key(thread: dict[str, Any]) -> str:
    return f"{thread['sent']['at']} {thread['id']}"


def _key(thread: dict[str, Any]) -> str:
    return f"{thread['lastMessageAt']} {thread['id']}"


@dataclass
class Served:
    """A running server, and the answers that it gives now. Browsers keep what they have fetched of one origin."""

    origin: str = ""
    answers: FakeAnswers = field(default_factory=FakeAnswers)
    connections: set[socket.socket] = field(default_factory=set)
    server: Server | None = None
    chance: random.Random | None = None

    def show(self, answers: FakeAnswers) -> None:
        """The answers of the next test. Each test has a seed of its own, so a failing test can tell it."""
        self.answers = answers
        self.chance = seeded() if LATE_ANSWERS_MS else None

    def be_late(self) -> None:
        if self.chance:
            time.sleep(self.chance.uniform(0, LATE_ANSWERS_MS) / 1_000)

    def settle(self) -> None:
        """The page is closed: end what it left open (browsers open connections ahead of need), so that no thread is."""
        until(
            lambda: self.server is None or not self.server.under_way,
            what="all connections to end",
            deadline_s=HANGS_S,
            meanwhile=self.hang_up,
            tell=lambda: f"{self.server and self.server.under_way} are under way",
        )

    def hang_up(self) -> None:
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def serving(answers: FakeAnswers | None = None) -> Iterator[Served]:
    """Serve ``answers``, or what is shown later."""
    app_folder()
    served = Served()
    served.show(answers or FakeAnswers())
    server = Server(("127.0.0.1", 0), type("Bound", (Handler,), {"served": served}))
    served.server = server
    served.origin = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        served.hang_up()
        server.server_close()  # joins the threads of the connections


class Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 64
    under_way = 0
    """Its connections, those whose thread is about to start too: one may come while its neighbours are ended."""
    _counting = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._count(1)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._counting:
            self.under_way += change

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that the browser dropped is no news."""


class Handler(BaseHTTPRequestHandler):
    served: Served
    protocol_version = "HTTP/1.1"

    answers: FakeAnswers
    """Of the moment it connected: what a page says while it is closed belongs to its own test."""

    def setup(self) -> None:
        self.answers = self.served.answers
        super().setup()
        self.served.connections.add(self.connection)

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()
        self.served.connections.discard(self.connection)

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/ws" and self.answers.has_socket:
            Socket(self).serve()
        elif url.path.startswith("/trpc/"):
            self.served.be_late()
            query = parse_qs(url.query)
            self.rpc(url.path[6:], query, json.loads(query.get("input", ["null"])[0]))
        elif url.path.startswith(BASE):
            self.static(url.path.removeprefix(f"{BASE}/"))
        elif url.path == "/auth/me":
            self.answer_late(200, self.answers.me)
        elif url.path == BLANK:
            self.answer(200, "text/html; charset=utf-8", b"<!doctype html><link rel=icon href='data:,'>")
        elif url.path == "/mail/proxy-image":
            self.answer(*self.answers.proxied(parse_qs(url.query)["url"][0]))
        elif url.path in self.answers.files:
            self.answer(200, *self.answers.files[url.path])
        elif url.path.startswith("/files/") and self.answers.picture(url.path) is not None:
            self.answer(200, "image/png", self.answers.picture(url.path) or b"")
        elif url.path.startswith("/files/"):
            self.answer(200, "application/octet-stream", b"content", [("content-disposition", "attachment")])
        elif url.path.startswith("/leak"):
            self.answers.leaks.append(url.path)
            self.answer_json(404, {"code": "not_found"})
        elif url.path == "/oauth/mail/start":
            self.answer_json(501, {"title": "Not Implemented", "detail": "No mail provider is configured."})
        elif url.path in {"/", "/login"} or url.path.startswith(("/p/", "/plugins/", "/settings")):
            self.shell()
        else:
            self.answer_json(404, {"code": "not_found"})

    def do_POST(self) -> None:
        url = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.served.be_late()
        if url.path == "/files":
            name, mime = (self.headers.get(field, "") for field in ("x-svc-filename", "content-type"))
            stored = self.answers.upload(name, mime, raw)
            if self.answers.loses_uploads:  # after its head: before it, a browser sends the request again by itself
                self.wfile.write(b"HTTP/1.1 201 Created\r\ncontent-length: 9\r\n\r\n")
                self.close_connection = True
            else:
                self.answer_late(*stored)
            return
        body = json.loads(raw or b"null")
        if url.path.startswith("/auth/"):
            self.answer_late(*self.answers.auth(url.path, body))
            return
        self.rpc(url.path[6:], parse_qs(url.query), body)

    def rpc(self, names: str, query: dict[str, list[str]], given: Any) -> None:
        batched = "batch" in query
        seq = self.answers.seq
        answers = []
        for index, name in enumerate(names.split(",")):
            mine = (given or {}).get(str(index)) if batched else given
            answers.append(self.one_call(name, mine or {}))
        statuses = {status for status, _ in answers}
        status = statuses.pop() if len(statuses) == 1 else 207
        bodies = [body for _, body in answers]
        self.answer_late(status, bodies if batched else bodies[0], [(SEQ_HEADER, str(seq))])

    def one_call(self, name: str, given: dict[str, Any]) -> tuple[int, Any]:
        try:
            if self.answers.me["mode"] == "claimed" and self.answers.me["user"] is None:
                raise Refusal("UNAUTHORIZED", 401, "Log in first.")
            return 200, {"result": {"data": self.answers.call(name, given)}}
        except Refusal as refusal:
            data = {**refusal.data, "code": refusal.code, "httpStatus": refusal.status, "path": name}
            return refusal.status, {"error": {"message": str(refusal), "code": -32000, "data": data}}

    def shell(self) -> None:
        page = shell_page((app_folder() / "index.html").read_text(), (), base=BASE, off=self.answers.off)
        inline = re.findall(r"<script(?: type=\"importmap\")?>(.*?)</script>", page, re.DOTALL)
        hashes = [f"sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}" for one in inline]
        self.answer(200, "text/html; charset=utf-8", page.encode(), [("content-security-policy", shell_csp(hashes))])

    def static(self, name: str) -> None:
        path = (app_folder() / name).resolve()
        if app_folder() not in path.parents or not path.is_file():
            self.answer_json(404, {"code": "not_found"})
            return
        kind = TYPES.get(path.suffix, "text/plain")
        caching = ("cache-control", "max-age=3600, immutable")
        self.answer(200, kind, path.read_bytes(), [caching, *own_policy(name)])

    def answer_json(self, status: int, body: Any, headers: list[tuple[str, str]] | None = None) -> None:
        self.answer(status, "application/json", json.dumps(body).encode(), headers)

    def answer_late(self, status: int, body: Any, headers: list[tuple[str, str]] | None = None) -> None:
        self.served.be_late()
        self.answer_json(status, body, headers)

    def answer(self, status: int, kind: str, body: bytes, headers: list[tuple[str, str]] | None = None) -> None:
        self.send_response(status)
        for name, value in [("content-type", kind), ("content-length", str(len(body))), *(headers or [])]:
            self.send_header(name, value)
        self.send_header("x-content-type-options", "nosniff")
        self.send_header("connection", "close")  # so that no thread outlives the test it served
        self.end_headers()
        with suppress(ConnectionError):
            self.wfile.write(body)
