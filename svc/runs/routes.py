"""The internal routes between workers and the trusted plane: handshakes, calls and results of runs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec

from svc import __version__
from svc.clock import Millis
from svc.errors import Conflict, Forbidden, Invalid, NotFound
from svc.protocol import Request, Response, Route, Wire, json_response
from svc.runs import telling
from svc.runs.dispatch import Dispatcher
from svc.runs.model import MAX_KEY_CHARS, MAX_NAME_CHARS, RunError
from svc.runs.telling import Asked, CallAnswer, StepAnswer, Told
from svc.runs.tokens import RunGrant, grant_of
from svc.runs.waits import ALWAYS_GRANTED
from svc.settings import WORKER_URL
from svc.store import Tx
from svc.worker.terms import CALL_PATH, FLOW_PATH, HANDSHAKE_PATH, PROTOCOL, STEP_PATH
from svc.workflow import Call, Json, StepKind
from svc.workspace import RequestContext, Workspace

MAX_BODY_BYTES: Final = 1024 * 1024
MAX_HELD: Final = 1_000
CALL_KINDS: Final = frozenset[StepKind]({"tool", "timer", "approval", "child"})

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARS)]
Key = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_KEY_CHARS)]
Instant = Annotated[int, msgspec.Meta(ge=0)] | Annotated[datetime, msgspec.Meta(tz=True)]
"""Milliseconds since the epoch, or RFC 3339."""
T = TypeVar("T")


class HandshakeInput(Wire, frozen=True):
    """``runs``: the runs that the worker holds, by id with their epochs. ``instance`` is new with each start of the
    worker.
    """

    protocol: int
    role: Literal["worker"]
    version: Name = ""
    control_url: Annotated[str, msgspec.Meta(max_length=500)] | None = None
    instance: Annotated[str, msgspec.Meta(max_length=100)] = ""
    runs: dict[str, int] = {}


class CallInput(Wire, frozen=True):
    """``idempotency_key`` is the step's key."""

    call: Name
    idempotency_key: Key
    input: Json = None
    name: Name | None = None
    parent_id: Key | None = None


class ErrorIn(Wire, frozen=True):
    type: str = "Error"
    message: str = ""


class StepInput(Wire, frozen=True):
    run_id: Name
    step_id: Key
    attempt: Annotated[int, msgspec.Meta(ge=1, le=1_000)]
    state: Literal["done", "failed"]
    started_at: Instant
    ended_at: Instant
    output: Json = None
    error: ErrorIn | None = None
    retryable: bool = True
    after_ms: Annotated[int, msgspec.Meta(ge=0)] = 0
    name: Name | None = None
    kind: Literal["step", "tool", "llm"] = "step"
    parent_id: Key | None = None
    input: Json = None


class FlowInput(Wire, frozen=True):
    """``waits``: the keys of the steps that a waiting run waits for."""

    run_id: Name
    state: Literal["running", "waiting", "done", "failed", "cancelled"]
    output: Json = None
    error: ErrorIn | None = None
    waits: Annotated[list[str], msgspec.Meta(max_length=1_000)] = []


async def handshake(context: RequestContext, request: Request) -> Response:
    """A worker's handshake. A different protocol is refused; a different version of the program is only logged."""
    wanted = await _read(request, HandshakeInput)
    if wanted.protocol != PROTOCOL:
        raise Conflict(
            f"This plane speaks protocol {PROTOCOL} and the worker {wanted.protocol}: let both run the same version.",
            data={"reason": "protocol_mismatch", "ours": PROTOCOL, "yours": wanted.protocol},
        )
    if len(wanted.runs) > MAX_HELD:
        raise Invalid(f"A worker holds at most {MAX_HELD} runs.")
    workspace = context.workspace
    dispatcher = workspace.service(Dispatcher)
    dropped = await dispatcher.meet(
        url=wanted.control_url or workspace.config[WORKER_URL],
        instance=wanted.instance,
        version=wanted.version,
        held=wanted.runs,
    )
    return json_response(
        {
            "protocol": PROTOCOL,
            "version": __version__,
            "ready": not workspace.root.draining,
            "instance": dispatcher.instance,
            "drop": dropped,
        }
    )


