"""What `svc doctor` and the settings say of runs: that they find a worker, or what to start."""

from __future__ import annotations

from pathlib import Path

import trio

from svc.clock import VirtualClock
from svc.runs import Dispatcher, leasing
from tests.recorded_log import RecordedLog
from tests.runs.test_routes import hostile
from tests.runs.workflow_runner import WorkflowRunner, runner_with


async def said(runner: WorkflowRunner) -> tuple[str, str, str]:
    checks = (await runner.service.mutate("health.check"))["checks"]
    row = next(row for row in checks if row["name"] == "runs")
    return row["state"], row["detail"], row["remedy"]


async def test_runs_that_no_worker_takes_are_told_with_what_to_start(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        assert (await said(worker.runner))[0] == "ok"
        await worker.runner.begin("empty")
        await trio.sleep(180)
        state, detail, remedy = await said(worker.runner)
        assert (state, detail) == ("warning", "2 runs wait, and no worker is there")
        assert remedy == "Start one: svc serve --role=worker"


async def test_a_worker_plane_that_ended_is_found_gone_and_what_it_held_is_queued_again(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        service = worker.runner.service
        dispatcher = service.workspace.service(Dispatcher)
        assert dispatcher.workers() == ()
        await dispatcher.meet(url="memory:worker", instance="gone", version="0", held={})
        await service.workspace.store.write(leasing.give_back, worker.lease)
        dispatcher.wake.call()
        with trio.fail_after(3_600):
            while dispatcher.workers():  # noqa: ASYNC110  virtual time
                await trio.sleep(1)
        await worker.runner.until(worker.lease.run.id, "queued")
        assert "subsystem.crashed" not in log.events()


async def test_only_a_worker_that_does_not_answer_is_forgotten(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with runner_with(tmp_path, wall, log, lambda runner: ()) as runner:
        dispatcher = runner.service.workspace.service(Dispatcher)
        with trio.fail_after(60):
            while not dispatcher.workers():  # noqa: ASYNC110  virtual time
                await trio.sleep(1)
        await dispatcher.meet(url="http://127.0.0.1:1", instance="dead", version="0", held={})
        await dispatcher.forget_dead()
        assert [worker.url for worker in dispatcher.workers()] == ["memory:worker"]


async def test_a_worker_that_is_there_is_counted(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        dispatcher = worker.runner.service.workspace.service(Dispatcher)
        await dispatcher.meet(url="http://127.0.0.1:1", instance="i", version="0", held={})
        assert (await said(worker.runner))[:2] == ("ok", "No run waits for a worker; 1 there")
