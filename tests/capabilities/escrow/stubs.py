"""Servers that answer as a test wants: in place of the escrow service, or of a key-management service."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import msgspec
import trio

from svc.clock import WallClock
from svc.log import Log
from svc.principal import Principal
from svc.protocol import (
    Application,
    Drain,
    Idle,
    MachinesGuard,
    Request,
    Response,
    Route,
    Router,
    json_response,
    serve_connection,
)

Answer = Callable[[Request, Any], Response]
BODY_MAX: Final = 100_000
_DIGEST: Final = hashlib.sha256().digest_size


@dataclass
class Stub:
    """``asked``: method, target, headers and body of each request."""

    url: str
    asked: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)


@asynccontextmanager
async def stub(answer: Answer, *, log: Log) -> AsyncIterator[Stub]:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    made = Stub(url=f"http://127.0.0.1:{port}")

    async def handle(context: None, request: Request) -> Response:
        raw = await request.read(BODY_MAX)
        body = msgspec.json.decode(raw) if raw else None
        made.asked.append((request.method, request.target, dict(request.headers.items()), body))
        return answer(request, body)

    async def nobody(request: Request) -> Principal | None:
        return None

    application: Application[None] = Application(
        router=Router(
            Route(method=method, path="/*rest", access="public", handle=handle, summary="Anything.")
            for method in ("GET", "PUT", "POST")
        ),
        guard=MachinesGuard(port=port),
        resolve=nobody,
        context=lambda request, principal: None,
        log=log,
        clock=WallClock(),
    )
    serve = partial(serve_connection, application=application, log=log, peer="127.0.0.1", drain=Drain(), idle=Idle())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(trio.serve_listeners, serve, [listener], handler_nursery=nursery))
        yield made
        nursery.cancel_scope.cancel()


def said(kind: str, *, status: int = 400) -> Response:
    """An error of the key-management service."""
    return json_response({"__type": kind, "message": "…"}, status=status)


def wraps_for_each(request: Request, body: Any) -> Response:
    """A key-management service with any number of keys: what it wraps begins with a digest of key and context."""
    bound = json.dumps([body["KeyId"], body["EncryptionContext"]], sort_keys=True)
    seal = hashlib.sha256(bound.encode()).digest()
    if request.headers.get("x-amz-target") == "TrentService.Encrypt":
        wrapped = seal + base64.b64decode(body["Plaintext"])
        return json_response({"CiphertextBlob": base64.b64encode(wrapped).decode(), "KeyId": body["KeyId"]})
    wrapped = base64.b64decode(body["CiphertextBlob"])
    if wrapped[:_DIGEST] != seal:
        return said("InvalidCiphertextException")
    return json_response({"Plaintext": base64.b64encode(wrapped[_DIGEST:]).decode(), "KeyId": body["KeyId"]})
