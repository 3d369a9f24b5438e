"""Queries of runs and their steps."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, cast

from svc.principal import Principal
from svc.runs.model import (
    SHOWN_CHARS,
    SHOWN_CHARS_OF_A_RUN,
    VERY_SHORT_CHARS,
    RunRow,
    ShownStep,
    StepRow,
    StepState,
)
from svc.runs.states import RunState
from svc.store import ReadTx, texts_of
from svc.store.transaction import Row
from svc.workflow import StepKind

_RUN: Final = """
    id, workflow, version, title, user_id, state, input, parent_id, parent_key, calls, capabilities, epoch,
    token_digest, worker, due_at, fruitless
"""
_STEP: Final = """
    key, parent_key, name, kind, state, input, input_digest, output, error, attempts, due_at, started_at, ended_at
"""


def run(tx: ReadTx, run_id: str) -> RunRow | None:
    found = tx.one(f"select {_RUN} from runs where id = :id", id=run_id)
    return _run(found) if found else None


def due(tx: ReadTx, *, state: RunState, limit: int) -> list[RunRow]:
    """The runs in that state that are due, the longest due first."""
    rows = tx.all(
        f"select {_RUN} from runs where due_at <= :now and state = :state order by due_at, id limit :limit",
        now=tx.now,
        state=state,
        limit=limit,
    )
    return [_run(row) for row in rows]


def due_before(tx: ReadTx, instant: int) -> list[str]:
    """The ids of queued runs that were due before this instant."""
    return [
        cast(str, found)
        for (found,) in tx.all(
            "select id from runs where due_at < :instant and state = 'queued' limit 1000", instant=instant
        )
    ]


def is_any_due(tx: ReadTx, states: Collection[RunState]) -> bool:
    """Whether any run in one of these states is due."""
    return any(due(tx, state=state, limit=1) for state in states)


def next_due(tx: ReadTx) -> int | None:
    """When the dispatcher must look again."""
    return cast("int | None", tx.value("select min(due_at) from runs where due_at is not null"))


def held_by(tx: ReadTx, worker: str) -> list[RunRow]:
    """The running runs that this worker was given."""
    return [_run(row) for row in tx.all(f"select {_RUN} from runs where worker = :w and state = 'running'", w=worker)]


def held_at(tx: ReadTx, url: str) -> list[RunRow]:
    """The running runs that were given to any start of the worker at this address."""
    rows = tx.all(
        f"select {_RUN} from runs where state = 'running' and worker >= :first and worker < :last",
        first=f"{url}#",
        last=f"{url}$",
    )
    return [_run(row) for row in rows]


def children(tx: ReadTx, run_id: str) -> list[RunRow]:
    return [_run(row) for row in tx.all(f"select {_RUN} from runs where parent_id = :id order by id", id=run_id)]


def steps(tx: ReadTx, run_id: str) -> tuple[StepRow, ...]:
    """The steps in the order in which they began."""
    rows = tx.all(f"select {_STEP} from run_steps where run_id = :id order by position, key", id=run_id)
    return tuple(_step(row) for row in rows)


def shown_steps(tx: ReadTx, run_id: str) -> list[ShownStep]:
    """The steps in the order in which they began, cut so that one answer can hold them."""
    rows = tx.all(
        """
        with sized as (
            select *, sum(min(length(input), :most) + min(length(coalesce(output, '')), :most))
                over (order by position, key) as so_far
            from run_steps where run_id = :id
        ), bounded as (select *, iif(so_far > :most_of_all, :little, :most) as room from sized)
        select key, parent_key, name, kind, state, substr(input, 1, room), input_digest, substr(output, 1, room), error,
            attempts, due_at, started_at, ended_at,
            iif(length(input) > room, length(cast(input as blob)), null),
            iif(length(output) > room, length(cast(output as blob)), null)
        from bounded order by position, key
        """,
        id=run_id,
        most=SHOWN_CHARS,
        most_of_all=SHOWN_CHARS_OF_A_RUN,
        little=VERY_SHORT_CHARS,
    )
    return [
        ShownStep(step=_step(row), input_bytes=cast("int | None", row[13]), output_bytes=cast("int | None", row[14]))
        for row in rows
    ]


def step(tx: ReadTx, run_id: str, key: str) -> StepRow | None:
    found = tx.one(f"select {_STEP} from run_steps where run_id = :id and key = :key", id=run_id, key=key)
    return _step(found) if found else None


def failed(tx: ReadTx, principal: Principal, *, workflow: str | None, limit: int) -> list[str]:
    """The ids of the caller's own failed runs that no other run waits for, the newest first."""
    rows = tx.all(
        """
        select id from runs
        where state = 'failed' and parent_id is null and (:everything or user_id is :user_id)
            and (:workflow is null or workflow = :workflow)
        order by created_at desc, id desc limit :limit
        """,
        everything=int(principal.sees_everything),
        user_id=principal.user_id,
        workflow=workflow,
        limit=limit,
    )
    return [str(run_id) for (run_id,) in rows]


def depth(tx: ReadTx, run_id: str | None) -> int:
    """How many runs are above a child of this run."""
    found = 0
    while run_id is not None:
        found += 1
        run_id = cast("str | None", tx.value("select parent_id from runs where id = :id", id=run_id))
    return found


def mine(tx: ReadTx, principal: Principal, run_id: str) -> RunRow | None:
    """The run, if the principal is its owner and may read its contents."""
    found = run(tx, run_id)
    return found if found and owns(principal, found.user_id) else None


def owns(principal: Principal, user_id: str | None) -> bool:
    return principal.sees_everything or (user_id is not None and user_id == principal.user_id)


def _run(row: Row) -> RunRow:
    return RunRow(
        id=cast(str, row[0]),
        workflow=cast(str, row[1]),
        version=cast(int, row[2]),
        title=cast(str, row[3]),
        user_id=cast("str | None", row[4]),
        state=cast(RunState, row[5]),
        input=cast(str, row[6]),
        parent_id=cast("str | None", row[7]),
        parent_key=cast("str | None", row[8]),
        calls=texts_of(cast(str, row[9])),
        capabilities=texts_of(cast(str, row[10])),
        epoch=cast(int, row[11]),
        token_digest=cast("bytes | None", row[12]),
        worker=cast("str | None", row[13]),
        due_at=cast("int | None", row[14]),
        fruitless=cast(int, row[15]),
    )


def _step(row: Row) -> StepRow:
    return StepRow(
        key=cast(str, row[0]),
        parent_key=cast("str | None", row[1]),
        name=cast(str, row[2]),
        kind=cast(StepKind, row[3]),
        state=cast(StepState, row[4]),
        input=cast(str, row[5]),
        input_digest=cast(bytes, row[6]),
        output=cast("str | None", row[7]),
        error=cast("str | None", row[8]),
        attempts=cast(int, row[9]),
        due_at=cast("int | None", row[10]),
        started_at=cast(int, row[11]),
        ended_at=cast("int | None", row[12]),
    )


def active(tx: ReadTx, workflow: str) -> str | None:
    """The id of a run of that workflow that has not ended."""
    return cast(
        "str | None",
        tx.value(
            "select id from runs where workflow = :workflow and state in ('queued', 'running', 'waiting') limit 1",
            workflow=workflow,
        ),
    )


def progress_of(tx: ReadTx, run_id: str) -> tuple[int, int] | None:
    """How much is done, of how much; ``None`` where the run has not reported it."""
    found = tx.one("select done, total from runs where id = :id and total is not null", id=run_id)
    return (cast(int, found[0]), cast(int, found[1])) if found else None
