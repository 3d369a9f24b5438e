"""What a worker tells about a run that it holds, each in one transaction. What an earlier lease says is refused."""

from __future__ import annotations

from svc.errors import Forbidden
from svc.runs import queries
from svc.runs.actions import encoded
from svc.runs.model import RunError, RunRow
from svc.runs.moving import fail, move
from svc.runs.tokens import RunGrant
from svc.store import Tx
from svc.workflow import Json


def held(tx: Tx, grant: RunGrant) -> RunRow:
    """The run that the grant is for, while it is that worker's. Raises :class:`svc.errors.Forbidden`."""
    row = queries.run(tx, grant.run_id)
    if row is None or row.epoch != grant.epoch:
        raise Forbidden("Another worker has this run now.", data={"reason": "unknown_run"})
    return row


def finish(tx: Tx, grant: RunGrant, *, output: Json) -> None:
    row = held(tx, grant)
    if row.state == "running":
        move(tx, row, "finish", output=encoded(output))


def end_badly(tx: Tx, grant: RunGrant, *, error: RunError) -> None:
    row = held(tx, grant)
    if row.state == "running":
        fail(tx, row, error)


def wait(tx: Tx, grant: RunGrant, *, keys: list[str]) -> None:
    """The run waits for these steps; where one of them is there already it goes on at once."""
    row = held(tx, grant)
    if row.state != "running":
        return
    found = [queries.step(tx, row.id, key) for key in keys]
    dates = [step.due_at for step in found if step is not None and step.due_at is not None]
    waiting = move(tx, row, "wait", due_at=min(dates, default=None), worker=None)
    if any(step is None or step.state != "waiting" for step in found):
        move(tx, waiting, "wake", due_at=tx.now, fruitless=0)


def let_go(tx: Tx, grant: RunGrant) -> None:
    """The worker ends, or was told to stop the run: unless it was cancelled, another takes it."""
    row = held(tx, grant)
    if row.state == "running":
        move(tx, row, "lose", due_at=tx.now, worker=None, fruitless=max(row.fruitless - 1, 0))
