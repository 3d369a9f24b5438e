"""``health.ping`` by Starlette on uvicorn, httptools and uvloop, with checks and headers like those of svc.

``python -m benchmarks.servers.checked_starlette FD TOKEN``. ``TOKEN`` is the value of the one session cookie that it
knows; it is looked up by its digest. There is no table of 300 rows here, no counter and no log.
"""

from __future__ import annotations

import json
import secrets
import socket
import sqlite3
import sys
import time
from hashlib import sha256
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

HOSTS: Final = frozenset({"127.0.0.1", "localhost"})
HEADERS: Final = (
    ("content-security-policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=()"),
    ("cache-control", "no-store"),
)


def application(token: str, origin: str) -> Starlette:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("CREATE TABLE sessions(digest TEXT PRIMARY KEY, expires_at REAL)")
    database.execute("INSERT INTO sessions VALUES (?, ?)", (_digest(token), time.time() + 3_600))

    def refused(request: Request) -> int | None:
        if request.headers.get("host", "").split(":")[0] not in HOSTS:
            return 421
        if request.headers.get("origin", origin) != origin:
            return 403
        digest = _digest(request.cookies.get("svc_session", ""))
        row = database.execute("SELECT expires_at FROM sessions WHERE digest = ?", (digest,)).fetchone()
        return None if row is not None and row[0] > time.time() else 401

    async def ping(request: Request) -> Response:
        status = refused(request)
        if status is not None:
            return Response(status_code=status)
        answer = {"result": {"data": {"version": "0.1.0", "time": "2026-01-01T00:00:00.000Z", "ok": True}}}
        response = Response(json.dumps(answer), media_type="application/json")
        for name, value in HEADERS:
            response.headers[name] = value
        response.headers["x-request-id"] = secrets.token_hex(8)
        return response

    async def root(request: Request) -> Response:
        return Response()

    return Starlette(routes=[Route("/trpc/health.ping", ping), Route("/", root)])


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def main(descriptor: int, token: str) -> None:
    listener = socket.socket(fileno=descriptor)
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = uvicorn.Config(
        application(token, origin), http="httptools", loop="uvloop", access_log=False, log_level="error"
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
