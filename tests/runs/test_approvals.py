"""A step that waits for a person: decided once, by its owner, about exactly what was asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from svc.clock import VirtualClock
from svc.principal import Principal
from svc.workflow import Json, Run, StepFailed
from tests.recorded_log import RecordedLog
from tests.runs.workflow_runner import WorkflowRunner, runner_with, workflow
from tests.support.service import RpcError

DAY_S: Final = 86_400.0


@asynccontextmanager
async def asking(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[WorkflowRunner]:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            try:
                allowed = await run.approval(
                    "ask", tool="mail.send", summary="Send it to Ben", input={"to": "ben"}, expires_s=DAY_S
                )
            except StepFailed as error:
                return {"refused": error.type}
            await run.step("act", runner.outside)
            return allowed

        return (workflow("asking", code),)

    async with runner_with(tmp_path, wall, log, make) as runner:
        yield runner


async def test_what_was_asked_is_shown_whole_and_goes_on_once_it_is_let_through(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with asking(tmp_path, wall, log) as runner:
        run_id = await runner.begin("asking")
        await runner.until(run_id, "waiting")
        (asked,) = await runner.service.query("approvals.list")
        assert (asked["runId"], asked["tool"], asked["summary"]) == (run_id, "mail.send", "Send it to Ben")
        assert asked["input"] == {"to": "ben"}
        assert runner.did == []
        await runner.service.mutate("approvals.decide", id=asked["id"], approve=True)
        assert (await runner.until(run_id, "done"))["output"] == {"to": "ben"}
        assert runner.did == ["act"]
        assert await runner.service.query("approvals.list") == []
        with pytest.raises(RpcError, match="approved already"):
            await runner.service.mutate("approvals.decide", id=asked["id"], approve=False)


@pytest.mark.parametrize("changed", [{"to": "ann"}, None])
async def test_what_a_person_writes_instead_replaces_what_was_asked(
    changed: Json, tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with asking(tmp_path, wall, log) as runner:
        run_id = await runner.begin("asking")
        await runner.until(run_id, "waiting")
        (asked,) = await runner.service.query("approvals.list")
        await runner.service.mutate("approvals.decide", id=asked["id"], approve=True, input=changed)
        assert (await runner.until(run_id, "done"))["output"] == changed


async def test_a_refusal_fails_the_step_and_the_code_may_go_on(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with asking(tmp_path, wall, log) as runner:
        run_id = await runner.begin("asking")
        await runner.until(run_id, "waiting")
        (asked,) = await runner.service.query("approvals.list")
        await runner.service.mutate("approvals.decide", id=asked["id"], approve=False)
        assert (await runner.until(run_id, "done"))["output"] == {"refused": "Declined"}
        assert runner.did == []


async def test_one_that_nobody_decides_expires(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with asking(tmp_path, wall, log) as runner:
        run_id = await runner.begin("asking")
        await runner.until(run_id, "waiting")
        (asked,) = await runner.service.query("approvals.list")
        wall.offset_ms += round(DAY_S * 1_000)
        assert await runner.service.query("approvals.list") == []
        with pytest.raises(RpcError, match="expired already"):
            await runner.service.mutate("approvals.decide", id=asked["id"], approve=True)
        assert (await runner.until(run_id, "done"))["output"] == {"refused": "Expired"}


async def test_a_run_that_is_stopped_takes_its_question_with_it(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with asking(tmp_path, wall, log) as runner:
        run_id = await runner.begin("asking")
        await runner.until(run_id, "waiting")
        (asked,) = await runner.service.query("approvals.list")
        await runner.service.mutate("runs.cancel", id=run_id)
        assert await runner.service.query("approvals.list") == []
        with pytest.raises(RpcError, match="cancelled already"):
            await runner.service.mutate("approvals.decide", id=asked["id"], approve=True)


async def test_only_its_owner_decides_and_in_person(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with asking(tmp_path, wall, log) as runner:
        run_id = await runner.begin("asking", user_id="usr_mia")
        await runner.service.rows("select 1")
        while not (rows := await runner.service.rows("select id from approvals")):
            await runner.service.rows("select 1")
        wanted = {"id": rows[0][0], "approve": True}

        def who(user_id: str, via: Any = "session", **capabilities: bool) -> Principal:
            return Principal(user_id=user_id, device_id="d", is_admin=True, via=via, capabilities=capabilities)

        for foreign in (who("usr_ben"), who("usr_ben", "device", approve=True)):
            assert (await runner.service.ask_as(foreign, "approvals.decide", wanted)).status == 404
        for by_proxy in (who("usr_mia", "device"), who("usr_mia", "device", terminal=True), who("usr_mia", "run")):
            assert (await runner.service.ask_as(by_proxy, "approvals.decide", wanted)).status == 403
        assert (
            await runner.service.ask_as(who("usr_mia", "device", approve=True), "approvals.decide", wanted)
        ).status == 200
        found = (await runner.service.ask_as(who("usr_mia"), "runs.get", {"id": run_id})).json
        assert found["result"]["data"]["steps"][0]["state"] == "done"
