"""The procedures of runs and approvals. Runs are begun by the features whose work they are."""

from __future__ import annotations

from typing import Annotated, Final, Literal, cast

import msgspec

from svc.clock import Millis, rfc3339, rfc3339_or_none
from svc.errors import Invalid, NotFound
from svc.ids import derived_id
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure, Wire
from svc.runs import actions, approvals, queries
from svc.runs.dispatch import Dispatcher
from svc.runs.model import MAX_NAME_CHARS, PAGE_ROWS, StepRow, StepState
from svc.runs.states import RunState
from svc.store import ReadTx
from svc.store.transaction import Row
from svc.workflow import Json, StepKind
from svc.workspace import RequestContext

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARS)]


class ErrorOut(Wire, frozen=True):
    type: str
    message: str


class Usage(Wire, frozen=True):
    """``None``: the vendor did not say."""

    input_tokens: int | None
    output_tokens: int | None


class Progress(Wire, frozen=True):
    done: int
    total: int


class RunOut(Wire, frozen=True):
    """``due_at``: when a waiting run goes on by itself; ``owner`` is a user id. ``mine``: its contents may be read."""

    id: str
    workflow: str
    title: str
    state: RunState
    owner: str | None
    mine: bool
    created_at: str
    started_at: str | None
    ended_at: str | None
    due_at: str | None
    parent_id: str | None
    progress: Progress | None


class StepOut(Wire, frozen=True):
    """``child_id``: the run that a step of the kind ``child`` waits for."""

    id: str
    parent_id: str | None
    name: str
    kind: StepKind
    state: StepState
    attempts: int
    started_at: str
    ended_at: str | None
    due_at: str | None
    input: msgspec.Raw
    output: msgspec.Raw
    error: ErrorOut | None
    child_id: str | None


class Ancestor(Wire, frozen=True):
    id: str
    title: str


class RunDetail(RunOut, frozen=True):
    """``ancestors``: the runs above it, the outermost first."""

    error: ErrorOut | None
    usage: Usage
    input: msgspec.Raw
    output: msgspec.Raw
    ancestors: tuple[Ancestor, ...]
    children: tuple[RunOut, ...]
    steps: tuple[StepOut, ...]


class ListInput(Wire, frozen=True):
    state: RunState | None = None
    workflow: Id | None = None
    cursor: Annotated[str, msgspec.Meta(max_length=200)] | None = None


class RunsOut(Wire, frozen=True):
    runs: tuple[RunOut, ...]
    next_cursor: str | None


class IdInput(Wire, frozen=True):
    id: Id


class ApprovalOut(Wire, frozen=True):
    """``step_id``: the step of the run that waits for it."""

    id: str
    run_id: str
    step_id: str
    tool: str
    summary: str
    input: msgspec.Raw
    requested_at: str
    expires_at: str


class DecideInput(Wire, frozen=True):
    """``input`` replaces what was asked for."""

    id: Id
    approve: bool
    input: Json | msgspec.UnsetType = msgspec.UNSET


_RUN: Final = """
    id, workflow, title, state, user_id, created_at, started_at, ended_at, parent_id, done, total, due_at
"""


def list_runs(tx: ReadTx, principal: Principal, *, wanted: ListInput) -> RunsOut:
    """The newest first. Admins see everybody's, without their contents."""
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
    children = tx.all(f"select {_RUN} from runs where parent_id = :id order by created_at, id", id=run_id)
    return RunDetail(
        **msgspec.structs.asdict(_run_out(row, principal)),
        error=_error(cast("str | None", row[12])),
        usage=Usage(input_tokens=cast("int | None", row[13]), output_tokens=cast("int | None", row[14])),
        input=_raw(cast(str, row[15])),
        output=_raw(cast("str | None", row[16])),
        ancestors=_ancestors(tx, cast("str | None", row[8])),
        children=tuple(_run_out(child, principal) for child in children),
        steps=tuple(_step_out(run_id, step) for step in queries.steps(tx, run_id)),
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


def _step_out(run_id: str, step: StepRow) -> StepOut:
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
        input=_raw(step.input),
        output=_raw(step.output),
        error=_error(step.error),
        child_id=derived_id("run", run_id, step.key) if step.kind == "child" else None,
    )


def _raw(text: str | None) -> msgspec.Raw:
    return msgspec.Raw((text or "null").encode())


def _error(text: str | None) -> ErrorOut | None:
    return None if text is None else msgspec.json.decode(text, type=ErrorOut)


async def _list(context: RequestContext, wanted: ListInput) -> RunsOut:
    return await context.workspace.store.read(list_runs, context.principal, wanted=wanted)


async def _get(context: RequestContext, wanted: IdInput) -> RunDetail:
    return await context.workspace.store.read(get_run, context.principal, run_id=wanted.id)


async def _cancel(context: RequestContext, wanted: IdInput) -> Nothing:
    stopped = await context.workspace.store.write(actions.cancel, context.principal, wanted.id)
    await context.workspace.service(Dispatcher).stop(stopped)
    return NOTHING


async def _retry(context: RequestContext, wanted: IdInput) -> Nothing:
    await context.workspace.store.write(actions.retry, context.principal, wanted.id)
    context.workspace.service(Dispatcher).wake.call()
    return NOTHING


async def _approvals(context: RequestContext, wanted: Nothing) -> list[ApprovalOut]:
    found = await context.workspace.store.read(approvals.open_ones, context.principal)
    return [
        ApprovalOut(
            id=one.id,
            run_id=one.run_id,
            step_id=one.key,
            tool=one.tool,
            summary=one.summary,
            input=_raw(one.input),
            requested_at=rfc3339(one.requested_at),
            expires_at=rfc3339(one.expires_at),
        )
        for one in found
    ]


async def _decide(context: RequestContext, wanted: DecideInput) -> Nothing:
    await context.workspace.store.write(
        approvals.decide, context.principal, approval_id=wanted.id, approve=wanted.approve, input=wanted.input
    )
    context.workspace.service(Dispatcher).wake.call()
    return NOTHING


def _row(
    name: str, kind: Literal["query", "mutation"], input: type, output: object, call: object, summary: str
) -> Procedure[RequestContext]:
    return Procedure(
        name=name,
        kind=kind,
        access="authenticated",
        input=input,
        output=output,
        call=call,  # type: ignore[arg-type]  # each takes what its input decodes to
        summary=summary,
    )


PROCEDURES: Final = (
    _row("runs.list", "query", ListInput, RunsOut, _list, "The caller's runs, the newest first; admins see all."),
    _row("runs.get", "query", IdInput, RunDetail, _get, "One run of the caller, with its steps."),
    _row("runs.cancel", "mutation", IdInput, Nothing, _cancel, "Stop a run, and what it began."),
    _row("runs.retry", "mutation", IdInput, Nothing, _retry, "Let a run go on at its first step that is not done."),
    _row("approvals.list", "query", Nothing, list[ApprovalOut], _approvals, "What waits for the caller's decision."),
    _row("approvals.decide", "mutation", DecideInput, Nothing, _decide, "Let it through, changed or not, or decline."),
)
