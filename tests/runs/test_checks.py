"""What `svc doctor` and the settings say of runs: that they find a worker, or what to start."""

from __future__ import annotations

from pathlib import Path

import trio

from svc.clock import VirtualClock
from svc.runs import Dispatcher
from tests.recorded_log import RecordedLog
from tests.runs.bench import Bench
from tests.runs.test_routes import hostile


async def said(bench: Bench) -> tuple[str, str, str]:
    checks = (await bench.service.mutate("health.check"))["checks"]
    row = next(row for row in checks if row["name"] == "runs")
    return row["state"], row["detail"], row["remedy"]


async def test_runs_that_no_worker_takes_are_told_with_what_to_start(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        assert (await said(worker.bench))[0] == "ok"
        await worker.bench.begin("empty")
        await trio.sleep(180)
        state, detail, remedy = await said(worker.bench)
        assert (state, detail) == ("warning", "2 runs wait, and no worker is there")
        assert remedy == "Start one: svc serve --role=worker"


async def test_a_worker_that_is_there_is_counted(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        dispatcher = worker.bench.service.workspace.service(Dispatcher)
        await dispatcher.meet(url="http://127.0.0.1:1", instance="i", version="0", held={})
        assert (await said(worker.bench))[:2] == ("ok", "No run waits for a worker; 1 there")
