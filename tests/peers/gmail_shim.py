"""The Google emulator (npm ``emulate``) and what it lacks, as one process on one port.

``python gmail_shim.py NODE EMULATE SEED`` binds a free port, starts the emulator behind it, prints ``{"port": …}`` once
both answer, and serves until its standard input ends; so neither outlives whoever started them. It adds ``getProfile``
and padding to ``raw``; makes each change of a draft another message, as Google does; answers 401 to every access token
that the token endpoint did not give out here, or that was expired or revoked since; and does as told at ``/_shim/…``:
see ``_Shim.command``. Only for tests, only on loopback.
"""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlencode

HOST: Final = "127.0.0.1"
BOOT_DEADLINE_S: Final = 180.0
LIFETIME_S: Final = 1_800.0
UPSTREAM_DEADLINE_S: Final = 120.0
SEED_TOKEN: Final = "seed-"  # such tokens are the test's own hands in a mailbox
HOP_BY_HOP: Final = frozenset({"connection", "content-length", "host", "keep-alive", "transfer-encoding"})
_PROFILE: Final = re.compile(r"/gmail/v1/users/([^/]+)/profile(\?.*)?")

_DRAFTS: Final = re.compile(r"/gmail/v1/users/[^/]+/drafts(\?.*)?$")
_DRAFT: Final = re.compile(r"(/gmail/v1/users/[^/]+/drafts)/([^/?]+)(\?.*)?")

Reply = tuple[int, dict[str, str], bytes]


@dataclass
class _Fault:
    """What happens to the next ``times`` requests whose ``METHOD path?query`` matches."""

    match: str
    times: int = 1
    status: int = 0  # answered instead; 0: the request goes through
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut: str = ""  # "before" or "after" the request reached Google
    truncate: int = -1  # bytes of the body that are sent before the connection is cut


