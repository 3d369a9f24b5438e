"""The run that inspects a server: it connects, and reports the server's tools to the trusted plane."""

from __future__ import annotations

from typing import Final

from svc.worker.mcp.using import look
from svc.worker.rows import WorkerRows
from svc.workflow import Json, Run, Workflow


async def look_at(run: Run, input: Json) -> Json:
    async def work(key: str) -> Json:
        return {"problem": await look(run, input["server"])}

    return await run.step("look", work)


LOOK: Final = Workflow(name="mcp.look", version=1, title="Look at an MCP server", code=look_at)
ROWS: Final = WorkerRows(workflows=(LOOK,))
