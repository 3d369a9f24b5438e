"""The one function that moves a run from state to state, and the effects: news, its parent, its children."""

from __future__ import annotations

from typing import Final, TypedDict, Unpack

import msgspec

from svc.clock import Millis
from svc.principal import system
from svc.runs import queries
from svc.runs.model import MAX_ERROR_CHARS, TOPIC, RunError, RunRow
from svc.runs.states import CANCELLABLE, ENDED, RUN, RunEvent
from svc.store import ADMINS, Tx

DEVICE_ID: Final = system("runs").device_id
_TOLD: Final = frozenset[RunEvent]({"finish", "fail", "cancel"})


class Columns(TypedDict, total=False):
    """The columns that a transition writes beside the state. ``due_at`` becomes null unless it is given."""

    due_at: Millis | None
    epoch: int
    token_digest: bytes
    worker: str | None
    fruitless: int
    started_at: Millis
    ended_at: Millis | None
    output: str | None
    error: str | None


def move(tx: Tx, row: RunRow, event: RunEvent, **columns: Unpack[Columns]) -> RunRow:
    """Move ``row`` by the transition table. No other statement writes the state of a run.

    Raises :class:`svc.machine.ForbiddenTransition`.
    """
    to = RUN.after(row.state, event)
    written: Columns = {"due_at": None, **columns}
    if to in ENDED:
        written["ended_at"] = tx.now
    assignments = ", ".join(f"{column} = :{column}" for column in written)
    tx.run(f"update runs set state = :state, {assignments} where id = :id", state=to, id=row.id, **written)
    moved = queries.run(tx, row.id)
    assert moved is not None, "it was just written"
    tell_all(tx, moved)
    if event in _TOLD:
        note(tx, moved, f"run.{to}")
    if to in ENDED:
        _after_the_end(tx, moved, output=written.get("output"), error=written.get("error"))
    return moved


def tell(tx: Tx, row: RunRow) -> None:
    """Tell the owner's clients that the run has changed."""
    _tell(tx, row, row.user_id)


def tell_all(tx: Tx, row: RunRow) -> None:
    """Tell the admins too: their lists show the state of a run, and nothing of its steps."""
    tell(tx, row)
    if row.user_id is not None:
        _tell(tx, row, ADMINS)


def _tell(tx: Tx, row: RunRow, audience: str | None) -> None:
    payload = {"state": row.state, "workflow": row.workflow, "parentId": row.parent_id}
    tx.emit(topic=TOPIC, kind="run.changed", id=row.id, payload=payload, audience=audience)


def note(tx: Tx, row: RunRow, event: str) -> None:
    """Record an event of the run."""
    payload = {"runId": row.id, "workflow": row.workflow, "title": row.title}
    tx.record(type=event, payload=payload, audience=row.user_id, device_id=DEVICE_ID)


def encoded_error(error: RunError) -> str:
    cut = {"type": error.type[:MAX_ERROR_CHARS], "message": error.message[:MAX_ERROR_CHARS]}
    return msgspec.json.encode(cut).decode()


def cancel_tree(tx: Tx, row: RunRow) -> None:
    """Stop the run and all its descendants."""
    move(tx, row, "cancel", error=encoded_error(RunError(type="Cancelled", message="It was stopped.")))


def fail(tx: Tx, row: RunRow, error: RunError) -> None:
    move(tx, row, "fail", error=encoded_error(error))


def wake(tx: Tx, run_id: str) -> None:
    """Wake a waiting run. A run that is not waiting sees the news by itself."""
    row = queries.run(tx, run_id)
    if row is not None and row.state == "waiting":
        move(tx, row, "wake", due_at=tx.now, fruitless=0)


def end_timers(tx: Tx, run_id: str) -> None:
    """End the timers of a run now, because what it waits for has happened. Its worker may not have released it yet."""
    row = queries.run(tx, run_id)
    if row is None or row.state not in {"running", "waiting"}:
        return
    for step in queries.steps(tx, run_id):
        if step.state == "waiting" and step.kind == "timer":
            settle_step(tx, run_id, step.key, output="null", error=None)
    wake(tx, run_id)


def settle_step(tx: Tx, run_id: str, key: str, *, output: str | None, error: str | None) -> None:
    """Settle a waiting step: ``output`` is JSON, ``error`` is made by :func:`encoded_error`."""
    tx.run(
        """
        update run_steps set state = :state, output = :output, error = :error, due_at = null, ended_at = :now
        where run_id = :run_id and key = :key and state = 'waiting'
        """,
        state="done" if error is None else "failed",
        output=output,
        error=error,
        now=tx.now,
        run_id=run_id,
        key=key,
    )


def _after_the_end(tx: Tx, row: RunRow, *, output: str | None, error: str | None) -> None:
    tx.run(
        "update approvals set state = 'cancelled', decided_at = :now where run_id = :id and state = 'open'",
        now=tx.now,
        id=row.id,
    )
    for child in queries.children(tx, row.id):
        if child.state in CANCELLABLE:
            cancel_tree(tx, child)
    if row.parent_id is not None and row.parent_key is not None:
        settle_step(tx, row.parent_id, row.parent_key, output=output, error=error)
        wake(tx, row.parent_id)
