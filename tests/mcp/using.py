"""Connecting, allowing and calling an MCP server, as a person and their agent do."""

from __future__ import annotations

from typing import Any, Final

from tests.support.service import Service
from tests.support.waiting import until

AGENT: Final = "---\ntools: [mcp.*]\napprovals: auto\n---\nDo it."


async def server(service: Service, name: str = "odd") -> Any:
    return {one["name"]: one for one in await service.query("mcp.servers")}[name]


async def looked(service: Service, name: str = "odd") -> Any:
    async def found() -> Any:
        one = await server(service, name)
        return one if one["state"] in {"ready", "failed"} else None

    return await until(found, what=f"{name} to be ready or failed")


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

    return await until(found, what=f"the run {run_id} to end")


async def asked(service: Service, run_id: str) -> Any:
    async def found() -> Any:
        return next((one for one in await service.query("approvals.list") if one["runId"] == run_id), None)

    return await until(found, what=f"a question of the run {run_id}")


async def begun(service: Service, *inputs: dict[str, Any], tool: str = "mcp.odd.echo") -> str:
    """A run of an agent whose model calls the tool with each of these, and then says that it is done."""
    replies = [{"toolCalls": [{"name": tool, "input": one}]} for one in inputs]
    await service.mutate("fake.llm.script", replies=[*replies, {"text": "Done."}])
    return str((await service.mutate("agents.run", agent="user"))["runId"])


async def used(service: Service, input: dict[str, Any], *, tool: str = "mcp.odd.echo") -> str:
    """What the model is told that calls the tool once."""
    run = await ended(service, await begun(service, input, tool=tool))
    assert run["state"] == "done", run["error"]
    return str((await service.query("fake.llm.calls"))[-1]["messages"])