@dataclass
class _Shim:
    upstream_port: int
    faults: list[_Fault] = field(default_factory=list)
    log: list[list[str]] = field(default_factory=list)
    access_tokens: set[str] = field(default_factory=set)
    refresh_tokens: set[str] = field(default_factory=set)
    draft_ids: dict[str, str] = field(default_factory=dict)  # of the emulator's drafts: as they were first called
    _local: threading.local = field(default_factory=threading.local)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def command(self, name: str, body: bytes) -> object:
        """``fault`` (a ``_Fault``), ``heal``, ``log``, ``expire`` (access tokens), ``revoke`` (refresh tokens too)."""
        with self._lock:
            if name == "fault":
                self.faults.append(_Fault(**json.loads(body)))
            elif name == "heal":
                self.faults.clear()
            elif name in {"expire", "revoke"}:
                self.access_tokens.clear()
            refresh_tokens = list(self.refresh_tokens) if name == "revoke" else []
        for token in refresh_tokens:
            form = urlencode({"token": token}).encode()
            self.upstream("POST", "/oauth2/revoke", form, {"content-type": "application/x-www-form-urlencoded"})
        return self.log if name == "log" else {}

    def fault_for(self, method: str, target: str) -> _Fault | None:
        with self._lock:
            self.log.append([method, target])
            for fault in self.faults:
                if fault.times and re.search(fault.match, f"{method} {target}"):
                    fault.times -= 1
                    return fault
        return None

    def answer(self, method: str, target: str, body: bytes | None, headers: dict[str, str]) -> Reply:
        token = headers.get("authorization", "").partition(" ")[2]
        if token and token not in self.access_tokens and not token.startswith(SEED_TOKEN):
            return google_error(401, "authError", "Request had invalid authentication credentials.")
        if target.startswith("/batch"):
            return self.batch(body or b"", headers)
        if method == "GET" and (found := _PROFILE.fullmatch(target)):
            return self.profile(found[1], headers)
        if found := _DRAFT.fullmatch(target):
            return self.draft(method, found, body, headers)
        status, fields, data = self.upstream(method, target, body, headers)
        if status == 200 and method == "GET" and _DRAFTS.match(target):
            page = json.loads(data)
            for one in page["drafts"]:
                one["id"] = self.draft_ids.get(one["id"], one["id"])
            return json_reply(page)
        if status == 200 and target.startswith("/oauth2/token"):
            self.remember(json.loads(data))
        if status == 200 and "format=raw" in target:
            message = json.loads(data)
            message["raw"] += "=" * (-len(message["raw"]) % 4)
            data = json.dumps(message).encode()
        return status, fields, data

    def draft(self, method: str, found: re.Match[str], body: bytes | None, headers: dict[str, str]) -> Reply:
        """The emulator changes a draft's message in place, and no history tells of it. At Google a draft keeps its id
        and holds another message then."""
        path, name, query = found[1], found[2], found[3] or ""
        theirs = next((one for one, called in self.draft_ids.items() if called == name), name)
        if method != "PUT":
            return self.upstream(method, f"{path}/{theirs}{query}", body, headers)
        gone = self.upstream("DELETE", f"{path}/{theirs}", None, headers)
        if gone[0] >= 400:
            return gone
        status, fields, data = self.upstream("POST", f"{path}{query}", body, headers)
        if status == 200:
            made = json.loads(data)
            with self._lock:
                self.draft_ids.pop(theirs, None)
                self.draft_ids[made["id"]] = name
            return json_reply(made | {"id": name})
        return status, fields, data

    def batch(self, body: bytes, headers: dict[str, str]) -> Reply:
        """Google's batch endpoint: each part is a request, and meets the faults that are set for it."""
        boundary = headers["content-type"].partition("boundary=")[2].strip('"').encode()
        parts = []
        for section in body.split(b"--" + boundary)[1:-1]:
            head, request = re.split(rb"\r?\n\r?\n", section.lstrip(), maxsplit=1)
            method, target = request.split(b" ")[:2]
            place = re.search(rb"(?i)content-id: <([^>]+)>", head)
            assert place is not None
            fault = self.fault_for(method.decode(), target.decode())
            if fault is not None and fault.status:
                status, fields, data = json_reply(fault.body or {"error": {"code": fault.status}}, status=fault.status)
                fields |= fault.headers
            else:
                status, fields, data = self.answer(method.decode(), target.decode(), None, headers)
            lines = [f"HTTP/1.1 {status} -", *(f"{name}: {value}" for name, value in fields.items())]
            parts.append(
                b"--batch_x\r\nContent-Type: application/http\r\nContent-ID: <response-%s>\r\n\r\n" % place[1]
                + "\r\n".join(lines).encode()
                + b"\r\n\r\n"
                + data
                + b"\r\n"
            )
        return 200, {"content-type": "multipart/mixed; boundary=batch_x"}, b"".join((*parts, b"--batch_x--\r\n"))

    def remember(self, granted: dict[str, str]) -> None:
        with self._lock:
            self.access_tokens.add(granted["access_token"])
            if "refresh_token" in granted:
                self.refresh_tokens.add(granted["refresh_token"])

    def profile(self, user: str, headers: dict[str, str]) -> Reply:
        """``users.getProfile``, put together from what the emulator does know."""
        base = f"/gmail/v1/users/{user}"
        with_body = headers | {"content-type": "application/json"}
        status, fields, data = self.upstream("POST", f"{base}/watch", b'{"topicName": "any"}', with_body)
        if status != 200:
            return status, fields, data
        self.upstream("POST", f"{base}/stop", None, headers)
        counted = self.upstream("GET", f"{base}/messages?maxResults=1&includeSpamTrash=true", None, headers)[2]
        senders = self.upstream("GET", f"{base}/settings/sendAs", None, headers)[2]
        return json_reply(
            {
                "emailAddress": json.loads(senders)["sendAs"][0]["sendAsEmail"],
                "messagesTotal": json.loads(counted)["resultSizeEstimate"],
                "historyId": json.loads(data)["historyId"],
            }
        )

    def upstream(self, method: str, target: str, body: bytes | None, headers: dict[str, str]) -> Reply:
        """One request to the emulator, on this thread's own connection to it."""
        fields = {name: value for name, value in headers.items() if name not in HOP_BY_HOP}
        for attempt in (1, 2):  # an idle connection may have been closed meanwhile
            connection = getattr(self._local, "connection", None)
            if connection is None:
                connection = http.client.HTTPConnection(HOST, self.upstream_port, timeout=UPSTREAM_DEADLINE_S)
                self._local.connection = connection
            try:
                connection.request(method, target, body, fields)
                response = connection.getresponse()
                kept = {name.lower(): value for name, value in response.getheaders() if name.lower() not in HOP_BY_HOP}
                return response.status, kept, response.read()
            except (http.client.HTTPException, OSError):
                connection.close()
                self._local.connection = None
                if attempt == 2:
                    raise
        raise AssertionError


