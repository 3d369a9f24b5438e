"""What a worker reports about a run that it holds, each in one transaction. Reports of earlier leases are refused."""

from __future__ import annotations

import random
from dataclasses import dataclass

import msgspec

from svc.clock import Millis
from svc.errors import Conflict, Forbidden
from svc.runs import queries
from svc.runs.actions import encoded, input_digest
from svc.runs.model import (
    MAX_ATTEMPTS,
    MAX_STEPS,
    RETRIES,
    RunError,
    RunRow,
    StepRow,
    StepState,
)
from svc.runs.moving import encoded_error, fail, move, settle_step, tell
from svc.runs.tokens import RunGrant
from svc.store import Tx
from svc.worker.terms import DIVERGED, diverged
from svc.workflow import Caller, Json, StepKind, Waiting


@dataclass(frozen=True, kw_only=True)
class Told:
    """One try of a step, as a worker reports it. ``retryable``: whether another try of a failed step may help, and
    ``after_ms`` in which time at the earliest.
    """

    key: str
    parent_key: str | None
    name: str
    kind: StepKind
    attempt: int
    input: Json
    output: Json
    error: RunError | None
    retryable: bool
    after_ms: Millis
    started_at: Millis
    ended_at: Millis


class StepAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The result for the step. ``retry_at``: when to try again. ``stop``: the run has ended, so the worker must stop
    it.
    """

    state: StepState
    retry_at: Millis | None = None
    stop: bool = False


class CallAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """``waiting``: the result comes later, and the worker may drop the run until then."""

    result: msgspec.Raw = msgspec.Raw(b"null")
    waiting: bool = False
    due_at: Millis | None = None
    error: msgspec.Raw | None = None


def held(tx: Tx, grant: RunGrant) -> RunRow:
    """The run of the grant, while that worker holds it. Raises :class:`svc.errors.Forbidden`."""
    row = queries.run(tx, grant.run_id)
    if row is None or row.epoch != grant.epoch:
        raise Forbidden("Another worker has this run now.", data={"reason": "unknown_run"})
    return row


# Steps


def store_step(tx: Tx, grant: RunGrant, told: Told, *, rng: random.Random) -> StepAnswer:
    """Keep the result of a try, once. The same try reported again gets the same answer as the first time.

    The result is kept even if the run was cancelled meanwhile, because the work was done. It has no further effect.
    """
    row = held(tx, grant)
    earlier = tx.value(
        "select answer from run_attempts where run_id = :id and key = :key and attempt = :attempt",
        id=row.id,
        key=told.key,
        attempt=told.attempt,
    )
    if earlier is not None:
        return msgspec.json.decode(earlier, type=StepAnswer)
    if row.state not in {"running", "cancelled"}:
        raise Forbidden(f"This run is {row.state}.", data={"reason": "unknown_run"})
    answer = _store_try(tx, row, told, rng)
    tx.run(
        """
        insert into run_attempts (run_id, key, attempt, state, error, answer, started_at, ended_at)
        select :id, :key, :attempt, :state, :error, :answer, :started_at, :ended_at
        where exists (select 1 from run_steps where run_id = :id and key = :key)
        """,
        id=row.id,
        key=told.key,
        attempt=told.attempt,
        state="done" if told.error is None else "failed",
        error=encoded_error(told.error) if told.error else None,
        answer=msgspec.json.encode(answer).decode(),
        started_at=told.started_at,
        ended_at=told.ended_at,
    )
    tell(tx, row)
    return answer


def _store_try(tx: Tx, row: RunRow, told: Told, rng: random.Random) -> StepAnswer:
    text = encoded(told.input)
    before = queries.step(tx, row.id, told.key)
    if before is None and (full := _no_room(tx, row)) is not None:
        return _over(tx, row, full)
    if before is not None and (before.kind != told.kind or before.input_digest != input_digest(text)):
        return _over(tx, row, RunError(type=DIVERGED, message=diverged(before.key)))
    if before is not None and before.state != "waiting":
        return StepAnswer(state=before.state, stop=row.state != "running")
    error = told.error
    output = None
    if error is None:
        output = encoded(told.output)
    state: StepState = "done" if error is None else "failed"
    retry_at = None
    if error is not None and told.retryable and told.attempt < MAX_ATTEMPTS and row.state == "running":
        state = "waiting"
        longest_ms = round(RETRIES.cap_s * 1_000)
        retry_at = tx.now + max(round(RETRIES.pause_s(told.attempt, rng) * 1_000), min(told.after_ms, longest_ms))
    _write_step(
        tx,
        row,
        StepRow(
            key=told.key,
            parent_key=told.parent_key,
            name=told.name,
            kind=told.kind,
            state=state,
            input=text,
            input_digest=input_digest(text),
            output=output,
            error=encoded_error(error) if error else None,
            attempts=told.attempt,
            due_at=retry_at,
            started_at=told.started_at,
            ended_at=None if state == "waiting" else told.ended_at,
        ),
    )
    if state == "done":
        tx.run("update runs set fruitless = 0 where id = :id and fruitless > 0", id=row.id)
    return StepAnswer(state=state, retry_at=retry_at, stop=row.state != "running")


def _no_room(tx: Tx, row: RunRow) -> RunError | None:
    """Why the run may not have another step."""
    if tx.value("select count(*) from run_steps where run_id = :id", id=row.id) < MAX_STEPS:
        return None
    message = f"It has more than {MAX_STEPS} steps. Longer work belongs into runs that it begins."
    return RunError(type="TooLong", message=message)


def _over(tx: Tx, row: RunRow, error: RunError) -> StepAnswer:
    """End the run with this error: no step may follow."""
    _end(tx, row, error)
    return StepAnswer(state="failed", stop=True)


def _end(tx: Tx, row: RunRow, error: RunError) -> None:
    if row.state == "running":
        fail(tx, row, error)


def _write_step(tx: Tx, row: RunRow, step: StepRow) -> None:
    tx.run(
        """
        insert into run_steps (run_id, key, position, parent_key, name, kind, state, input, input_digest, output, error,
            attempts, due_at, started_at, ended_at)
        values (:run_id, :key, (select count(*) from run_steps where run_id = :run_id), :parent_key, :name, :kind,
            :state, :input, :input_digest, :output, :error, :attempts, :due_at, :started_at, :ended_at)
        on conflict (run_id, key) do update set state = excluded.state, output = excluded.output,
            error = excluded.error, attempts = excluded.attempts, due_at = excluded.due_at, ended_at = excluded.ended_at
        """,
        run_id=row.id,
        key=step.key,
        parent_key=step.parent_key,
        name=step.name,
        kind=step.kind,
        state=step.state,
        input=step.input,
        input_digest=step.input_digest,
        output=step.output,
        error=step.error,
        attempts=step.attempts,
        due_at=step.due_at,
        started_at=step.started_at,
        ended_at=step.ended_at,
    )


# Calls


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A call to the trusted plane, as a worker sends it."""

    key: str
    parent_key: str | None
    name: str
    input: Json


