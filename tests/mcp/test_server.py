"""``POST /mcp`` by the protocol's own client, and ``svc mcp`` in front of it."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
import trio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from svc.clock import VirtualClock
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S
from tests.support.service import open_service
from tests.support.waiting import until

TOKEN: Final = "x-svc-device-token"


@dataclass
class Instance:
    """A claimed one: ``browser`` is its admin's, ``token`` a device's."""

    origin: str
    browser: httpx2.AsyncClient
    token: str

    async def ask(self, procedure: str, **wanted: object) -> Any:
        answer = await self.browser.post(f"{self.origin}/trpc/{procedure}", json=wanted)
        return answer.json()["result"].get("data")

    async def approvals(self) -> Any:
        return (await self.browser.get(f"{self.origin}/trpc/approvals.list")).json()["result"]["data"]


@asynccontextmanager
async def instance(directory: Path, clock: VirtualClock, log: RecordedLog) -> AsyncIterator[Instance]:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    origin = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
    with trio.fail_after(HANGS_S):
        async with (
            open_service(directory, clock=clock, log=log, listeners=listeners, PROVIDERS="fake"),
            httpx2.AsyncClient() as browser,
        ):
            await browser.post(f"{origin}/auth/dev-login", json={"email": "mia@example.org"})
            found = Instance(origin, browser, "")
            code = (await found.ask("devices.createPairingCode"))["code"]
            wanted = {"code": code, "name": "Desk", "kind": "desktop"}
            found.token = (await browser.post(f"{origin}/pair/claim", json=wanted)).json()["token"]
            yield found


async def approve(where: Instance) -> None:
    """The person in front of the app lets the next thing through."""
    waiting = await until(where.approvals, what="a call that waits for a person")
    await where.ask("approvals.decide", id=waiting[0]["id"], approve=True)


@pytest.mark.thorough
@pytest.mark.wall_clock
async def test_the_official_client_finds_the_tools_and_what_acts_waits_for_a_person(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with instance(tmp_path, wall, log) as where:
        http = httpx2.AsyncClient(headers={TOKEN: where.token})
        async with Client(streamable_http_client(f"{where.origin}/mcp", http_client=http)) as client:
            tools = {one.name: one for one in (await client.list_tools()).tools}
            assert {"pages.read", "mail.send", "runs.result"} <= tools.keys()
            assert tools["pages.save"].input_schema["required"] == ["path", "body"]
            saved = await client.call_tool("pages.save", {"path": "notes/a", "body": "Hi"})
            assert not saved.is_error
            read = await client.call_tool("pages.read", {"path": "notes/a"})
            assert read.structured_content["body"] == "Hi"
            assert (await client.call_tool("pages.read", {"path": "b"})).is_error
            async with trio.open_nursery() as nursery:
                nursery.start_soon(approve, where)
                kept = await client.call_tool("memory.write", {"name": "x", "body": "y"})
            assert not kept.is_error, kept
        device = {TOKEN: where.token}
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for fields, status in (
            ({**device, "origin": "https://evil.example"}, 403),
            ({}, 401),
            ({TOKEN: "wrong"}, 401),
            (device, 200),
        ):
            async with httpx2.AsyncClient(headers=fields) as stranger:
                assert (await stranger.post(f"{where.origin}/mcp", json=ping)).status_code == status
        assert (await where.browser.post(f"{where.origin}/mcp", json=ping)).status_code == 403
        bad = await httpx2.AsyncClient(headers=device).post(f"{where.origin}/mcp?level=read", content=b"{")
        assert bad.json()["error"]["code"] == -32700


@pytest.mark.thorough
@pytest.mark.wall_clock
async def test_the_command_serves_the_same_and_says_why_where_it_can_not(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with instance(tmp_path, wall, log) as where:
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SVC_URL": where.origin}
        refused = await trio.run_process(
            [sys.executable, "-m", "svc", "mcp"], env=env, capture_stderr=True, capture_stdout=True, check=False
        )
        assert refused.returncode == 1
        assert b"SVC_TOKEN is not set" in refused.stderr
        program = StdioServerParameters(
            command=sys.executable, args=["-m", "svc", "mcp", "--level", "read"], env={**env, "SVC_TOKEN": where.token}
        )
        async with Client(stdio_client(program)) as client:
            names = {one.name for one in (await client.list_tools()).tools}
            assert "pages.read" in names
            assert "mail.send" not in names
            assert (await client.call_tool("tasks.list", {})).structured_content == {"tasks": []}
