"""Runs from their beginning to their end, through both planes, on virtual time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import trio

from svc.clock import DAY_MS, VirtualClock
from svc.principal import Principal
from svc.runs import procedures, queries
from svc.workflow import Fatal, Json, Later, Run, StepFailed
from tests.recorded_log import RecordedLog
from tests.runs.workflow_runner import WorkflowRunner, runner_with, workflow
from tests.support.service import RpcError


async def test_a_run_goes_step_by_step_and_shows_each(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            first = await run.step("first", runner.outside, input={"n": 1})
            second = await run.call("test.decide", {"name": input["name"]})
            again = await run.step("first", runner.outside)
            return [first, second, again]

        return (workflow("walk", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        run_id = await runner.begin("walk", {"name": "x"})
        found = await runner.until(run_id, "done", "failed")
        assert found["state"] == "done", found
        assert found["output"] == ["first", {"decided": "x"}, "first#2"]
        assert [(step["id"], step["kind"], step["state"]) for step in found["steps"]] == [
            ("first", "step", "done"),
            ("test.decide", "tool", "done"),
            ("first#2", "step", "done"),
        ]
        assert found["steps"][0]["input"] == {"n": 1}
        assert runner.did == ["first", "first#2"]
        assert await runner.decided() == ['{"name":"x"}']
        types = [
            row[0] for row in await runner.service.rows("select type from events where type like 'run.%' order by seq")
        ]
        assert types == ["run.queued", "run.done"]


async def test_a_timer_of_days_holds_nothing_and_ends_on_time(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            await run.step("before", runner.outside)
            await run.sleep("three days", 3 * 86_400)
            return await run.step("after", runner.outside)

        return (workflow("nap", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        run_id = await runner.begin("nap")
        found = await runner.until(run_id, "waiting")
        assert [step["state"] for step in found["steps"]] == ["done", "waiting"]
        wall.offset_ms += 2 * DAY_MS
        await trio.sleep(60)
        assert (await runner.get(run_id))["state"] == "waiting"
        wall.offset_ms += DAY_MS
        await runner.until(run_id, "done")
        assert runner.did == ["before", "after"]


async def test_a_step_that_fails_is_tried_again_with_growing_pauses(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            return await run.step("flaky", runner.outside)

        return (workflow("try", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        runner.failures["flaky"] = 4
        found = await runner.until(await runner.begin("try"), "done", "failed")
        assert found["state"] == "done"
        assert found["steps"][0]["attempts"] == 5
        assert runner.did == ["flaky"] * 5
        tried = await runner.service.rows("select attempt, state from run_attempts order by attempt")
        assert tried == [(1, "failed"), (2, "failed"), (3, "failed"), (4, "failed"), (5, "done")]
        began = [row[0] for row in await runner.service.rows("select started_at from run_attempts order by attempt")]
        pauses = [later - earlier for earlier, later in pairwise(began)]
        assert pauses == sorted(pauses)


async def test_a_step_that_always_fails_fails_its_run_in_its_words_and_can_be_retried(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            await run.step("good", runner.outside)
            return await run.step("bad", runner.outside)

        return (workflow("fall", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        runner.failures["bad"] = 6
        run_id = await runner.begin("fall")
        found = await runner.until(run_id, "done", "failed")
        assert found["error"] == {"type": "OSError", "message": "bad is not there"}
        assert runner.did.count("bad") == 6
        await runner.service.mutate("runs.retry", id=run_id)
        found = await runner.until(run_id, "done")
        assert runner.did == ["good", *["bad"] * 7]
        assert found["error"] is None
        with pytest.raises(RpcError, match="done"):
            await runner.service.mutate("runs.retry", id=run_id)


async def test_all_failed_runs_of_ones_own_go_on_at_once(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            if not runner.failures["open"]:
                raise Fatal("The ceiling is reached.")
            return await run.step("good", runner.outside)

        async def above(run: Run, input: Json) -> Json:
            return await run.child("below", "ask")

        return (workflow("ask", code), workflow("other", code), workflow("above", above))

    async with runner_with(tmp_path, wall, log, make) as runner:
        names = ("ask", "ask", "other", "above")
        ids = [await runner.begin(name) for name in names]
        for run_id in ids:
            await runner.until(run_id, "failed")
        assert (await runner.service.mutate("runs.retryFailed", workflow="ask")) == {"retried": 2, "more": False}
        for run_id in ids[:2]:
            await runner.until(run_id, "failed")  # it is as before, and they fail anew, once
        runner.failures["open"] = 1
        assert (await runner.service.mutate("runs.retryFailed")) == {"retried": 4, "more": False}
        for run_id in ids:
            await runner.until(run_id, "done")
        assert runner.did.count("good") == len(ids)
        assert (await runner.service.mutate("runs.retryFailed"))["retried"] == 0


async def test_so_many_failed_runs_go_on_at_once_and_only_ones_own(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(procedures, "MAX_RETRIED", 3)
    monkeypatch.setattr(procedures, "RETRIED_AT_ONCE", 2)

    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            if not runner.failures["open"]:
                raise Fatal("The ceiling is reached.")
            return None

        return (workflow("ask", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        ids = []
        for _ in range(4):
            ids.append(await runner.begin("ask"))
            await runner.until(ids[-1], "failed")
            await trio.sleep(1)
        ben = Principal(user_id="usr_ben", device_id="dev_ben", is_admin=True, via="session")
        assert await runner.service.workspace.store.read(queries.failed, ben, workflow=None, limit=9) == []
        runner.failures["open"] = 1
        assert (await runner.service.mutate("runs.retryFailed")) == {"retried": 3, "more": True}
        for run_id in ids[1:]:
            await runner.until(run_id, "done")
        assert (await runner.get(ids[0]))["state"] == "failed", "the newest ones first"
        assert (await runner.service.mutate("runs.retryFailed")) == {"retried": 1, "more": False}


async def test_a_step_is_not_tried_again_before_the_time_that_its_failure_says(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    asked_for_s = (0.0, 90.0, 1e308)

    def make(runner: WorkflowRunner) -> Any:
        async def refuses(key: str) -> Json:
            runner.did.append(key)
            if len(runner.did) > len(asked_for_s):
                return None
            fault = Later("Slow down.")
            fault.after_s = asked_for_s[len(runner.did) - 1]
            raise fault

        async def code(run: Run, input: Json) -> Json:
            return await run.step("refused", refuses)

        return (workflow("refused", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        await runner.until(await runner.begin("refused"), "done")
        rows = await runner.service.rows("select started_at, ended_at from run_attempts order by attempt")
        first, second, third = [(later[0] - one[1]) / 1_000 for one, later in pairwise(rows)]
        assert first < 90 <= second < 600 <= third < 3_600, "no pause is longer than the longest of svc's own"


async def test_a_fatal_failure_is_not_tried_again_and_code_may_go_on_after_it(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def refuse(key: str) -> Json:
            runner.did.append(key)
            raise Fatal("never")

        async def code(run: Run, input: Json) -> Json:
            try:
                await run.step("no", refuse)
            except StepFailed as error:
                return str(error)

        return (workflow("fatal", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        found = await runner.until(await runner.begin("fatal"), "done", "failed")
        assert found["output"] == "never"
        assert len(runner.did) == 1


async def test_a_run_that_is_cancelled_stops_with_its_children(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def below(run: Run, input: Json) -> Json:
            return await run.step("long", runner.endless)

        async def above(run: Run, input: Json) -> Json:
            return await run.child("one", "below")

        return (workflow("above", above), workflow("below", below))

    async with runner_with(tmp_path, wall, log, make) as runner:
        run_id = await runner.begin("above")
        await runner.until(run_id, "waiting")
        await runner.stuck.wait()
        found = await runner.get(run_id)
        child = found["children"][0]
        assert child["state"] == "running"
        await runner.service.mutate("runs.cancel", id=run_id)
        assert (await runner.get(run_id))["state"] == "cancelled"
        assert (await runner.get(child["id"]))["state"] == "cancelled"
        with pytest.raises(RpcError, match="cancelled"):
            await runner.service.mutate("runs.cancel", id=run_id)


@pytest.mark.thorough
async def test_branches_work_together_and_the_result_of_a_child_comes_back(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def below(run: Run, input: Json) -> Json:
            await run.sleep("a while", 60)
            return {"got": input}

        async def above(run: Run, input: Json) -> Json:
            async def left(run: Run) -> Json:
                await run.sleep("pause", 3_600)
                return await run.step("work", runner.outside)

            async def right(run: Run) -> Json:
                return await run.child("ask", "below", 7)

            return await run.together({"left": left, "right": right})

        return (workflow("above", above), workflow("below", below))

    async with runner_with(tmp_path, wall, log, make) as runner:
        found = await runner.until(await runner.begin("above"), "done", "failed")
        assert found["output"] == {"left": "left/work", "right": {"got": 7}}
        assert runner.did == ["left/work"]
        assert {step["id"] for step in found["steps"]} == {"left/pause", "left/work", "right/ask"}


@pytest.mark.thorough
async def test_code_that_was_changed_without_a_new_version_fails_its_runs_in_words(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    inputs = iter([1, 2])

    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            await run.step("first", runner.outside, input=next(inputs))
            await run.sleep("night", 3_600)

        return (workflow("changing", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        found = await runner.until(await runner.begin("changing"), "done", "failed")
        assert found["error"]["type"] == "Diverged"
        assert "without a new version" in found["error"]["message"]


async def test_a_run_of_an_older_version_ends_by_the_code_that_is_kept_or_says_that_it_is_gone(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def old(run: Run, input: Json) -> Json:
            return "old"

        async def new(run: Run, input: Json) -> Json:
            return "new"

        return (workflow("kept", new, version=3, older={2: old}),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        ids = {version: await runner.begin("kept", version=version) for version in (1, 2, 3)}
        ends = {version: await runner.until(run_id, "done", "failed") for version, run_id in ids.items()}
        assert ends[3]["output"] == "new"
        assert ends[2]["output"] == "old"
        assert ends[1]["error"]["type"] == "CodeGone"


async def test_a_run_is_let_go_of_on_drain_and_ends_after_the_next_start(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    did: list[str] = []

    def make(runner: WorkflowRunner) -> Any:
        async def once(key: str) -> Json:
            did.append("once")

        async def stuck(key: str) -> Json:
            did.append("stuck")
            if did.count("stuck") == 1:
                await runner.endless(key)

        async def code(run: Run, input: Json) -> Json:
            await run.step("once", once)
            await run.step("stuck", stuck)

        return (workflow("drained", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        run_id = await runner.begin("drained")
        await runner.stuck.wait()
    async with runner_with(tmp_path, wall, log, make) as runner:
        await runner.until(run_id, "done")
        assert did == ["once", "stuck", "stuck"]


async def test_a_run_that_is_begun_again_and_again_without_getting_further_stops_in_words(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            await run.step("stuck", runner.endless)

        return (workflow("poison", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        run_id = await runner.begin("poison")
        for _ in range(5):
            await runner.until(run_id, "running")
            await runner.change("update runs set state = 'queued', due_at = 0 where id = :id", id=run_id)
            await trio.sleep(31)
        found = await runner.until(run_id, "failed")
        assert found["error"]["type"] == "Stuck"
        assert len(runner.did) == 5


async def test_one_sees_ones_own_runs_only(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            return "secret"

        return (workflow("own", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        mia = Principal(user_id="usr_mia", device_id="d", is_admin=False, via="session")
        ben = Principal(user_id="usr_ben", device_id="d", is_admin=False, via="session")
        boss = Principal(user_id="usr_boss", device_id="d", is_admin=True, via="session")
        run_id = await runner.begin("own", user_id="usr_mia")
        await runner.until(run_id, "done")
        listed = {
            who.user_id: (await runner.service.ask_as(who, "runs.list", {})).json["result"]["data"]["runs"]
            for who in (mia, ben, boss)
        }
        assert [one["id"] for one in listed["usr_mia"]] == [run_id]
        assert listed["usr_ben"] == []
        assert [one["mine"] for one in listed["usr_boss"]] == [False]
        assert (await runner.service.ask_as(mia, "runs.get", {"id": run_id})).status == 200
        assert (await runner.service.ask_as(ben, "runs.get", {"id": run_id})).status == 404
        assert (await runner.service.ask_as(boss, "runs.get", {"id": run_id})).status == 404
        assert (await runner.service.ask_as(ben, "runs.cancel", {"id": run_id})).status == 404
        assert (await runner.service.ask_as(ben, "runs.retry", {"id": run_id})).status == 404


async def test_the_code_gets_a_result_as_it_would_get_it_after_a_crash(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def pair(key: str) -> Any:
            return (1, {"n": 2})

        async def code(run: Run, input: Json) -> Json:
            return type(await run.step("pair", pair)).__name__

        return (workflow("pair", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        assert (await runner.until(await runner.begin("pair"), "done"))["output"] == "list"


async def test_a_result_that_is_no_json_fails_its_step_in_words_and_is_not_tried_again(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def no_json(key: str) -> Any:
            runner.did.append(key)
            return object()

        async def code(run: Run, input: Json) -> Json:
            return await run.step("odd", no_json)

        return (workflow("odd", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        found = await runner.until(await runner.begin("odd"), "failed")
        assert "no JSON" in found["error"]["message"]
        assert len(runner.did) == 1


@pytest.mark.parametrize("name", ["", "a/b", "a#2"])
async def test_a_step_s_name_can_t_be_mistaken_for_another_s_key(
    name: str, tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            return await run.step(name, runner.outside)

        return (workflow("named", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        found = await runner.until(await runner.begin("named"), "failed")
        assert "name" in found["error"]["message"]
        assert runner.did == []
