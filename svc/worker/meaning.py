"""Makes all mail and pages of a person searchable by meaning, as a run: a few thousand items at a time, with a check of
what still waits. Finished work stays: a run that was cancelled, or ended at a ceiling, goes on from there when started
again."""

from __future__ import annotations

from typing import Final

from svc.worker.rows import WorkerRows
from svc.workflow import Json, Run, StepFailed, Workflow

QUEUE: Final = "meaning.index.queue"
LEFT: Final = "meaning.index.left"
WHOLE: Final = "meaning.index.whole"
FIRST_LOOK_S: Final = 2.0
LONGEST_LOOK_S: Final = 20.0


async def index(run: Run, input: Json) -> Json:
    place: Json = {"kind": "mail", "after": ""}
    while True:
        batch = await run.call(QUEUE, place, name="queue a batch")
        done = {"done": batch["done"], "total": batch["total"]}
        pause_s = FIRST_LOOK_S
        while True:
            left = await run.call(LEFT, done, name="count what waits")
            if left["problem"]:
                raise StepFailed(left["problem"], type="NoVectors")
            if not left["waiting"]:
                break
            await run.sleep("wait", pause_s)
            pause_s = min(2 * pause_s, LONGEST_LOOK_S)
        if batch["next"] is None:
            await run.call(WHOLE, {"form": (input or {}).get("form")}, name="search in it")
            return {"items": batch["total"]}
        place = batch["next"]


INDEX: Final = Workflow(
    name="meaning.index",
    version=1,
    title="Make mail and pages findable by meaning",
    code=index,
    calls=(QUEUE, LEFT, WHOLE),
)
ROWS: Final = WorkerRows(workflows=(INDEX,))
