"""The official conformance suite against both sides: what we ask of servers, sign-ins with it, and what we answer."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import httpx2
import pytest
import trio

from svc.clock import VirtualClock
from tests.mcp.test_signing_in import begun
from tests.mcp.using import AGENT, allow, connect, looked, server, used
from tests.peers.needs import MCP_CONFORMANCE, MCP_CONFORMANCE_PATH, NODE_PATH, needs
from tests.recorded_log import RecordedLog
from tests.sizes import SOAK
from tests.support.service import HOST, Service, open_service

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock]

TELL: Final = Path(__file__).with_name("tell.py")


async def use(service: Service, name: str, url: str, context: dict[str, Any]) -> str:
    """As a person does: connect, sign in if it is asked for, allow all, and let an agent call each tool once."""
    await service.mutate("pages.save", path=f"mcp/{name}", body=f"---\nurl: {json.dumps(url)}\n---\n")
    found = await connect(service, name)
    if found["signIn"] == "wanted":
        found = await signed_in(service, name, context)
    assert found["state"] == "ready", found["problem"]
    await allow(service, name)
    said = await called(service, name)
    if (await server(service, name))["signIn"] == "more":
        await signed_in(service, name, context)
        said = await called(service, name)
    return said


async def called(service: Service, name: str) -> str:
    """By an agent with the tools of this server alone: with those of several, each call waits for a person."""
    await service.mutate("pages.save", path="agents/user", body=AGENT.replace("mcp.*", f"mcp.{name}.*"))
    tools = (await server(service, name))["tools"]
    return " ".join([await used(service, inputs_of(one), tool=one["name"]) for one in tools])


async def signed_in(service: Service, name: str, context: dict[str, Any]) -> Any:
    shown = await service.mutate("mcp.signIn", name=name)
    if shown["wantsClient"]:
        known = {"clientId": context["client_id"], "clientSecret": context.get("client_secret", "")}
        await service.mutate("mcp.setClient", name=name, **known)
    location, cookie = await begun(service, name)
    async with httpx2.AsyncClient() as browser:
        while urlsplit(location).netloc != HOST:
            answer = await browser.get(location)
            location = urljoin(location, answer.headers["location"])
    parts = urlsplit(location)
    reply = await service.get(f"{parts.path}?{parts.query}", cookie=cookie)
    assert reply.header("location") == "/settings/mcp", reply.header("location")
    return await looked(service, name)


def inputs_of(tool: dict[str, Any]) -> dict[str, Any]:
    properties = json.loads(tool["schema"] or "{}").get("properties", {})
    return {name: 1 if one.get("type") in {"number", "integer"} else "x" for name, one in properties.items()}


@asynccontextmanager
async def orders(service: Service) -> AsyncIterator[int]:
    """The port at which ``tell.py`` says what is to be used; one after the other."""
    turn = trio.Lock()

    async def serve(stream: trio.SocketStream) -> None:
        async with stream, turn:
            data = b""
            while not data.endswith(b"\n"):
                data += await stream.receive_some(65_536)
            wanted = json.loads(data)
            name = wanted["scenario"].replace("/", "-").lower()
            try:
                said = await use(service, name, wanted["url"], json.loads(wanted["context"] or "{}"))
            except Exception as error:  # told to the suite, whose word counts
                said = f"{type(error).__name__}: {error}"
            print(name, said[:300])
            await stream.send_all(said.encode())

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        yield listeners[0].socket.getsockname()[1]
        nursery.cancel_scope.cancel()


async def suite(*words: str) -> str:
    """What it says. Its exit code is that of its verdict."""
    done = await trio.run_process(
        [NODE_PATH, MCP_CONFORMANCE_PATH, *words], capture_stdout=True, capture_stderr=True, check=False
    )
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, said
    return said


@needs(MCP_CONFORMANCE)
async def test_our_client_passes(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service, orders(service) as port:
        command = f"{sys.executable} -I -S {TELL} {port}"
        for scenario in ("tools_call", "auth/scope-step-up"):
            await suite("client", "--command", command, "--scenario", scenario, "--timeout", "120000")
        if SOAK:  # each of the suite's fourteen
            await sign_ins_of_all_kinds(command)


async def sign_ins_of_all_kinds(command: str) -> None:
    known = ("--expected-failures", str(Path(__file__).with_name("conformance.yml")))
    await suite("client", "--command", command, "--suite", "auth", "--timeout", "240000", *known)


@needs(MCP_CONFORMANCE)
async def test_our_server_passes(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/mcp"
    async with open_service(tmp_path, clock=wall, log=log, listeners=listeners, PROVIDERS="fake"):
        for scenario in ("server-initialize", "ping", "tools-list", "dns-rebinding-protection"):
            await suite("server", "--url", url, "--scenario", scenario)
