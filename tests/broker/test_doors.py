"""Who may ask the broker: each of its routes, with each reason for a refusal."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
import trio

from svc.app import FEATURES, all_settings
from svc.broker import LocalServer, McpServers, Server
from svc.clock import VirtualClock
from svc.config import read_config
from svc.principal import Principal
from svc.runs.leasing import lease
from svc.runs.moving import move
from svc.runs.queries import run as run_row
from svc.store import Tx
from tests.broker.broker_service import BROKER, OWN, ask, audited, internal_fields, open_broker, run_token
from tests.recorded_log import RecordedLog
from tests.support.http import read_to_end
from tests.support.service import HOST, Service

SLACK = {"capability": "im-a.send", "method": "GET", "url": "https://slack.com/api/auth.test"}
CALLS: list[tuple[str, str, object, str]] = [
    ("POST", "/llm-a/v1/messages", {}, "llm.a"),
    ("GET", "/llm-a/v1/models", None, "llm.a"),
    ("DELETE", "/llm-a/v1/files/1", None, "llm.a"),
    ("POST", "/llm-b/v1/responses", {}, "llm.b"),
    ("GET", "/llm-b/v1/models", None, "llm.b"),
    ("DELETE", "/llm-b/v1/files/1", None, "llm.b"),
    ("POST", "/mcp/notes", {}, "mcp.notes"),
    ("GET", "/mcp/notes", None, "mcp.notes"),
    ("DELETE", "/mcp/notes", None, "mcp.notes"),
    ("POST", "/mcp/notes/a/b", {}, "mcp.notes"),
    ("GET", "/mcp/notes/a/b", None, "mcp.notes"),
    ("DELETE", "/mcp/notes/a/b", None, "mcp.notes"),
    ("POST", "/egress", SLACK, "im-a.send"),
    ("POST", "/stdio-env", {"server": "notes"}, "mcp.notes"),
    ("POST", "/available", {"capability": "llm.a"}, "llm.a"),
]


def test_every_route_of_the_broker_is_tried_here() -> None:
    (feature,) = (one for one in FEATURES if one.name == "broker")
    rows = {(row.method, row.path) for row in feature.routes}
    tried = set()
    for method, path, _, _ in CALLS:
        row = f"{BROKER}{path}"
        if path.startswith("/llm-"):
            row = f"{BROKER}{path[:6]}/v1/*path"
        elif path.startswith("/mcp/"):
            row = f"{BROKER}/mcp/:server" + ("/*path" if path.count("/") > 2 else "")
        tried.add((method, row))
    assert tried == rows


async def test_without_the_internal_token_nobody_is_heard(service: Service) -> None:
    for method, path, body, grant in CALLS:
        token = await run_token(service, grant)
        for said in ("", "Bearer wrong", f"Bearer {token}"):
            reply = await ask(service, path, body, run=token, method=method, fields={"authorization": said})
            assert reply.status == 401, (method, path)
        assert await audited(service) == [], (method, path)


@pytest.mark.thorough
async def test_without_a_runs_token_nothing_is_opened(service: Service) -> None:
    for method, path, body, grant in CALLS:
        token = await run_token(service, grant)
        other = await run_token(service)
        forged = [None, "", "x", token[:-1], token + "x", f"{token.partition('.')[0]}.{other.partition('.')[2]}"]
        for run in forged:
            reply = await ask(service, path, body, run=run, method=method)
            assert (reply.status, reply.json["code"]) == (403, "forbidden"), (method, path, run)
        assert await audited(service) == [], (method, path)


def lease_again(tx: Tx, run_id: str) -> None:
    row = run_row(tx, run_id)
    assert row is not None
    move(tx, row, "lose", due_at=tx.now, worker=None)
    lease(tx, "another")


@pytest.mark.thorough
async def test_the_token_of_an_older_lease_is_no_token(service: Service) -> None:
    for method, path, body, grant in CALLS:
        token = await run_token(service, grant)
        await service.workspace.store.write(lease_again, token.partition(".")[0])
        assert (await ask(service, path, body, run=token, method=method)).status == 403, (method, path)


@pytest.mark.thorough
async def test_what_was_not_granted_is_refused_and_written_down(service: Service) -> None:
    for method, path, body, grant in CALLS:
        token = await run_token(service, "something.else")
        written = len(await audited(service))
        reply = await ask(service, path, body, run=token, method=method)
        if path == "/available":
            assert reply.json == {"available": False, "reason": "not_granted"}
            continue
        assert (reply.status, reply.json["code"], reply.json["reason"]) == (403, "forbidden", "not_granted"), path
        assert (await audited(service))[written:] == [(grant, "run", "refused")]


@pytest.mark.parametrize(("method", "path", "body", "grant"), [call for call in CALLS if "mcp." not in call[3]])
async def test_what_is_not_set_is_501(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, method: str, path: str, body: object, grant: str
) -> None:
    async with open_broker(tmp_path, clock=wall, log=log, keys=False) as service:
        token = await run_token(service, grant)
        reply = await ask(service, path, body, run=token, method=method)
        if path == "/available":
            assert reply.json == {"available": False, "reason": "not_configured"}
            return
        assert (reply.status, reply.json["code"], reply.json["reason"]) == (501, "not_configured", "not_configured")
        assert await audited(service) == [(grant, "run", "missing")]


async def test_a_forwarded_request_is_refused(service: Service) -> None:
    for method, path, body, grant in CALLS:
        token = await run_token(service, grant)
        for name in ("x-forwarded-for", "x-forwarded-host", "forwarded"):
            reply = await ask(service, path, body, run=token, method=method, fields={name: "127.0.0.1"})
            assert reply.status == 403, (method, path, name)
        assert await audited(service) == [], (method, path)


@pytest.mark.thorough
async def test_none_of_it_is_on_the_public_port_however_it_is_spelled(service: Service) -> None:
    for method, path, _body, grant in CALLS:
        token = await run_token(service, grant)
        fields = internal_fields(service, token, {"content-type": "application/json"})
        for target in (
            f"{BROKER}{path}",
            f"/%69nternal/broker{path}",
            f"/Internal/Broker{path}",
            f"//internal/broker{path}",
            f"/static/..{BROKER}{path}",
            f"/static/%2e%2e{BROKER}{path}",
            f"/p/%2e%2e{BROKER}{path}",
            f"http://{OWN}{BROKER}{path}",
            f"http://{HOST}{BROKER}{path}",
        ):
            reply = await service.ask(method, target, b"{}" if method == "POST" else b"", host=HOST, fields=fields)
            assert reply.status in {400, 404}, (method, target)
        assert await audited(service) == [], (method, path)


@pytest.mark.parametrize(
    "framing",
    [
        "Content-Length: 2\r\nTransfer-Encoding: chunked",
        "Content-Length: 2\r\nContent-Length: 2",
        "Content-Length: 2\r\nX-A: b\r\n folded",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    ],
)
async def test_a_call_that_can_be_read_in_two_ways_is_refused(service: Service, framing: str) -> None:
    fields = internal_fields(service, await run_token(service, "llm.a"), {"host": OWN})
    lines = [f"POST {BROKER}/llm-a/v1/messages HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    stream = await service.internal.connect()
    with trio.fail_after(600):
        await stream.send_all("\r\n".join([*lines, framing, "", "{}"]).encode())
        assert (await read_to_end(stream)).startswith(b"HTTP/1.1 400 ")
    assert await audited(service) == []


async def test_a_body_that_is_not_what_is_asked_for_is_told(service: Service) -> None:
    token = await run_token(service, "llm.a")
    bodies = (b"", b"[]", b"{}", b'{"capability": 7}', b'{"capability": "llm.a"', b'"\xff"', b"[" * 9_000)
    for path, body in product(("/available", "/egress", "/stdio-env"), bodies):
        reply = await ask(service, path, body, run=token)
        assert (reply.status, reply.json["code"]) == (400, "invalid"), (path, body[:30])


async def test_what_is_granted_and_set_is_available(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with open_broker(tmp_path, clock=wall, log=log, keys=False) as service:
        token = await run_token(service, "llm.*")
        await service.mutate("capabilities.set", name="llm.a", value="key")
        asked = [await ask(service, "/available", {"capability": name}, run=token) for name in ("llm.a", "llm.b")]
        assert [one.json["reason"] for one in asked] == [None, "not_configured"]
        assert [one.json["available"] for one in asked] == [True, False]
        assert await audited(service) == []


@pytest.mark.parametrize(("profile", "reason"), [("cloud", "profile"), ("local", "not_configured")])
async def test_a_server_that_is_a_program_is_off_under_cloud(service: Service, profile: str, reason: str) -> None:
    async def program(principal: Principal, name: str) -> Server | None:
        return LocalServer() if name == "notes" else None

    service.workspace.service(McpServers).declare(program)
    service.workspace.config = read_config(all_settings(), {"SVC_PROFILE": profile})
    token = await run_token(service, "mcp.*")
    found = {}
    for name in ("notes", "other"):
        found[name] = (await ask(service, "/available", {"capability": f"mcp.{name}"}, run=token)).json["reason"]
    assert found == {"notes": reason, "other": "not_configured"}
    reply = await ask(service, "/stdio-env", {"server": "notes"}, run=token)
    assert (reply.status, reply.json["reason"]) == (403, "profile" if profile == "cloud" else "not_granted")