def json_reply(record: object, *, status: int = 200) -> Reply:
    return status, {"content-type": "application/json; charset=UTF-8"}, json.dumps(record).encode()


def google_error(status: int, reason: str, message: str) -> Reply:
    errors = [{"message": message, "domain": "global", "reason": reason}]
    return json_reply({"error": {"code": status, "message": message, "errors": errors}}, status=status)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    shim: _Shim

    def log_message(self, format: str, *args: object) -> None:
        """Silence: ``/_shim/log`` has it all."""

    def serve(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length) if length else None
        if body is not None and len(body) < length:
            self.cut()  # whoever asked was killed meanwhile: Google takes no half of a request for a whole one
            return
        if self.path.startswith("/_shim/"):
            self.send(json_reply(self.shim.command(self.path.removeprefix("/_shim/"), body or b"{}")))
            return
        fault = self.shim.fault_for(self.command, self.path) or _Fault(match="")
        time.sleep(fault.delay_s)
        if fault.cut == "before":
            self.cut()
        elif fault.status:
            status, headers, data = json_reply(fault.body or {"error": {"code": fault.status}}, status=fault.status)
            self.send((status, headers | fault.headers, data))
        else:
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = self.shim.answer(self.command, self.path, body, headers)
            if fault.cut == "after":
                self.cut()
            else:
                self.send(reply, truncate=fault.truncate)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve  # noqa: N815  as the base class calls them

    def send(self, reply: Reply, *, truncate: int = -1) -> None:
        status, headers, data = reply
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data if truncate < 0 else data[:truncate])
        self.wfile.flush()
        if truncate >= 0:
            self.cut()

    def cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])


def start_emulator(node: str, emulate: str, seed: str, *, base_url: str) -> tuple[subprocess.Popen[bytes], int]:
    """The emulator and its port, as soon as it answers. Somebody else may take the port first: then another one."""
    for _ in range(3):
        port = free_port()
        arguments = ["start", "--service", "google", "--port", str(port), "--base-url", base_url, "--seed", seed]
        process = subprocess.Popen([node, emulate, *arguments], stdin=subprocess.DEVNULL, stdout=sys.stderr)
        give_up = time.monotonic() + BOOT_DEADLINE_S
        while process.poll() is None and time.monotonic() < give_up:
            try:
                socket.create_connection((HOST, port), timeout=1).close()
            except OSError:
                time.sleep(0.05)  # another program boots: there is nothing to wait on but its port
            else:
                return process, port
        process.kill()
        process.wait()
    raise SystemExit("the emulator does not start")


def end_with_input(emulator: subprocess.Popen[bytes]) -> None:
    sys.stdin.read()
    emulator.terminate()


def main() -> None:
    node, emulate, seed = sys.argv[1:]
    server = ThreadingHTTPServer((HOST, 0), _Handler)
    server.daemon_threads = True
    base_url = f"http://{HOST}:{server.server_port}"
    emulator, upstream_port = start_emulator(node, emulate, seed, base_url=base_url)
    _Handler.shim = _Shim(upstream_port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ender = threading.Timer(LIFETIME_S, emulator.terminate)
    ender.daemon = True
    ender.start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        print(json.dumps({"port": server.server_port}), flush=True)
        threading.Thread(target=end_with_input, args=(emulator,), daemon=True).start()
        emulator.wait()
    finally:
        emulator.kill()
        emulator.wait()


if __name__ == "__main__":
    main()
