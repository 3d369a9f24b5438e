"""Does the work of tools outside of a transaction: one task per call, with a limit in number and time.

If the service dies during a call, the call is done again if that does no harm. If it might (``keyless``) the call is
``unknown``: its run is told so, and a person decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, cast

import msgspec
import trio

from svc.errors import Refusal
from svc.nursery import Child, Wake
from svc.principal import Principal
from svc.runs import Dispatcher, principal_of, run, settle_step, wake
from svc.store import ReadTx, Tx
from svc.tools.deciding import Understood, bounded, follow, said_no, understood
from svc.tools.model import Outcome, Tool
from svc.tools.table import Tools
from svc.workflow import Json
from svc.workspace import Workspace

AT_A_TIME: Final = 8
"""Tool calls in progress outside at the same time."""
LOOK_S: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class Begun:
    run_id: str
    key: str
    waits: str
    tool: str
    input: str


@dataclass(kw_only=True)
class Doing:
    workspace: Workspace
    wake: Wake = field(default_factory=Wake)
    _limiter: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(AT_A_TIME))

    async def run(self, child: Child) -> None:
        await self.workspace.store.write(_recover, self.workspace)
        self.workspace.service(Dispatcher).wake.call()
        child.started()
        while True:
            room = max(0, int(self._limiter.available_tokens))
            if room and await self.workspace.store.read_small(_is_begun):
                for begun in await self.workspace.store.write(_take, limit=room):
                    child.work.start_soon(self._do, begun)
            await self.wake.wait(at_most_s=LOOK_S)

    async def _do(self, begun: Begun) -> None:
        async with self._limiter:
            found, said = await self._performed(begun)
            await self.workspace.store.write(_settle, begun, found, said)
        self.workspace.service(Dispatcher).wake.call()
        self.wake.call()

    async def _performed(self, begun: Begun) -> tuple[Understood | None, Outcome | Json]:
        workspace = self.workspace
        there = await workspace.store.read(_find, workspace, begun)
        if there is None:
            return None, None
        principal, tool = there
        found = understood(tool, msgspec.json.decode(begun.input)) if tool is not None else "It is gone."
        if isinstance(found, str) or found.tool.perform is None:
            return None, {"error": {"code": "invalid", "message": str(found)}}
        try:
            with trio.fail_after(found.tool.within_s):
                return found, await found.tool.perform(workspace, principal, found.wanted)
        except Refusal as refusal:
            return found, said_no(refusal)
        except trio.TooSlowError:
            words = f"It took longer than {found.tool.within_s:g} seconds, and was given up."
            return found, {"error": {"code": "unavailable", "message": words}}
        except Exception as error:  # Catch every error: the run must learn that the tool failed.
            workspace.log.error("tools.failed", error, tool=begun.tool, run_id=begun.run_id)
            return found, {"error": {"code": "internal", "message": "It failed on this server."}}


def _find(tx: ReadTx, workspace: Workspace, begun: Begun) -> tuple[Principal, Tool | None] | None:
    """For whom the run acts, and the tool if it is there; ``None`` if the run is gone."""
    row = run(tx, begun.run_id)
    if row is None:
        return None
    principal = principal_of(tx, row)
    return principal, workspace.service(Tools).find(tx, principal, begun.tool)


_BEGUN: Final = "state in ('begun', 'working') and state = 'begun' and waits is not null"
"""The first part is that of the index, which is not used without it."""


def _is_begun(tx: ReadTx) -> bool:
    return tx.value(f"select 1 from tool_calls where {_BEGUN} limit 1") is not None


def _take(tx: Tx, *, limit: int) -> list[Begun]:
    rows = tx.all(
        f"""
        select run_id, key, waits, tool, input from tool_calls where {_BEGUN} order by at, run_id, key limit :limit
        """,
        limit=limit,
    )
    for run_id, key, *_ in rows:
        tx.run("update tool_calls set state = 'working' where run_id = :id and key = :key", id=run_id, key=key)
    return [
        Begun(
            run_id=cast(str, row[0]),
            key=cast(str, row[1]),
            waits=cast(str, row[2]),
            tool=cast(str, row[3]),
            input=cast(str, row[4]),
        )
        for row in rows
    ]


def _settle(tx: Tx, begun: Begun, found: Understood | None, said: Outcome | Json) -> None:
    row = run(tx, begun.run_id)
    if row is None:
        return
    if isinstance(said, Outcome):
        assert found is not None
        follow(tx, principal_of(tx, row), row.id, found, said)
        told: Json = {"result": bounded(said.output, found.tool.max_output_bytes)}
    else:
        told = said
    _end(tx, begun, told, state="failed" if "error" in told else "done")


def _end(tx: Tx, begun: Begun, told: Json, *, state: str) -> None:
    tx.run(
        "update tool_calls set state = :state, ended_at = :now where run_id = :id and key = :key",
        state=state,
        now=tx.now,
        id=begun.run_id,
        key=begun.key,
    )
    settle_step(tx, begun.run_id, begun.waits, output=msgspec.json.encode(told).decode(), error=None)
    wake(tx, begun.run_id)


def _recover(tx: Tx, workspace: Workspace) -> None:
    """Handle the calls that were in progress when the service ended."""
    rows = tx.all("select run_id, key, waits, tool, input from tool_calls where state = 'working'")
    for row in rows:
        begun = Begun(run_id=row[0], key=row[1], waits=row[2], tool=row[3], input=row[4])
        there = _find(tx, workspace, begun)
        tool = None if there is None else there[1]
        if tool is None or tool.keyless:
            _end(tx, begun, {"unknown": True}, state="unknown")
        else:
            tx.run(
                "update tool_calls set state = 'begun' where run_id = :id and key = :key",
                id=begun.run_id,
                key=begun.key,
            )
