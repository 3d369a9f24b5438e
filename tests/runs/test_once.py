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
from tests.runs.bench import Bench, bench_of, workflow


def pays(bench: Bench) -> Any:
    async def code(run: Run, input: Json) -> Json:
        try:
            return [await run.step("pay", bench.outside, input={"euros": 5}, once=True) for _ in range(2)]
        except StepFailed as error:
            return error.type

    return (workflow("pays", code),)


async def question(bench: Bench, run_id: str) -> str:
    """The one that the run waits for; its id."""
    await bench.until(run_id, "waiting")
    (approval,) = await bench.service.query("approvals.list")
    assert approval["input"] == {"euros": 5}
    assert approval["summary"].startswith("It was begun, and whether it was done is not known.")
    return str(approval["id"])


async def test_what_is_done_is_done_once_and_no_one_is_asked(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with bench_of(tmp_path, wall, log, pays) as bench:
        found = await bench.until(await bench.begin("pays"), "done")
        assert found["output"] == ["pay", "pay#2"]
        assert bench.did == ["pay", "pay#2"]
        assert [step["id"] for step in found["steps"]] == ["pay/begun", "pay", "pay#2/begun", "pay#2"]


@pytest.mark.parametrize(
    ("approve", "output", "did"), [(True, ["pay", "pay#2"], ["pay", "pay", "pay#2"]), (False, "Declined", ["pay"])]
)
async def test_what_raised_is_in_doubt_and_done_again_only_when_a_person_says_so(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, approve: bool, output: Json, did: list[str]
) -> None:
    async with bench_of(tmp_path, wall, log, pays) as bench:
        bench.failures["pay"] = 1
        run_id = await bench.begin("pays")
        approval = await question(bench, run_id)
        await bench.service.mutate("approvals.decide", id=approval, approve=approve)
        assert (await bench.until(run_id, "done"))["output"] == output
        assert bench.did == did


async def test_where_its_worker_died_in_it_a_person_is_asked_each_time(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(bench: Bench) -> Any:
        async def code(run: Run, input: Json) -> Json:
            return await run.step("pay", bench.endless, input={"euros": 5}, once=True)

        return (workflow("pays", code),)

    async with bench_of(tmp_path, wall, log, make) as bench:
        run_id = await bench.begin("pays")
        for times in (1, 2):
            with trio.fail_after(600):
                await bench.stuck.wait()
            bench.stuck = trio.Event()
            await bench.change("update runs set due_at = 1 where id = :id", id=run_id)
            bench.service.workspace.service(Dispatcher).wake.call()
            approval = await question(bench, run_id)
            assert bench.did == ["pay"] * times
            await bench.service.mutate("approvals.decide", id=approval, approve=times == 1)
        found = await bench.until(run_id, "failed")
        assert found["error"]["type"] == "Declined"
        assert bench.did == ["pay", "pay"]


async def test_what_has_failed_for_good_is_in_no_doubt(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    def make(bench: Bench) -> Any:
        async def refused(key: str) -> Json:
            raise Fatal("The account is closed.")

        async def code(run: Run, input: Json) -> Json:
            return await run.step("pay", refused, once=True)

        return (workflow("pays", code),)

    async with bench_of(tmp_path, wall, log, make) as bench:
        found = await bench.until(await bench.begin("pays"), "failed")
        assert found["error"] == {"type": "Fatal", "message": "The account is closed."}
