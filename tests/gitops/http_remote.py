"""git's smart HTTP on loopback: ``git http-backend`` behind Basic auth, and the ways in which a remote misbehaves."""

from __future__ import annotations

import base64
import gzip
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final, Literal

from tests.sizes import HANGS_S

Way = Literal["serve", "redirect", "refuse", "garbage", "hang", "cut", "hang-midway", "unavailable", "flood"]
USER: Final = "x-access-token"


@dataclass(kw_only=True)
class HttpRemote:
    """``way`` may be changed while it serves. ``seen`` is each request's line, ``credentials`` what came along."""

    root: Path
    token: str | None
    port: int = 0
    way: Way = "serve"
    only: str = ""
    """The misbehaviour is shown only to requests whose target has this in it."""
    elsewhere: str = ""
    seen: list[str] = field(default_factory=list)
    credentials: list[str] = field(default_factory=list)
    reached: threading.Event = field(default_factory=threading.Event)
    """Set once a request waits in a way that hangs."""
    let_go: threading.Event = field(default_factory=threading.Event)

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}"


@contextmanager
def http_remote(root: Path, *, token: str | None = None) -> Iterator[HttpRemote]:
    """Serves the bare repositories in ``root``; ``token`` is what it wants, if anything."""
    remote = HttpRemote(root=root, token=token)

    class Handler(_Handler):
        pass

    Handler.remote = remote
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = False
        remote.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield remote
        finally:
            remote.let_go.set()
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    remote: HttpRemote

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _answer(self) -> None:
        remote = self.remote
        remote.seen.append(f"{self.command} {self.path}")
        authorization = self.headers.get("authorization") or ""
        if authorization:
            remote.credentials.append(authorization)
        way: Way = remote.way if remote.only in self.path else "serve"
        if way == "redirect":
            self._plain(302, location=remote.elsewhere + self.path)
        elif way == "refuse":
            self._plain(403)
        elif way == "unavailable":
            self._plain(502)
        elif way == "hang":
            remote.reached.set()
            remote.let_go.wait(HANGS_S)
        elif way == "garbage":
            self._plain(200, body=b"<html>Sign in</html>" * 50, kind="text/html")
        elif not self._is_let_in(authorization):
            self._plain(401, authenticate='Basic realm="git"')
        else:
            self._serve(way)

    def _is_let_in(self, authorization: str) -> bool:
        wanted = self.remote.token
        if wanted is None:
            return True
        return authorization == "Basic " + base64.b64encode(f"{USER}:{wanted}".encode()).decode()

    def _plain(self, status: int, *, body: bytes = b"", kind: str = "text/plain", **fields: str) -> None:
        names = {"location": "location", "authenticate": "www-authenticate"}
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(names[name], value)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _serve(self, way: Way) -> None:
        path, _, query = self.path.partition("?")
        body = self._body()
        environ = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.remote.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_USER": USER,
            "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
        }
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environ, check=False)
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line]
        status = next((value for name, value in fields if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.end_headers()
        if way in {"cut", "hang-midway"}:
            self.wfile.write(rest[: len(rest) // 2])
            self.wfile.flush()
            if way == "hang-midway":
                self.remote.reached.set()
                self.remote.let_go.wait(HANGS_S)
        elif way == "flood":
            self._flood()
        else:
            self.wfile.write(rest)

    def _flood(self) -> None:
        try:
            while not self.remote.let_go.is_set():
                self.wfile.write(b"0032" + b"0" * 45 + b"\n")
        except OSError:
            pass  # whoever asked has had enough

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while length := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(length)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
        return gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body
