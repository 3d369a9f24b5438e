"""The procedures of runs and approvals. Each feature begins the runs of its own work."""

from __future__ import annotations

from typing import Final, Literal

from svc.clock import rfc3339
from svc.protocol import NOTHING, Nothing, Procedure
from svc.runs import actions, approvals, queries, shown
from svc.runs.dispatch import Dispatcher
from svc.runs.wire import (
    ApprovalOut,
    DecideInput,
    IdInput,
    ListInput,
    RetriedOut,
    RetryFailedInput,
    RunDetail,
    RunsOut,
    StepIdInput,
    StepOut,
)
from svc.workspace import RequestContext

MAX_RETRIED: Final = 1_000
"""Failed runs that are retried at once. Beyond: the newest ones, and the answer says that there are more."""
RETRIED_AT_ONCE: Final = 50
"""Runs in one transaction, so that other writers get their turn."""


async def _list(context: RequestContext, wanted: ListInput) -> RunsOut:
    return await context.workspace.store.read(shown.list_runs, context.principal, wanted=wanted)


async def _get(context: RequestContext, wanted: IdInput) -> RunDetail:
    return await context.workspace.store.read(shown.get_run, context.principal, run_id=wanted.id)


async def _step(context: RequestContext, wanted: StepIdInput) -> StepOut:
    return await context.workspace.store.read(
        shown.get_step, context.principal, run_id=wanted.id, step_id=wanted.step_id
    )


async def _cancel(context: RequestContext, wanted: IdInput) -> Nothing:
    stopped = await context.workspace.store.write(actions.cancel, context.principal, wanted.id)
    await context.workspace.service(Dispatcher).stop(stopped)
    return NOTHING


async def _retry(context: RequestContext, wanted: IdInput) -> Nothing:
    await context.workspace.store.write(actions.retry, context.principal, wanted.id)
    context.workspace.service(Dispatcher).wake.call()
    return NOTHING


async def _retry_failed(context: RequestContext, wanted: RetryFailedInput) -> RetriedOut:
    """The list is fixed first: a run that fails anew is not retried again."""
    store, retried = context.workspace.store, 0
    found = await store.read(queries.failed, context.principal, workflow=wanted.workflow, limit=MAX_RETRIED + 1)
    for start in range(0, min(len(found), MAX_RETRIED), RETRIED_AT_ONCE):
        some = found[start : min(start + RETRIED_AT_ONCE, MAX_RETRIED)]
        retried += await store.write(actions.retry_failed, context.principal, some)
    context.workspace.service(Dispatcher).wake.call()
    return RetriedOut(retried=retried, more=len(found) > MAX_RETRIED)


async def _approvals(context: RequestContext, wanted: Nothing) -> list[ApprovalOut]:
    found = await context.workspace.store.read(approvals.open_ones, context.principal)
    return [
        ApprovalOut(
            id=one.id,
            run_id=one.run_id,
            step_id=one.key,
            tool=one.tool,
            summary=one.summary,
            input=shown.raw(one.input),
            requested_at=rfc3339(one.requested_at),
            expires_at=rfc3339(one.expires_at),
            card=shown.raw(one.card),
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
    _row("runs.get", "query", IdInput, RunDetail, _get, "One run of the caller, with its steps; long values are cut."),
    _row("runs.step", "query", StepIdInput, StepOut, _step, "One step of a run, with all of its input and output."),
    _row("runs.cancel", "mutation", IdInput, Nothing, _cancel, "Stop a run, and what it began."),
    _row("runs.retry", "mutation", IdInput, Nothing, _retry, "Let a run go on at its first step that is not done."),
    _row(
        "runs.retryFailed",
        "mutation",
        RetryFailedInput,
        RetriedOut,
        _retry_failed,
        "Let all of the caller's failed runs go on, such as after a ceiling was raised.",
    ),
    _row("approvals.list", "query", Nothing, list[ApprovalOut], _approvals, "What waits for the caller's decision."),
    _row("approvals.decide", "mutation", DecideInput, Nothing, _decide, "Let it through, changed or not, or decline."),
)
