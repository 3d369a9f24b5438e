"""*Re-index everything*, as a run: a few thousand messages at a time, with a check of what still waits."""

from __future__ import annotations

from typing import Final

from svc.workflow import Json, Run, Workflow

QUEUE: Final = "search.reindex.queue"
LEFT: Final = "search.reindex.left"
LOOK_AGAIN_S: Final = 2.0


async def reindex(run: Run, input: Json) -> Json:
    """Queue a batch, wait until it is done, and repeat to the last message."""
    after = ""
    while True:
        batch = await run.call(QUEUE, {"after": after}, name="queue a batch")
        done = {"done": batch["done"], "total": batch["total"]}
        while (await run.call(LEFT, done, name="count what waits"))["waiting"]:
            await run.sleep("wait", LOOK_AGAIN_S)
        if not batch["more"]:
            return {"messages": batch["total"]}
        after = batch["after"]


REINDEX: Final = Workflow(
    name="search.reindex", version=1, title="Re-index everything", code=reindex, calls=(QUEUE, LEFT)
)
