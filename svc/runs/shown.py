"""Runs as they are shown: lists in pages, and one run with its steps."""

from __future__ import annotations

from typing import Final, cast

import msgspec

from svc.clock import Millis, rfc3339, rfc3339_or_none
from svc.errors import Invalid, NotFound
from svc.ids import derived_id
from svc.principal import Principal
from svc.runs import approvals, queries
from svc.runs.model import PAGE_ROWS, ShownStep
from svc.runs.states import RunState
from svc.runs.wire import Ancestor, ErrorOut, ListInput, Progress, RunDetail, RunOut, RunsOut, StepOut, Usage
from svc.store import ReadTx
from svc.store.transaction import Row

_RUN: Final = """
    id, workflow, title, state, user_id, created_at, started_at, ended_at, parent_id, done, total, due_at
"""


def list_runs(tx: ReadTx, principal: Principal, *, wanted: ListInput) -> RunsOut:
    """The newest first. Admins see all runs, without their contents."""
    before, last_id = _place(wanted.cursor)
    rows = tx.all(
        f"""
        select {_RUN} from runs
        where (:everything or user_id is :user_id) and (:state is null or state = :state)
            and (:workflow is null or workflow = :workflow) and (parent_id is null or :workflow is not null)
            and (:before is null or (created_at, id) < (:before, :last_id))
        order by created_at desc, id desc limit :limit
        """,
        everything=int(principal.sees_everything or principal.is_admin),
        user_id=principal.user_id,
        state=wanted.state,
        workflow=wanted.workflow,
        before=before,
        last_id=last_id,
        limit=PAGE_ROWS + 1,
    )
    shown = rows[:PAGE_ROWS]
    cursor = f"{shown[-1][5]}:{shown[-1][0]}" if len(rows) > PAGE_ROWS else None
    return RunsOut(runs=tuple(_run_out(row, principal) for row in shown), next_cursor=cursor)


def get_run(tx: ReadTx, principal: Principal, *, run_id: str) -> RunDetail:
    row = tx.one(
        f"select {_RUN}, error, input_tokens, output_tokens, input, output from runs where id = :id", id=run_id
    )
    if row is None or not queries.owns(principal, cast("str | None", row[4])):
        raise NotFound("There is no such run.")
    changed = {one.key for one in approvals.of_run(tx, run_id) if one.changed}
    children = tx.all(f"select {_RUN} from runs where parent_id = :id order by created_at, id", id=run_id)
    return RunDetail(
        **msgspec.structs.asdict(_run_out(row, principal)),
        error=_error(cast("str | None", row[12])),
        usage=Usage(input_tokens=cast("int | None", row[13]), output_tokens=cast("int | None", row[14])),
        input=raw(cast(str, row[15])),
        output=raw(cast("str | None", row[16])),
        ancestors=_ancestors(tx, cast("str | None", row[8])),
        children=tuple(_run_out(child, principal) for child in children),
        steps=tuple(
            _step_out(run_id, shown, changed=shown.step.key in changed) for shown in queries.shown_steps(tx, run_id)
        ),
    )


def get_step(tx: ReadTx, principal: Principal, *, run_id: str, step_id: str) -> StepOut:
    """One step with all of its input and output."""
    step = queries.step(tx, run_id, step_id) if queries.mine(tx, principal, run_id) else None
    if step is None:
        raise NotFound("There is no such step.")
    asked = next((one for one in approvals.of_run(tx, run_id) if one.key == step_id), None)
    return _step_out(
        run_id,
        ShownStep(step=step, input_bytes=None, output_bytes=None),
        changed=asked is not None and asked.changed,
        card=None if asked is None else asked.card,
    )


def _ancestors(tx: ReadTx, run_id: str | None) -> tuple[Ancestor, ...]:
    found: list[Ancestor] = []
    while run_id is not None and (row := tx.one("select title, parent_id from runs where id = :id", id=run_id)):
        found.append(Ancestor(id=run_id, title=cast(str, row[0])))
        run_id = cast("str | None", row[1])
    return tuple(reversed(found))


def _place(cursor: str | None) -> tuple[Millis | None, str]:
    if cursor is None:
        return None, ""
    at, _, run_id = cursor.partition(":")
    if not at.isascii() or not at.isdecimal() or len(at) > len("1793088000000000") or not run_id:
        raise Invalid("This cursor is none of ours.")
    return int(at), run_id


def _run_out(row: Row, principal: Principal) -> RunOut:
    (run_id, workflow, title, state, user_id, created_at, started_at, ended_at, parent_id, done, total, due_at) = row[
        :12
    ]
    return RunOut(
        id=run_id,
        workflow=workflow,
        title=title,
        state=cast(RunState, state),
        owner=user_id,
        mine=queries.owns(principal, user_id),
        created_at=rfc3339(created_at),
        started_at=rfc3339_or_none(started_at),
        ended_at=rfc3339_or_none(ended_at),
        due_at=rfc3339_or_none(due_at) if state == "waiting" else None,
        parent_id=parent_id,
        progress=None if total is None else Progress(done=done or 0, total=total),
    )


def _step_out(run_id: str, shown: ShownStep, *, changed: bool, card: str | None = None) -> StepOut:
    step = shown.step
    return StepOut(
        id=step.key,
        parent_id=step.parent_key,
        name=step.name,
        kind=step.kind,
        state=step.state,
        attempts=step.attempts,
        started_at=rfc3339(step.started_at),
        ended_at=rfc3339_or_none(step.ended_at),
        due_at=rfc3339_or_none(step.due_at),
        input=raw(step.input) if shown.input_bytes is None else _text(step.input),
        output=raw(step.output) if shown.output_bytes is None else _text(step.output),
        input_bytes=shown.input_bytes,
        output_bytes=shown.output_bytes,
        error=_error(step.error),
        child_id=derived_id("run", run_id, step.key) if step.kind == "child" else None,
        changed=changed,
        card=raw(card),
    )


def raw(text: str | None) -> msgspec.Raw:
    return msgspec.Raw((text or "null").encode())


def _text(beginning: str | None) -> msgspec.Raw:
    """A cut value as a JSON text, because half a JSON value is not JSON."""
    return msgspec.Raw(msgspec.json.encode(beginning))


def _error(text: str | None) -> ErrorOut | None:
    return None if text is None else msgspec.json.decode(text, type=ErrorOut)
