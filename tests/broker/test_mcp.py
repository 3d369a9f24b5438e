"""MCP servers behind the broker: reached as declared, with credentials that the run never sees."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from svc.broker import FromCapability, LocalServer, McpServers, RemoteServer, Server
from svc.broker.mcp_servers import MAX_SPAWNS, SPAWN_S, Value
from svc.broker.outside import Outside
from svc.clock import VirtualClock
from svc.errors import Forbidden, Unavailable
from svc.principal import Principal
from svc.store import Tx
from tests.broker.broker_service import Heard, ask, audited, open_broker, run_token
from tests.protocol.raw_server import says, served
from tests.protocol.small_internet import PUBLIC, Internet, answer
from tests.recorded_log import RecordedLog
from tests.support.certificates import certificates
from tests.support.service import Service

TOKEN = "canary-of-notes"
HOST = "mcp.example"
SAID = answer(
    b'data: {"jsonrpc": "2.0"}\n\n', "Content-Type: text/event-stream", "Mcp-Session-Id: 7", "Set-Cookie: a=b"
)


def declare(service: Service, server: Server, *, name: str = "notes") -> list[Principal]:
    """Who asked for it, as it happens."""
    asked: list[Principal] = []

    async def lookup(principal: Principal, wanted: str) -> Server | None:
        asked.append(principal)
        return server if wanted == name else None

    service.workspace.service(McpServers).declare(lookup)
    return asked


async def keep(service: Service, name: str, value: str) -> None:
    """As a connection keeps what it was given."""

    def write(tx: Tx) -> None:
        service.secrets.write(tx, name, value.encode(), source="oauth")

    await service.workspace.store.write(write)


@pytest.fixture
async def internet(tmp_path: Path) -> AsyncIterator[Internet]:
    server_tls, client_tls = certificates(tmp_path, HOST)
    async with trio.open_nursery() as nursery:
        yield Internet(server_tls=server_tls, client_tls=client_tls, nursery=nursery, names={HOST: [[PUBLIC]]})
        nursery.cancel_scope.cancel()


@pytest.mark.wall_clock
async def test_a_server_on_this_machine_that_an_admin_declared_is_reached(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with (
        served(says(SAID)) as (server, url),
        open_broker(tmp_path, clock=wall, log=log) as service,
    ):
        headers: dict[str, Value] = {"Authorization": FromCapability("mcp.notes"), "X-Workspace": "seven"}
        asked = declare(
            service, RemoteServer(url=f"{url}/mcp?team=1", headers=headers, by_admin=True, may_be_inside=True)
        )
        await keep(service, "mcp.notes", TOKEN)
        token = await run_token(service, "mcp.notes")
        given = {
            "mcp-session-id": "7",
            "authorization-x": "z",
            "cookie": "a=b",
            "last-event-id": "3",
            "x-workspace": "mine",
        }
        reply = await ask(service, "/mcp/notes", {"method": "ping"}, run=token, fields=given)
        assert (reply.status, reply.body) == (200, b'data: {"jsonrpc": "2.0"}\n\n')
        assert (reply.header("content-type"), reply.header("mcp-session-id")) == ("text/event-stream", "7")
        assert reply.header("set-cookie") is None
        await ask(service, "/mcp/notes/a%20b/c?x=%2F", run=token, method="GET")
        first, second = map(Heard.read, server.heard)
        assert first.line == "POST /mcp?team=1 HTTP/1.1"
        assert second.line == "GET /mcp/a%20b/c?team=1&x=%2F HTTP/1.1"
        assert json.loads(first.body) == {"method": "ping"}
        sent = {"authorization", "x-workspace", "mcp-session-id", "last-event-id"}
        assert (
            set(first.headers) - {"host", "content-length", "content-type", "accept", "accept-encoding", "user-agent"}
            == sent
        )
        assert (first.headers["authorization"], first.headers["x-workspace"]) == (TOKEN, "seven")
        assert [(who.via, who.is_admin) for who in asked] == [("unclaimed", False)] * 2
        assert await audited(service) == [("mcp.notes", "run", "granted")] * 2


@pytest.mark.parametrize("by_admin", [False, True])
async def test_a_server_must_be_public_unless_it_may_be_inside(
    service: Service, internet: Internet, *, by_admin: bool
) -> None:
    service.workspace.service(Outside).pinned = internet.egress()
    internet.pages[f"{HOST}/mcp"] = SAID
    headers: dict[str, Value] = {"authorization": FromCapability("mcp.notes")}
    declare(service, RemoteServer(url=f"https://{HOST}/mcp", headers=headers, by_admin=by_admin))
    await keep(service, "mcp.notes", TOKEN)
    token = await run_token(service, "mcp.*")
    reply = await ask(service, "/mcp/notes", {}, run=token)
    assert (reply.status, reply.body) == (200, b'data: {"jsonrpc": "2.0"}\n\n')
    assert f"authorization: {TOKEN}".encode() in internet.heard[0]
    internet.names[HOST] = [["127.0.0.1"]]
    reply = await ask(service, "/mcp/notes", {}, run=token)
    assert (reply.status, reply.json["code"]) == (502, "bad_gateway")
    assert len(internet.heard) == 1


@pytest.mark.parametrize("url", ["http://127.0.0.1:4782/livez", "https://10.0.0.1/", "https://mcp.example:22/"])
async def test_an_address_of_anybodys_in_this_network_is_refused(service: Service, url: str) -> None:
    declare(service, RemoteServer(url=url))
    reply = await ask(service, "/mcp/notes", {}, run=await run_token(service, "mcp.*"))
    assert (reply.status, reply.json["code"]) == (502, "bad_gateway")


async def test_an_answer_that_quotes_the_credential_is_masked(service: Service, internet: Internet) -> None:
    service.workspace.service(Outside).pinned = internet.egress()
    internet.pages[f"{HOST}/"] = answer(f"no: {TOKEN}".encode(), f"Mcp-Session-Id: {TOKEN}", status="401 Unauthorized")
    declare(service, RemoteServer(url=f"https://{HOST}/", headers={"authorization": FromCapability("mcp.notes")}))
    await keep(service, "mcp.notes", TOKEN)
    reply = await ask(service, "/mcp/notes", {}, run=await run_token(service, "mcp.*"))
    assert reply.status == 401
    assert TOKEN not in repr((reply.headers, reply.body))
    assert TOKEN not in service.log.text


async def test_what_nobody_declared_is_told_in_words(service: Service) -> None:
    declare(service, RemoteServer(url="https://x.example/"), name="other")
    token = await run_token(service, "mcp.*")
    for path, body in (("/mcp/notes", {}), ("/mcp/notes/a", {}), ("/stdio-env", {"server": "notes"})):
        reply = await ask(service, path, body, run=token)
        assert (reply.status, reply.json["detail"]) == (404, "No MCP server 'notes' is declared.")


async def test_a_declaration_by_anybody_takes_no_credential_of_the_workspace_along(service: Service) -> None:
    await service.mutate("capabilities.set", name="llm.a", value="canary")
    declare(service, RemoteServer(url=f"https://{HOST}/", headers={"x": FromCapability("llm.a")}))
    reply = await ask(service, "/mcp/notes", {}, run=await run_token(service, "mcp.*", "llm.a"))
    assert (reply.status, reply.json["reason"]) == (403, "not_granted")
    assert await audited(service) == []


async def test_a_declaration_of_an_admin_takes_only_what_the_run_was_granted(service: Service) -> None:
    declare(service, RemoteServer(url=f"https://{HOST}/", headers={"x": FromCapability("llm.a")}, by_admin=True))
    reply = await ask(service, "/mcp/notes", {}, run=await run_token(service, "mcp.*"))
    assert (reply.status, reply.json["reason"]) == (403, "not_granted")
    reply = await ask(service, "/mcp/notes", {}, run=await run_token(service, "*"))
    assert (reply.status, reply.json["reason"]) == (501, "not_configured")


async def test_a_credential_of_several_fields_stands_for_no_one_value(service: Service) -> None:
    await service.mutate("capabilities.set", name="im-b", value={"apiId": "1", "apiHash": "2", "session": "3"})
    declare(service, RemoteServer(url=f"https://{HOST}/", headers={"x": FromCapability("im-b")}, by_admin=True))
    assert (await ask(service, "/mcp/notes", {}, run=await run_token(service, "*"))).status == 409


# Programs


async def test_an_environment_is_given_once_for_each_start_that_was_allowed(service: Service) -> None:
    declare(service, LocalServer(env={"NOTES_TOKEN": FromCapability("mcp.notes"), "MODE": "quiet"}))
    await keep(service, "mcp.notes", TOKEN)
    token, other = await run_token(service, "mcp.*"), await run_token(service, "mcp.*")
    servers = service.workspace.service(McpServers)
    servers.allow_spawn(token.partition(".")[0], "notes")
    assert (await ask(service, "/stdio-env", {"server": "notes"}, run=other)).status == 403
    reply = await ask(service, "/stdio-env", {"server": "notes"}, run=token)
    assert reply.json == {"env": {"NOTES_TOKEN": TOKEN, "MODE": "quiet"}}
    assert reply.header("cache-control") == "no-store"
    again = await ask(service, "/stdio-env", {"server": "notes"}, run=token)
    assert (again.status, again.json["reason"]) == (403, "not_granted")
    assert await audited(service) == [("mcp.notes", "run", "granted")]


@pytest.mark.thorough
async def test_a_permission_that_is_not_used_soon_is_none(service: Service) -> None:
    servers = service.workspace.service(McpServers)
    for _ in range(MAX_SPAWNS):
        servers.allow_spawn("run_1", "notes")
    with pytest.raises(Unavailable):
        servers.allow_spawn("run_2", "notes")
    await trio.sleep(SPAWN_S)
    with pytest.raises(Forbidden):
        servers.use_spawn("run_1", "notes")
    servers.allow_spawn("run_2", "notes")
    servers.use_spawn("run_2", "notes")


async def test_a_program_has_no_address_and_an_address_no_program(service: Service) -> None:
    declare(service, LocalServer(), name="program")
    declare(service, RemoteServer(url=f"https://{HOST}/"), name="remote")
    token = await run_token(service, "mcp.*")
    assert (await ask(service, "/mcp/program", {}, run=token)).status == 409
    assert (await ask(service, "/stdio-env", {"server": "remote"}, run=token)).status == 409