def known_answer(tx: Tx, grant: RunGrant, asked: Asked, *, kinds: frozenset[StepKind]) -> CallAnswer | None:
    """The answer already kept for the same key. Raises :class:`svc.errors.Conflict` if that key asked for something
    else.
    """
    row = held(tx, grant)
    step = queries.step(tx, row.id, asked.key)
    if step is None:
        if row.state != "running":
            raise Forbidden(f"This run is {row.state}.", data={"reason": "unknown_run"})
        return None
    if step.kind not in kinds or step.input_digest != input_digest(encoded(asked.input)):
        raise Conflict(diverged(step.key), data={"reason": DIVERGED})
    if step.kind == "timer" and step.state == "waiting" and (step.due_at or 0) <= tx.now:
        settle_step(tx, row.id, step.key, output="null", error=None)
        return CallAnswer()
    return _answer(step)


def keep_answer(tx: Tx, grant: RunGrant, asked: Asked, result: Json | Waiting) -> CallAnswer:
    """Keep the answer of a call in the call's own transaction, so that it is never decided again."""
    row = held(tx, grant)
    waits = isinstance(result, Waiting)
    text = encoded(asked.input)
    if (full := _no_room(tx, row)) is not None:
        raise Conflict(full.message, data={"reason": full.type})
    step = StepRow(
        key=asked.key,
        parent_key=asked.parent_key,
        name=asked.name,
        kind=result.kind if isinstance(result, Waiting) else "tool",
        state="waiting" if waits else "done",
        input=text,
        input_digest=input_digest(text),
        output=None if waits else encoded(result),
        error=None,
        attempts=1,
        due_at=result.due_at if isinstance(result, Waiting) else None,
        started_at=tx.now,
        ended_at=None if waits else tx.now,
    )
    _write_step(tx, row, step)
    if not waits:
        tx.run("update runs set fruitless = 0 where id = :id and fruitless > 0", id=row.id)
    tell(tx, row)
    return _answer(step)


def caller(grant: RunGrant, asked: Asked) -> Caller:
    return Caller(run_id=grant.run_id, key=asked.key, principal=grant.principal)


def _answer(step: StepRow) -> CallAnswer:
    if step.state == "waiting":
        return CallAnswer(waiting=True, due_at=step.due_at if step.kind == "timer" else None)
    if step.error is not None:
        return CallAnswer(error=msgspec.Raw(step.error.encode()))
    return CallAnswer(result=msgspec.Raw((step.output or "null").encode()))


# The run itself


def finish(tx: Tx, grant: RunGrant, *, output: Json) -> None:
    row = held(tx, grant)
    if row.state == "running":
        move(tx, row, "finish", output=encoded(output))


def end_badly(tx: Tx, grant: RunGrant, *, error: RunError) -> None:
    _end(tx, held(tx, grant), error)


def wait(tx: Tx, grant: RunGrant, *, keys: list[str]) -> None:
    """Let the run wait for these steps. If one of them is settled already, the run continues at once."""
    row = held(tx, grant)
    if row.state != "running":
        return
    found = [queries.step(tx, row.id, key) for key in keys]
    dates = [step.due_at for step in found if step is not None and step.due_at is not None]
    waiting = move(tx, row, "wait", due_at=min(dates, default=None), worker=None)
    if any(step is None or step.state != "waiting" for step in found):
        move(tx, waiting, "wake", due_at=tx.now, fruitless=0)


def let_go(tx: Tx, grant: RunGrant) -> None:
    """The worker ends, or was told to stop the run. Another worker takes it, unless it was cancelled."""
    row = held(tx, grant)
    if row.state == "running":
        move(tx, row, "lose", due_at=tx.now, worker=None, fruitless=max(row.fruitless - 1, 0))
