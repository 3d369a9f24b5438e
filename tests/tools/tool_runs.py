"""Runs that call one tool, as the service makes them, and what is left of it."""

from __future__ import annotations

from typing import Any, Final

from svc import runs
from svc.runs import Dispatcher
from svc.store import Tx
from svc.tools import give, taint
from svc.tools.table import OWN
from svc.worker.tools import ONCE
from tests.support import waiting
from tests.support.service import Service

LONGEST_S: Final = 900.0


async def call(
    service: Service,
    tool: str,
    *,
    tainted: bool = False,
    auto: bool = False,
    device_id: str | None = None,
    user_id: str | None = None,
    **input: object,
) -> str:
    """The id of a run that calls that tool."""

    def begin(tx: Tx) -> str:
        run_id = runs.begin(tx, user_id, ONCE, {"tool": tool, "input": input}, device_id=device_id)
        give(tx, run_id, tools=[row.name for row in OWN], approvals={"*": "auto"} if auto else {})
        if tainted:
            taint(tx, run_id, outside="a test")
        return run_id

    run_id = await service.workspace.store.write(begin)
    service.workspace.service(Dispatcher).wake.call()
    return run_id


async def until(service: Service, run_id: str, *states: str) -> Any:
    """The run, once it is in one of these states; ``waiting`` counts only where a person is waited for."""
    found: Any = None

    async def is_so() -> bool:
        nonlocal found
        found = await service.query("runs.get", id=run_id)
        asks = any(one["runId"] == run_id for one in await service.query("approvals.list"))
        if found["state"] in states and (found["state"] != "waiting" or asks):
            return True
        assert found["state"] not in {"failed", "cancelled"}, found["error"]
        return False

    await waiting.until(
        is_so, what=f"the run to be {states}", within_s=LONGEST_S, longest_pause_s=1.0, tell=lambda: found
    )
    return found


async def outcome(service: Service, run_id: str) -> Any:
    return (await until(service, run_id, "done"))["output"]


async def asked(service: Service, run_id: str) -> Any:
    """What a person is asked about that run."""
    await until(service, run_id, "waiting")
    return next(one for one in await service.query("approvals.list") if one["runId"] == run_id)
