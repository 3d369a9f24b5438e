"""MCP servers of others, from the page to the tool's answer in an agent's run: programs, addresses, and bad manners."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import pytest
import trio

from svc.clock import VirtualClock
from tests.mcp.odd import Odd
from tests.recorded_log import RecordedLog
from tests.support.service import Service, open_service

pytestmark = pytest.mark.wall_clock

PATIENCE_S: Final = 30.0


@pytest.fixture
def odd(tmp_path: Path) -> Odd:
    return Odd(tmp_path / "odd.json")


@pytest.fixture
async def there(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        yield service


async def until(found: Callable[[], Awaitable[Any]]) -> Any:
    with trio.fail_after(PATIENCE_S):
        while True:
            one = await found()
            if one is not None:
                return one
            await trio.sleep(0.02)


async def server(service: Service, name: str = "odd") -> Any:
    return {one["name"]: one for one in await service.query("mcp.servers")}[name]


async def looked(service: Service, name: str = "odd") -> Any:
    async def found() -> Any:
        one = await server(service, name)
        return one if one["state"] in {"ready", "failed"} else None

    return await until(found)


async def connect(service: Service, name: str = "odd") -> Any:
    await service.mutate("mcp.connect", name=name, launch=(await server(service, name))["launch"])
    return await looked(service, name)


async def allow(service: Service, name: str = "odd") -> None:
    tools = [{"name": one["tool"], "digest": one["digest"]} for one in (await server(service, name))["tools"]]
    await service.mutate("mcp.allow", name=name, tools=tools)


async def ended(service: Service, run_id: str) -> Any:
    async def found() -> Any:
        run = await service.query("runs.get", id=run_id)
        return run if run["state"] in {"done", "failed", "cancelled"} else None

    return await until(found)


async def asked(service: Service, run_id: str) -> Any:
    async def found() -> Any:
        return next((one for one in await service.query("approvals.list") if one["runId"] == run_id), None)

    return await until(found)


async def begun(service: Service, *inputs: dict[str, Any], tool: str = "mcp.odd.echo") -> str:
    """A run of an agent whose model calls the tool with each of these, and then says that it is done."""
    replies = [{"toolCalls": [{"name": tool, "input": one}]} for one in inputs]
    await service.mutate("fake.llm.script", replies=[*replies, {"text": "Done."}])
    return str((await service.mutate("agents.run", agent="user"))["runId"])


async def test_a_program_is_connected_agreed_to_and_used_by_an_agent(there: Service, odd: Odd) -> None:
    await there.mutate("pages.save", path="mcp/odd", body=odd.page(NOTES="/srv"))
    await there.mutate("pages.save", path="agents/user", body="---\ntools: [mcp.odd.*]\napprovals: auto\n---\nDo it.")
    assert (await server(there))["state"] == "new"
    assert odd.heard == [], "nothing is started that nobody said yes to"
    found = await connect(there)
    assert (found["state"], found["version"], [one["state"] for one in found["tools"]]) == ("ready", "1.0", ["new"])
    names = [one["name"] for one in await there.query("tools.list")]
    assert "mcp.odd.echo" not in names
    await allow(there)
    assert "mcp.odd.echo" in [one["name"] for one in await there.query("tools.list")]

    run_id = await begun(there, {"text": "a\u202eb", "times": 2}, {"text": "again"}, {"times": 3})
    question = await asked(there, run_id)
    assert question["input"] == {"text": "again"}, "the first went by itself, for the run had read nothing from outside"
    assert "the MCP server odd" in question["summary"]
    await there.mutate("approvals.decide", id=question["id"], approve=True, input={"text": "again, as I say"})
    run = await ended(there, run_id)
    assert run["state"] == "done", run["error"]
    assert odd.calls() == [{"text": "a\u202eb", "times": 2}, {"text": "again, as I say"}]
    assert "abab" in str(run["steps"]), "without what hides"
    assert "missing required field `text`" in str(run["steps"])
    assert (await there.query("agents.trust", runId=run_id)) == {"outside": "the MCP server odd"}
    start = next(one for one in odd.heard if "start" in one)
    assert set(start["environ"]) - {"LC_CTYPE"} == {"NOTES"}, "the declared environment, and nothing else"
    assert start["directory"] == "/"
