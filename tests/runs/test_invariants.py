"""What `svc fsck` says of runs: nothing of ordinary ones, and something of each impossible state."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from svc.clock import VirtualClock
from svc.workflow import Json, Run
from tests.recorded_log import RecordedLog
from tests.runs.workflow_runner import WorkflowRunner, problems, runner_with, workflow


def make(runner: WorkflowRunner) -> Any:
    async def parent(run: Run, input: Json) -> Json:
        await run.step("first", runner.outside)
        return await run.child("child", "asks")

    async def asks(run: Run, input: Json) -> Json:
        return await run.approval("ask", tool="t", summary="May it?", input=None, expires_s=3_600)

    return (workflow("parent", parent), workflow("asks", asks))


@pytest.fixture
async def ids(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> AsyncIterator[tuple[WorkflowRunner, dict[str, str]]]:
    """A run that waits for another, which waits for a person; and their ids by the words of the sentences."""
    async with runner_with(tmp_path, wall, log, make) as runner:
        parent = await runner.begin("parent")
        await runner.until(parent, "waiting")
        ((child,),) = await runner.service.rows("select id from runs where parent_id is not null")
        await runner.until(child, "waiting")
        ((approval,),) = await runner.service.rows("select id from approvals")
        yield runner, {"PARENT": parent, "CHILD": child, "APPROVAL": approval}
        await runner.change("delete from runs where id = :id", id=child)
        await runner.change("delete from runs")


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("update runs set state = 'running' where id = 'PARENT'", ["PARENT is running without a lease"]),
        (
            "update runs set due_at = null, state = 'queued' where id = 'CHILD'",
            ["CHILD is queued, and nothing would ever take it up"],
        ),
        ("delete from run_steps where kind = 'approval'", ["APPROVAL is open, and its step says otherwise"]),
        (
            "update runs set ended_at = 1 where id = 'PARENT'",
            ["PARENT is waiting, and says of its end what can't be"],
        ),
        (
            "update run_steps set output = null where key = 'first'",
            ["the step first of PARENT says of itself what can't be"],
        ),
        (
            "delete from run_steps where key = 'first'",
            ["PARENT has tries of a step first that is not there"],
        ),
        (
            "update runs set state = 'done', ended_at = 1 where id = 'PARENT'",
            ["CHILD goes on for PARENT, which does not wait for it"],
        ),
        (
            "update approvals set state = 'approved', decided_at = 1",
            ["APPROVAL is approved, and its step says otherwise"],
        ),
        (
            "update runs set state = 'failed', error = '{}', ended_at = 1, due_at = null where id = 'CHILD'",
            [
                "PARENT is waiting, and nothing would ever take it up",
                "APPROVAL is open, and its step says otherwise",
            ],
        ),
    ],
)
async def test_what_can_t_be_is_told(ids: tuple[WorkflowRunner, dict[str, str]], damage: str, found: list[str]) -> None:
    runner, names = ids
    assert await runner.service.workspace.store.read(problems) == []
    for name, value in names.items():
        damage = damage.replace(name, value)
        found = [sentence.replace(name, value) for sentence in found]
    await runner.change(damage)
    assert await runner.service.workspace.store.read(problems) == found