async def call(context: RequestContext, request: Request) -> Response:
    """Decide a call of a feature and keep its answer, in one transaction. The same key gets the same answer again."""
    workspace = context.workspace
    grant = await grant_of(workspace, request)
    wanted = await _read(request, CallInput)
    if wanted.call not in grant.calls | ALWAYS_GRANTED:
        raise Forbidden(f"The run was not granted {wanted.call}.", data={"reason": "not_granted"})
    row = _row(workspace, wanted.call)
    try:
        given: Any = msgspec.convert(wanted.input if wanted.input is not None else {}, row.input)
    except msgspec.ValidationError as error:
        raise Invalid(f"{row.name}: {error}") from None
    asked = Asked(
        key=wanted.idempotency_key, parent_key=wanted.parent_id, name=wanted.name or wanted.call, input=wanted.input
    )
    answer = await workspace.store.write(_decide, workspace, grant, row, asked, given)
    row.then(workspace)
    workspace.service(Dispatcher).wake.call()
    return json_response(answer)


def _decide(tx: Tx, workspace: Workspace, grant: RunGrant, row: Call, asked: Asked, given: Any) -> CallAnswer:
    known = telling.known_answer(tx, grant, asked, kinds=CALL_KINDS)
    if known is not None:
        return known
    result = row.decide(workspace, tx, telling.caller(grant, asked), given)
    return telling.keep_answer(tx, grant, asked, result)


def _row(workspace: Workspace, name: str) -> Call:
    for feature in workspace.features:
        for row in feature.calls:
            if row.name == name:
                return row
    raise NotFound(f"There is no call {name}.")


async def step(context: RequestContext, request: Request) -> Response:
    """The result of one try of a step."""
    workspace = context.workspace
    grant = await grant_of(workspace, request)
    wanted = await _read(request, StepInput)
    _demand_own(grant, wanted.run_id)
    failed = wanted.state == "failed"
    given = wanted.error or ErrorIn(message="The step failed without a word.")
    told = Told(
        key=wanted.step_id,
        parent_key=wanted.parent_id,
        name=wanted.name or wanted.step_id,
        kind=wanted.kind,
        attempt=wanted.attempt,
        input=wanted.input,
        output=None if failed else wanted.output,
        error=RunError(type=given.type, message=given.message) if failed else None,
        retryable=wanted.retryable,
        after_ms=wanted.after_ms,
        started_at=_millis(wanted.started_at),
        ended_at=_millis(wanted.ended_at),
    )
    answer: StepAnswer = await workspace.store.write(telling.store_step, grant, told, rng=workspace.rng)
    return json_response(answer)


async def flow(context: RequestContext, request: Request) -> Response:
    """The state of the run as a whole."""
    workspace = context.workspace
    grant = await grant_of(workspace, request)
    wanted = await _read(request, FlowInput)
    _demand_own(grant, wanted.run_id)
    store = workspace.store
    if wanted.state == "waiting":
        await store.write(telling.wait, grant, keys=wanted.waits)
    elif wanted.state == "done":
        await store.write(telling.finish, grant, output=wanted.output)
    elif wanted.state == "failed":
        given = wanted.error or ErrorIn(message="The run failed without a word.")
        await store.write(telling.end_badly, grant, error=RunError(type=given.type, message=given.message))
    elif wanted.state == "cancelled":
        await store.write(telling.let_go, grant)
    workspace.service(Dispatcher).wake.call()
    return json_response({})


def _millis(instant: int | datetime) -> Millis:
    return instant if isinstance(instant, int) else round(instant.timestamp() * 1_000)


def _demand_own(grant: RunGrant, run_id: str) -> None:
    if grant.run_id != run_id:
        raise Forbidden("This token is another run's.", data={"reason": "unknown_run"})


async def _read(request: Request, shape: type[T]) -> T:
    try:
        return msgspec.convert(await request.read_json(MAX_BODY_BYTES), shape)
    except msgspec.ValidationError as error:
        raise Invalid(str(error)) from None


def _route(path: str, handle: Any, summary: str) -> Route[RequestContext]:
    return Route(method="POST", path=path, access="authenticated", handle=handle, summary=summary, listener="internal")


ROUTES: Final = (
    _route(HANDSHAKE_PATH, handshake, "A worker says that it is there, and which runs it holds."),
    _route(CALL_PATH, call, "A call of a feature for a run, decided once."),
    _route(STEP_PATH, step, "The result of a step."),
    _route(FLOW_PATH, flow, "Where a run stands."),
)
