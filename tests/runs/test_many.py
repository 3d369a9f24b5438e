"""Ten thousand runs that wait for their time, and a clock that jumps."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import trio

from svc.clock import DAY_MS, HOUR_MS, VirtualClock
from svc.runs import Dispatcher, leasing
from svc.store import Tx
from svc.workflow import Json, Run
from tests.recorded_log import RecordedLog
from tests.runs.workflow_runner import WorkflowRunner, runner_with, workflow

MANY: Final = 10_000


def make(runner: WorkflowRunner) -> Any:
    async def code(run: Run, input: Json) -> Json:
        await run.sleep("an hour", 3_600)
        return "awake"

    return (workflow("nap", code),)


def sleepers(tx: Tx) -> None:
    tx.run_many(
        """
        insert into runs (id, workflow, version, title, state, input, calls, capabilities, due_at, created_at)
        values (:id, 'nap', 1, 'Nap', 'waiting', 'null', '[]', '[]', :due_at, :now)
        """,
        [{"id": f"run_{number}", "due_at": tx.now + DAY_MS + number, "now": tx.now} for number in range(MANY)],
    )


@pytest.mark.thorough
async def test_a_look_at_ten_thousand_sleepers_touches_only_the_one_that_is_due(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with runner_with(tmp_path, wall, log, make) as runner:
        store = runner.service.workspace.store
        await store.write(sleepers)
        assert await store.write(leasing.make_due) == 0
        run_id = await runner.begin("nap")
        await runner.until(run_id, "waiting")
        wall.offset_ms += HOUR_MS
        assert (await runner.until(run_id, "done"))["output"] == "awake"
        states = await runner.service.rows("select state, count(*) from runs group by state order by state")
        assert states == [("done", 1), ("waiting", MANY)]
        for sql in (
            "select id from runs where due_at <= 1 and state = 'waiting' order by due_at, id limit 20",
            "select min(due_at) from runs where due_at is not null",
        ):
            plan = await runner.service.rows(f"explain query plan {sql}")
            assert "runs_due" in plan[0][3], plan


@pytest.mark.thorough
async def test_all_that_are_due_at_once_are_given_out_in_turn(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with runner_with(tmp_path, wall, log, make) as runner:
        ids = [await runner.begin("nap") for _ in range(45)]
        for run_id in ids:
            await runner.until(run_id, "waiting")
        wall.offset_ms += HOUR_MS
        for run_id in ids:
            await runner.until(run_id, "done")


async def test_a_clock_that_jumps_ahead_and_back_wakes_nobody_twice(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with runner_with(tmp_path, wall, log, make) as runner:
        run_id = await runner.begin("nap")
        await runner.until(run_id, "waiting")
        wall.offset_ms -= 10 * 365 * DAY_MS
        await trio.sleep(60)
        assert (await runner.get(run_id))["state"] == "waiting"
        wall.offset_ms += 20 * 365 * DAY_MS
        assert (await runner.until(run_id, "done"))["output"] == "awake"
        wall.offset_ms -= 10 * 365 * DAY_MS
        runner.service.workspace.service(Dispatcher).wake.call()
        await trio.sleep(60)
        assert [step["attempts"] for step in (await runner.get(run_id))["steps"]] == [1]
