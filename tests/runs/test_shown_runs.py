"""What the answers about runs contain besides the run itself, so that a page can link one to another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from svc.clock import VirtualClock
from svc.workflow import Json, Run
from tests.recorded_log import RecordedLog
from tests.runs.workflow_runner import WorkflowRunner, runner_with, workflow


async def test_a_step_names_the_run_that_it_waits_for_and_that_run_names_those_above_it(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def ask(run: Run, input: Json) -> Json:
            return await run.approval("send", tool="mail.send", summary="Send it.", input={"n": 1}, expires_s=60)

        async def middle(run: Run, input: Json) -> Json:
            return await run.child("ask", "ask")

        async def top(run: Run, input: Json) -> Json:
            await run.step("first", runner.outside)
            return await run.child("middle", "middle")

        return (workflow("top", top), workflow("middle", middle), workflow("ask", ask))

    async with runner_with(tmp_path, wall, log, make) as runner:
        top = await runner.until(await runner.begin("top"), "waiting")
        assert top["ancestors"] == []
        assert [step["childId"] for step in top["steps"]] == [None, top["children"][0]["id"]]
        middle = await runner.until(top["children"][0]["id"], "waiting")
        ask = await runner.until(middle["steps"][0]["childId"], "waiting")
        assert ask["ancestors"] == [{"id": one["id"], "title": one["title"]} for one in (top, middle)]
        (approval,) = await runner.service.query("approvals.list")
        assert (approval["runId"], approval["stepId"]) == (ask["id"], ask["steps"][0]["id"])


async def test_long_values_are_cut_where_all_steps_are_shown_and_whole_where_one_is(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    long = {"text": "ä" * 3_000}

    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            await run.step("short", runner.outside, input={"n": 1})
            return await run.step("long", _same(long), input=long)

        return (workflow("walk", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        run_id = await runner.begin("walk")
        found = await runner.until(run_id, "done")
        short, cut = found["steps"]
        assert _values(short) == [{"n": 1}, None, "short", None]
        beginning = '{"text":"' + "ä" * 1_991
        size = len('{"text":""}') + 2 * 3_000
        assert _values(cut) == [beginning, size, beginning, size]
        whole = await runner.service.query("runs.step", id=run_id, stepId="long")
        assert whole == {**cut, "input": long, "output": long, "inputBytes": None, "outputBytes": None}


async def test_of_very_many_steps_the_last_ones_show_little(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            await run.step("first", _same("x" * 1_900))

        return (workflow("walk", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        run_id = await runner.begin("walk")
        await runner.until(run_id, "done")
        await runner.change(
            """
            with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000)
            insert into run_steps (run_id, key, position, name, kind, state, input, input_digest, output, attempts,
                started_at, ended_at)
            select run_id, 'step ' || i, i, name, kind, state, input, input_digest, output, attempts, started_at,
                ended_at
            from run_steps, n where key = 'first'
            """
        )
        steps = (await runner.get(run_id))["steps"]
        whole = [step["outputBytes"] is None for step in steps]
        assert whole == sorted(whole, reverse=True)
        assert 1_000_000 / 1_906 - 1 <= sum(whole) <= 1_000_000 / 1_906
        assert steps[-1]["output"] == '"' + "x" * 63


async def test_admins_hear_that_runs_of_others_change_and_nothing_of_their_steps(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            await run.step("first", runner.outside)

        return (workflow("walk", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        await runner.until(await runner.begin("walk", user_id="usr_member"), "done")
        rows = await runner.service.rows(
            "select audience, payload from outbox where topic = 'runs' and kind = 'run.changed' order by seq"
        )
        told = [(audience, json.loads(payload)["state"]) for audience, payload in rows]
        assert [state for audience, state in told if audience == "*admins"] == ["queued", "running", "done"]
        assert [state for audience, state in told if audience == "usr_member"] == [
            "queued",
            "running",
            "running",
            "done",
        ]
        assert {frozenset(json.loads(payload)) for _, payload in rows} == {frozenset({"state", "workflow", "parentId"})}


def _values(step: Any) -> list[Any]:
    return [step[name] for name in ("input", "inputBytes", "output", "outputBytes")]


def _same(value: Json) -> Any:
    async def work(key: str) -> Json:
        return value

    return work
