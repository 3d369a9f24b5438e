"""Actions on runs, each in one transaction: begin, count tokens, cancel, retry."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from svc.errors import Conflict, Invalid, NotFound
from svc.ids import derived_id, new_id
from svc.principal import Principal
from svc.runs import queries
from svc.runs.model import (
    KEEP_ENDED_MS,
    MAX_DEPTH,
    MAX_JSON_BYTES,
    RunError,
    RunRow,
    StepRow,
)
from svc.runs.moving import cancel_tree, encoded_error, move, note, tell_all
from svc.runs.states import CANCELLABLE, RETRYABLE
from svc.store import Tx, json_array
from svc.workflow import Json, Workflow

PRUNE_ROWS: Final = 200

Workflows = Mapping[str, Workflow]
"""The workflows of all features, by name."""


@dataclass(frozen=True, kw_only=True)
class Parent:
    """The step of another run that waits for this run."""

    run_id: str
    key: str


def begin(
    tx: Tx,
    user_id: str | None,
    workflow: Workflow,
    input: Json,
    *,
    title: str | None = None,
    parent: Parent | None = None,
    device_id: str | None = None,
    capabilities: Sequence[str] = (),
) -> str:
    """Queue a run. It is granted what its workflow declares, and ``capabilities``. The id of a child is derived from
    its parent's step. ``device_id``: the device that asked for it; it may not approve the run's actions.
    """
    run_id = derived_id("run", parent.run_id, parent.key) if parent else new_id("run")
    if queries.depth(tx, parent.run_id if parent else None) >= MAX_DEPTH:
        raise Invalid(f"Runs may begin others {MAX_DEPTH} deep.")
    return _queue(
        tx,
        run_id,
        workflow=workflow.name,
        version=workflow.version,
        title=title or workflow.title,
        user_id=user_id,
        input=encoded(input),
        calls=workflow.calls,
        capabilities=(*workflow.capabilities, *capabilities),
        parent=parent,
        device_id=device_id,
    )


def grant_more(tx: Tx, run_id: str, capabilities: Iterable[str]) -> None:
    """Grant more capabilities. Only in the transaction that begins the run: they never change later."""
    row = queries.run(tx, run_id)
    assert row is not None, "it was just begun"
    tx.run(
        "update runs set capabilities = :capabilities where id = :id and state = 'queued' and epoch = 0",
        capabilities=json_array(sorted({*row.capabilities, *capabilities})),
        id=run_id,
    )


def _queue(
    tx: Tx,
    run_id: str,
    *,
    workflow: str,
    version: int,
    title: str,
    user_id: str | None,
    input: str,
    calls: Sequence[str],
    capabilities: Sequence[str],
    parent: Parent | None,
    device_id: str | None,
) -> str:
    """``input`` is JSON. An existing run with this id does not change."""
    tx.run(
        """
        insert into runs (id, workflow, version, title, user_id, state, input, parent_id, parent_key, calls,
            capabilities, due_at, created_at, device_id)
        values (:id, :workflow, :version, :title, :user_id, 'queued', :input, :parent_id, :parent_key, :calls,
            :capabilities, :now, :now, :device_id)
        on conflict (id) do nothing
        """,
        id=run_id,
        workflow=workflow,
        version=version,
        title=title,
        user_id=user_id,
        input=input,
        parent_id=parent.run_id if parent else None,
        parent_key=parent.key if parent else None,
        calls=json_array(calls),
        capabilities=json_array(capabilities),
        now=tx.now,
        device_id=device_id,
    )
    row = _existing(tx, run_id)
    tell_all(tx, row)
    note(tx, row, "run.queued")
    return run_id


def encoded(value: Json) -> str:
    """The value as JSON. Raises :class:`svc.errors.Invalid` if it is not JSON, or too long."""
    try:
        data = msgspec.json.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"A run keeps JSON only: {error}") from None
    if len(data) > MAX_JSON_BYTES:
        raise Invalid(f"A run keeps values of at most {MAX_JSON_BYTES} bytes of JSON.")
    return data.decode()


def input_digest(value: str) -> bytes:
    return hashlib.sha256(value.encode()).digest()


def count_tokens(tx: Tx, run_id: str, *, input_tokens: int | None, output_tokens: int | None) -> None:
    """Add the tokens of one model call. An unknown count is not zero: it changes nothing."""
    for column, count in (("input_tokens", input_tokens), ("output_tokens", output_tokens)):
        if count is not None:
            tx.run(f"update runs set {column} = coalesce({column}, 0) + :count where id = :id", count=count, id=run_id)


def progress(tx: Tx, run_id: str, *, done: int, total: int) -> None:
    """Set the progress of a run that its owner sees."""
    tx.run("update runs set done = :done, total = :total where id = :id", done=done, total=total, id=run_id)


# Actions of a person


def cancel(tx: Tx, principal: Principal, run_id: str) -> list[str]:
    """Stop the run and all its descendants; returns their ids. Admins may stop any run, and still see nothing of its
    contents.
    """
    row = queries.run(tx, run_id)
    if row is None or not (queries.owns(principal, row.user_id) or principal.is_admin):
        raise NotFound("There is no such run.")
    if row.state not in CANCELLABLE:
        raise Conflict(f"This run is {row.state}.")
    tree = _tree(tx, row)
    cancel_tree(tx, row)
    return tree


def _tree(tx: Tx, row: RunRow) -> list[str]:
    return [row.id, *(one for child in queries.children(tx, row.id) for one in _tree(tx, child))]


def retry(tx: Tx, principal: Principal, run_id: str) -> RunRow:
    """Continue at the first step that is not done. Failed steps are tried again, counted from zero."""
    row = queries.mine(tx, principal, run_id)
    if row is None:
        raise NotFound("There is no such run.")
    if row.state not in RETRYABLE:
        raise Conflict(f"This run is {row.state}.")
    if row.parent_id is not None:
        raise Conflict("This run was begun by another: retry that one.", data={"parentId": row.parent_id})
    _forget_failed(tx, row)
    return move(tx, row, "retry", due_at=tx.now, fruitless=0, error=None, ended_at=None)


def retry_failed(tx: Tx, principal: Principal, run_ids: Iterable[str]) -> int:
    """Continue those of these runs that are still failed. Returns how many."""
    rows = (queries.mine(tx, principal, run_id) for run_id in run_ids)
    still = [row for row in rows if row is not None and row.state == "failed"]
    for row in still:
        retry(tx, principal, row.id)
    return len(still)


def close_undone(tx: Tx, row: RunRow) -> None:
    """End a failed run whose effects were undone. It is not among the failed runs that are retried together."""
    move(tx, row, "undo", error=encoded_error(RunError(type="Undone", message="What it did was undone.")))


def _forget_failed(tx: Tx, row: RunRow) -> None:
    """Delete the steps that are not done. A child whose failure failed a step is retried instead."""
    for step in queries.steps(tx, row.id):
        if step.state == "done":
            continue
        if step.kind == "child":
            _retry_child(tx, row, step)
        else:
            tx.run("delete from approvals where run_id = :id and key = :key", id=row.id, key=step.key)
            tx.run("delete from run_attempts where run_id = :id and key = :key", id=row.id, key=step.key)
            tx.run("delete from run_steps where run_id = :id and key = :key", id=row.id, key=step.key)


def _retry_child(tx: Tx, row: RunRow, step: StepRow) -> None:
    child = queries.run(tx, derived_id("run", row.id, step.key))
    if child is None or child.state not in RETRYABLE:
        return
    _forget_failed(tx, child)
    move(tx, child, "retry", due_at=tx.now, fruitless=0, error=None, ended_at=None)
    tx.run(
        """
        update run_steps set state = 'waiting', error = null, ended_at = null where run_id = :id and key = :key
        """,
        id=row.id,
        key=step.key,
    )


def fork(tx: Tx, row: RunRow, *, before: str, device_id: str | None) -> str:
    """A new run of the same workflow, with the results of the steps that began before the step ``before``. Returns its
    id.
    """
    step = queries.step(tx, row.id, before)
    if step is None or step.kind != "llm":
        raise NotFound("There is no such call of a model in this run.")
    run_id = _queue(
        tx,
        new_id("run"),
        workflow=row.workflow,
        version=row.version,
        title=row.title,
        user_id=row.user_id,
        input=row.input,
        calls=row.calls,
        capabilities=row.capabilities,
        parent=None,
        device_id=device_id,
    )
    tx.run(
        """
        insert into run_steps (run_id, key, position, parent_key, name, kind, state, input, input_digest, output, error,
            attempts, due_at, started_at, ended_at)
        select :new_id, key, position, parent_key, name, kind, state, input, input_digest, output, error,
            attempts, due_at, started_at, ended_at
        from run_steps where run_id = :id and state <> 'waiting'
            and position < (select position from run_steps where run_id = :id and key = :key)
        """,
        new_id=run_id,
        id=row.id,
        key=before,
    )
    return run_id


def hand_over(tx: Tx, user_id: str) -> None:
    """Give the runs begun before there was any user to the first admin."""
    tx.run("update runs set user_id = :user_id where user_id is null", user_id=user_id)
    tx.run("update approvals set user_id = :user_id where user_id is null", user_id=user_id)


def prune(tx: Tx) -> int:
    """Delete runs that ended long ago. Returns how many."""
    return tx.run(
        """
        delete from runs where id in (
            select id from runs where ended_at < :oldest and state in ('done', 'failed', 'cancelled') limit :limit
        )
        """,
        oldest=tx.now - KEEP_ENDED_MS,
        limit=PRUNE_ROWS,
    )


def _existing(tx: Tx, run_id: str) -> RunRow:
    row = queries.run(tx, run_id)
    assert row is not None, "it was just written"
    return row
