"""Leases: runs whose time has come are made due, and due runs are leased to workers."""

from __future__ import annotations

from collections.abc import Mapping

from svc.runs import queries
from svc.runs.model import LEASE_MS, LEASED_AT_ONCE, MAX_FRUITLESS, ON_ITS_WAY_MS, Lease, RunError, RunRow, StepRow
from svc.runs.moving import encoded_error, fail, move, settle_step
from svc.runs.tokens import digest, new_token
from svc.store import Tx


def make_due(tx: Tx) -> int:
    """Handle what has become due: timers, expired approvals, expired leases. Returns how many runs moved."""
    waiting = queries.due(tx, state="waiting", limit=LEASED_AT_ONCE)
    for row in waiting:
        _settle_due_steps(tx, row)
        move(tx, row, "wake", due_at=tx.now, fruitless=0)
    lost = queries.due(tx, state="running", limit=LEASED_AT_ONCE)
    for row in lost:
        move(tx, row, "lose", due_at=tx.now, worker=None)
    return len(waiting) + len(lost)


def _settle_due_steps(tx: Tx, row: RunRow) -> None:
    """A timer is done. An expired approval fails. A step that waits for its next try only loses its date."""
    for step in queries.steps(tx, row.id):
        if step.state != "waiting" or step.due_at is None or step.due_at > tx.now:
            continue
        if step.kind == "timer":
            settle_step(tx, row.id, step.key, output="null", error=None)
        elif step.kind == "approval":
            _expire(tx, row, step)
        else:
            tx.run("update run_steps set due_at = null where run_id = :id and key = :key", id=row.id, key=step.key)


def _expire(tx: Tx, row: RunRow, step: StepRow) -> None:
    tx.run(
        """
        update approvals set state = 'expired', decided_at = :now
        where run_id = :id and key = :key and state = 'open'
        """,
        now=tx.now,
        id=row.id,
        key=step.key,
    )
    error = RunError(type="Expired", message="Nobody decided in time.")
    settle_step(tx, row.id, step.key, output=None, error=encoded_error(error))


def lease(tx: Tx, worker: str, *, limit: int = LEASED_AT_ONCE) -> list[Lease]:
    """Lease queued runs to a worker, each with its own token and the results so far."""
    leases = []
    for row in queries.due(tx, state="queued", limit=limit):
        if row.fruitless >= MAX_FRUITLESS:
            fail(
                tx,
                row,
                RunError(
                    type="Stuck",
                    message=f"It was begun {MAX_FRUITLESS} times without getting further. What happened stands in the "
                    "log of the worker. Retry lets it go on.",
                ),
            )
            continue
        token = new_token(row.id)
        leased = move(
            tx,
            row,
            "lease",
            epoch=row.epoch + 1,
            token_digest=digest(token),
            worker=worker,
            due_at=tx.now + LEASE_MS,
            fruitless=row.fruitless + 1,
        )
        tx.run("update runs set started_at = coalesce(started_at, :now) where id = :id", now=tx.now, id=row.id)
        leases.append(Lease(run=leased, token=token, steps=queries.steps(tx, row.id)))
    return leases


def renew(tx: Tx, worker: str, held: Mapping[str, int]) -> list[str]:
    """Renew the leases of the runs that the worker holds (run ids with their epochs). Its other runs are queued again
    if they were leased a while ago; a run that is still on its way to the worker is not lost. Returns the runs to drop.
    """
    for row in queries.held_by(tx, worker):
        if held.get(row.id) == row.epoch:
            tx.run("update runs set due_at = :at where id = :id", at=tx.now + LEASE_MS, id=row.id)
        elif row.due_at is not None and row.due_at < tx.now + LEASE_MS - ON_ITS_WAY_MS:
            move(tx, row, "lose", due_at=tx.now, worker=None)
    rows = {run_id: queries.run(tx, run_id) for run_id in held}
    return [
        run_id for run_id, row in rows.items() if row is None or row.state != "running" or row.epoch != held[run_id]
    ]


def lose_predecessors(tx: Tx, worker: str, *, url: str) -> int:
    """Queue again what an earlier start of the worker at this address held. Returns how many runs."""
    rows = [row for row in queries.held_at(tx, url) if row.worker != worker]
    for row in rows:
        move(tx, row, "lose", due_at=tx.now, worker=None)
    return len(rows)


def lose_of(tx: Tx, worker: str) -> None:
    """Queue again all runs of a worker that is gone."""
    for row in queries.held_by(tx, worker):
        move(tx, row, "lose", due_at=tx.now, worker=None)


def give_back(tx: Tx, lease: Lease) -> None:
    """The worker did not take it: queue it again."""
    row = queries.run(tx, lease.run.id)
    if row is not None and row.state == "running" and row.epoch == lease.run.epoch:
        move(tx, row, "lose", due_at=tx.now, worker=None, fruitless=max(row.fruitless - 1, 0))
