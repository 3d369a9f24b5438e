"""What the answers of runs say besides the run itself, so that a page can lead from one to the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from svc.clock import VirtualClock
from svc.workflow import Json, Run
from tests.recorded_log import RecordedLog
from tests.runs.bench import Bench, bench_of, workflow


async def test_a_step_names_the_run_that_it_waits_for_and_that_run_names_those_above_it(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(bench: Bench) -> Any:
        async def ask(run: Run, input: Json) -> Json:
            return await run.approval("send", tool="mail.send", summary="Send it.", input={"n": 1}, expires_s=60)

        async def middle(run: Run, input: Json) -> Json:
            return await run.child("ask", "ask")

        async def top(run: Run, input: Json) -> Json:
            await run.step("first", bench.outside)
            return await run.child("middle", "middle")

        return (workflow("top", top), workflow("middle", middle), workflow("ask", ask))

    async with bench_of(tmp_path, wall, log, make) as bench:
        top = await bench.until(await bench.begin("top"), "waiting")
        assert top["ancestors"] == []
        assert [step["childId"] for step in top["steps"]] == [None, top["children"][0]["id"]]
        middle = await bench.until(top["children"][0]["id"], "waiting")
        ask = await bench.until(middle["steps"][0]["childId"], "waiting")
        assert ask["ancestors"] == [{"id": one["id"], "title": one["title"]} for one in (top, middle)]
        (approval,) = await bench.service.query("approvals.list")
        assert (approval["runId"], approval["stepId"]) == (ask["id"], ask["steps"][0]["id"])
