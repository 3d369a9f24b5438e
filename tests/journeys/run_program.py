"""``python -m tests.journeys.run_program serve``: the whole program, with a workflow of 20 steps that dies at a place.

A place is a number: which step, and whether before its effect, after it, while it is decided, or after that was
committed. The process that comes to it first kills itself with ``kill -9``, once: a file remembers that it did.
What a step does outside is a line in a file; what a call does is an event in the database. Where the worker is a
process of its own, it is started for the same home.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Final

from svc import app, runs
from svc.cli import main
from svc.feature import Feature
from svc.protocol import Nothing, Procedure, Wire
from svc.runs import Dispatcher
from svc.store import Tx
from svc.worker import process
from svc.worker.halves import HALVES
from svc.worker.rows import WorkerRows
from svc.workflow import Call, Caller, Json, Run, Workflow
from svc.workspace import RequestContext, Workspace

STEPS: Final = 20
MOMENTS: Final = ("before", "after", "deciding", "committed")
PLACES: Final = STEPS * len(MOMENTS)
WORKPLACE: Final = Path(os.environ.get("SVC_HOME", "/nowhere")) / "worker"
"""The one folder that both planes may write, also where they are two processes."""


class Noted(Wire, frozen=True):
    number: int


class Begun(Wire, frozen=True):
    run_id: str


def here(number: int, moment: str) -> None:
    """Die, if this is the place and nobody has died yet."""
    died = WORKPLACE / "died"
    order = WORKPLACE / "place"
    if order.exists() and int(order.read_text()) == number * len(MOMENTS) + MOMENTS.index(moment) and not died.exists():
        died.touch()
        os.kill(os.getpid(), signal.SIGKILL)


async def twenty(run: Run, input: Json) -> Json:
    for number in range(STEPS):

        async def outside(key: str, number: int = number) -> Json:
            here(number, "before")
            with (WORKPLACE / "effects").open("a") as file:
                file.write(f"{key.partition(':')[2]}\n")
            here(number, "after")
            return number

        await run.step(f"step {number}", outside)
        await run.call("test.note", {"number": number}, name=f"note {number}")
    return STEPS


def note(workspace: Workspace, tx: Tx, caller: Caller, wanted: Noted) -> Json:
    tx.record(type="test.noted", payload={"number": wanted.number}, audience=None, device_id="test")
    here(wanted.number, "deciding")
    _last.append(wanted.number)
    return wanted.number


def committed(workspace: Workspace) -> None:
    here(_last[-1], "committed")


_last: list[int] = []


WORKFLOW: Final = Workflow(name="test.twenty", version=1, title="Twenty steps", code=twenty, calls=("test.note",))


async def begin(context: RequestContext, wanted: Nothing) -> Begun:
    run_id = await context.workspace.store.write(runs.begin, context.principal.user_id, WORKFLOW, None)
    context.workspace.service(Dispatcher).wake.call()
    return Begun(run_id=run_id)


ROWS: Final = WorkerRows(workflows=(WORKFLOW,))
SCRATCH: Final = Feature(
    name="scratch",
    summary="",
    worker=ROWS,
    calls=(Call(name="test.note", summary="", input=Noted, decide=note, then=committed),),
    procedures=(
        Procedure(
            name="test.begin",
            kind="mutation",
            access="authenticated",
            input=Nothing,
            output=Begun,
            call=begin,
            summary="Begin the run.",
        ),
    ),
)

if __name__ == "__main__":
    app.FEATURES = (*app.FEATURES, SCRATCH)  # type: ignore[misc]
    sys.argv[0] = "svc"
    sys.exit(process.main((*HALVES, ROWS)) if "--role=worker" in sys.argv else main())
