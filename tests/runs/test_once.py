"""Work that must not happen twice: begun once, and again only where a person says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from svc.clock import VirtualClock
from svc.runs import Dispatcher
from svc.workflow import Fatal, Json, Run, StepFailed
from tests.recorded_log import RecordedLog
from tests.runs.workflow_runner import WorkflowRunner, runner_with, workflow


def pays(runner: WorkflowRunner) -> Any:
    async def code(run: Run, input: Json) -> Json:
        try:
            return [await run.step("pay", runner.outside, input={"euros": 5}, once=True) for _ in range(2)]
        except StepFailed as error:
            return error.type

    return (workflow("pays", code),)


async def question(runner: WorkflowRunner, run_id: str) -> str:
    """The one that the run waits for; its id."""
    await runner.until(run_id, "waiting")
    (approval,) = await runner.service.query("approvals.list")
    assert approval["input"] == {"euros": 5}
    assert approval["summary"].startswith("It was begun, and whether it was done is not known.")
    return str(approval["id"])


async def test_what_is_done_is_done_once_and_no_one_is_asked(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with runner_with(tmp_path, wall, log, pays) as runner:
        found = await runner.until(await runner.begin("pays"), "done")
        assert found["output"] == ["pay", "pay#2"]
        assert runner.did == ["pay", "pay#2"]
        assert [step["id"] for step in found["steps"]] == ["pay/begun", "pay", "pay#2/begun", "pay#2"]


@pytest.mark.parametrize(
    ("approve", "output", "did"), [(True, ["pay", "pay#2"], ["pay", "pay", "pay#2"]), (False, "Declined", ["pay"])]
)
async def test_what_raised_is_in_doubt_and_done_again_only_when_a_person_says_so(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, approve: bool, output: Json, did: list[str]
) -> None:
    async with runner_with(tmp_path, wall, log, pays) as runner:
        runner.failures["pay"] = 1
        run_id = await runner.begin("pays")
        approval = await question(runner, run_id)
        await runner.service.mutate("approvals.decide", id=approval, approve=approve)
        assert (await runner.until(run_id, "done"))["output"] == output
        assert runner.did == did


async def test_where_its_worker_died_in_it_a_person_is_asked_each_time(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            return await run.step("pay", runner.endless, input={"euros": 5}, once=True)

        return (workflow("pays", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        run_id = await runner.begin("pays")
        for times in (1, 2):
            with trio.fail_after(600):
                await runner.stuck.wait()
            runner.stuck = trio.Event()
            await runner.change("update runs set due_at = 1 where id = :id", id=run_id)
            runner.service.workspace.service(Dispatcher).wake.call()
            approval = await question(runner, run_id)
            assert runner.did == ["pay"] * times
            await runner.service.mutate("approvals.decide", id=approval, approve=times == 1)
        found = await runner.until(run_id, "failed")
        assert found["error"]["type"] == "Declined"
        assert runner.did == ["pay", "pay"]


async def test_what_has_failed_for_good_is_in_no_doubt(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def refused(key: str) -> Json:
            raise Fatal("The account is closed.")

        async def code(run: Run, input: Json) -> Json:
            return await run.step("pay", refused, once=True)

        return (workflow("pays", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        found = await runner.until(await runner.begin("pays"), "failed")
        assert found["error"] == {"type": "Fatal", "message": "The account is closed."}
