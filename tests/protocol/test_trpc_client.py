"""The public ``@trpc/client`` against our server over real sockets: what it understands of every kind of answer."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
import trio

from svc.clock import VirtualClock
from svc.principal import Principal
from svc.protocol.application import Application
from svc.protocol.drain import Drain
from svc.protocol.guard import Guard
from svc.protocol.http1 import serve_connection
from svc.protocol.idle import Idle
from svc.protocol.messages import Request, Response
from svc.protocol.router import Router
from svc.protocol.rows import Method, Route
from tests.peers.needs import NODE, TRPC_CLIENT, need
from tests.recorded_log import RecordedLog, StoppedClock
from tests.sizes import HANGS_S

from .some_procedures import MEMBER, SomeProcedures

SCRIPT = Path(__file__).parent.parent / "peers" / "trpc_client.mjs"
CLIENT_DEADLINE_S = HANGS_S
LINKS = ["httpLink", "httpBatchLink", "httpBatchStreamLink"]


def modules() -> Path:
    need(NODE, TRPC_CLIENT)
    return Path(__file__).parents[2] / "static"


async def run_client(procedures: SomeProcedures, log: RecordedLog) -> dict[str, dict[str, object]]:
    async def resolve(request: Request) -> Principal | None:
        return MEMBER if request.headers.get("x-as") == "member" else None

    async def rpc(principal: Principal | None, request: Request) -> Response:
        return await procedures.layer.respond("context", request, principal)

    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        methods: list[Method] = ["GET", "POST"]
        application: Application[Principal | None] = Application(
            router=Router(
                [Route(method=m, path="/trpc/*procedure", access="public", handle=rpc, summary="") for m in methods]
            ),
            guard=Guard(bind_host="127.0.0.1", port=port),
            resolve=resolve,
            context=lambda request, principal: principal,
            log=log,
            clock=VirtualClock(),
        )
        serve = partial(
            serve_connection, application=application, log=log, peer="127.0.0.1", drain=Drain(), idle=Idle()
        )
        nursery.start_soon(trio.serve_listeners, serve, listeners)
        with trio.fail_after(CLIENT_DEADLINE_S):
            command = ["node", str(SCRIPT), str(modules()), f"http://127.0.0.1:{port}/trpc"]
            done = await trio.run_process(command, capture_stdout=True)
        nursery.cancel_scope.cancel()
    found: dict[str, dict[str, object]] = json.loads(done.stdout)
    return found


@pytest.mark.peer
@pytest.mark.wall_clock
async def test_the_public_client_understands_every_answer_by_every_link() -> None:
    modules()
    log = RecordedLog(StoppedClock())
    found = await run_client(SomeProcedures(log), log)
    assert list(found) == LINKS
    for link in LINKS:
        assert found[link] == expected(), link


def expected() -> dict[str, object]:
    def failed(message: str, number: int, code: str, status: int, path: str, **data: object) -> dict[str, object]:
        return {"message": message, "code": number, "data": {"code": code, "httpStatus": status, "path": path, **data}}

    internal = "Something went wrong here. The log knows it by the request id."
    missing = "Object missing required field `amount`"
    return {
        "queries": [
            {"data": "pong"},
            {"data": {"helloText": "Zoë & co Zoë & co", "odd": None}},
            {"data": ["inbox"]},
            {"data": None},
            failed("Expected `str`, got `int` - at `$.name`", -32600, "BAD_REQUEST", 400, "greet"),
            failed('No procedure found on path "no.such"', -32004, "NOT_FOUND", 404, "no.such"),
            failed("Somebody was faster ?.", -32009, "CONFLICT", 409, "conflict", revision=7),
            failed(internal, -32603, "INTERNAL_SERVER_ERROR", 500, "bug"),
            failed("Only an admin may do this.", -32003, "FORBIDDEN", 403, "theirs"),
        ],
        "alone": {"data": "pong"},
        "mutations": [
            {"data": 2},
            {"data": {}},
            failed(missing, -32600, "BAD_REQUEST", 400, "add"),
        ],
        "nobody": [
            failed("Sign in first.", -32001, "UNAUTHORIZED", 401, "mine"),
            failed("Sign in first.", -32001, "UNAUTHORIZED", 401, "add"),
        ],
    }
