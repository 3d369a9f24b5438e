"""A service with workflows of the test's own, and what a test looks at."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import trio

from svc import runs
from svc.clock import VirtualClock
from svc.feature import Feature, workflows_of
from svc.protocol import Wire
from svc.runs import Dispatcher
from svc.runs.invariants import INVARIANTS
from svc.store import ReadTx, Tx
from svc.worker.rows import WorkerRows
from svc.workflow import Call, Caller, Json, Run, Workflow
from svc.workspace import Workspace
from tests.recorded_log import RecordedLog
from tests.support.service import Service, open_service
from tests.support.waiting import until

LONGEST_S: Final = 40 * 86_400.0
LONGEST_PAUSE_S: Final = 600.0


class Named(Wire, frozen=True):
    name: str = ""


@dataclass(kw_only=True)
class WorkflowRunner:
    """``did``: what steps did outside; ``decided``: what calls did in the database, as the transactions saw it."""

    service: Service
    did: list[str] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)
    """By step, how many times it still fails."""
    stuck: trio.Event = field(default_factory=trio.Event)
    """A step has begun that does not end."""

    async def outside(self, key: str) -> Json:
        name = key.partition(":")[2]
        self.did.append(name)
        if self.failures.get(name, 0) > 0:
            self.failures[name] -= 1
            raise OSError(f"{name} is not there")
        return name

    async def endless(self, key: str) -> Json:
        self.did.append(key.partition(":")[2])
        self.stuck.set()
        await trio.sleep_forever()

    async def change(self, sql: str, **params: Any) -> None:
        await self.service.workspace.store.write(lambda tx: tx.run(sql, **params))

    async def begin(
        self, workflow: str, input: Json = None, *, user_id: str | None = None, version: int | None = None
    ) -> str:
        row = workflows_of(self.service.workspace.features)[workflow]
        if version is not None:
            row = replace(row, version=version)
        run_id = await self.service.workspace.store.write(runs.begin, user_id, row, input)
        self.service.workspace.service(Dispatcher).wake.call()
        return run_id

    async def get(self, run_id: str) -> Any:
        return await self.service.query("runs.get", id=run_id)

    async def until(self, run_id: str, *states: str) -> Any:
        """The run, once it is in one of these states."""
        found: Any = None

        async def is_so() -> bool:
            nonlocal found
            found = await self.get(run_id)
            return found["state"] in states

        await until(
            is_so,
            what=f"the run to be {' or '.join(states)}",
            within_s=LONGEST_S,
            longest_pause_s=LONGEST_PAUSE_S,
            tell=lambda: found,
        )
        return found

    async def decided(self) -> list[str]:
        rows = await self.service.rows("select payload from events where type = 'test.decided' order by seq")
        return [payload for (payload,) in rows]


def decide(workspace: Workspace, tx: Tx, caller: Caller, wanted: Named) -> Json:
    tx.record(type="test.decided", payload={"name": wanted.name}, audience=None, device_id="test")
    return {"decided": wanted.name}


DECIDE: Final = Call(name="test.decide", summary="", input=Named, decide=decide)


def workflow(name: str, code: Callable[[Run, Json], Awaitable[Json]], *, version: int = 1, **more: Any) -> Workflow:
    return Workflow(name=name, version=version, title=f"Test of {name}", code=code, calls=("test.decide",), **more)


def problems(tx: ReadTx) -> list[str]:
    """What ``svc fsck`` would say of runs."""
    return [problem for row in INVARIANTS for problem in row.check(tx)]


@asynccontextmanager
async def runner_with(
    directory: Path,
    wall: VirtualClock,
    log: RecordedLog,
    make: Callable[[WorkflowRunner], tuple[Workflow, ...]],
    **environ: str,
) -> AsyncIterator[WorkflowRunner]:
    """``make`` is given the runner, in which its steps note what they did."""
    made: list[WorkflowRunner] = []

    def add(workspace: Workspace) -> None:
        runner = WorkflowRunner(service=Service(workspace, log))
        made.append(runner)
        feature = Feature(name="scratch", summary="", worker=WorkerRows(workflows=make(runner)), calls=(DECIDE,))
        workspace.features = (*workspace.features, feature)

    async with open_service(directory, clock=wall, log=log, before=add, environ=environ) as service:
        made[0].service = service
        yield made[0]
        assert await service.workspace.store.read(problems) == []
