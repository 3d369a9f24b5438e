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
from tests.runs.bench import Bench, bench_of, workflow
from tests.support.service import RpcError

DAY_S: Final = 86_400.0


@asynccontextmanager
async def asking(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Bench]:
    def make(bench: Bench) -> Any:
        async def code(run: Run, input: Json) -> Json:
            try:
                allowed = await run.approval(
                    "ask", tool="mail.send", summary="Send it to Ben", input={"to": "ben"}, expires_s=DAY_S
                )
            except StepFailed as error:
                return {"refused": error.type}
            await run.step("act", bench.outside)
            return allowed

        return (workflow("asking", code),)

    async with bench_of(tmp_path, wall, log, make) as bench:
        yield bench


async def test_what_was_asked_is_shown_whole_and_goes_on_once_it_is_let_through(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with asking(tmp_path, wall, log) as bench:
        run_id = await bench.begin("asking")
        await bench.until(run_id, "waiting")
        (asked,) = await bench.service.query("approvals.list")
        assert (asked["runId"], asked["tool"], asked["summary"]) == (run_id, "mail.send", "Send it to Ben")
        assert asked["input"] == {"to": "ben"}
        assert bench.did == []
        await bench.service.mutate("approvals.decide", id=asked["id"], approve=True)
        assert (await bench.until(run_id, "done"))["output"] == {"to": "ben"}
        assert bench.did == ["act"]
        assert await bench.service.query("approvals.list") == []
        with pytest.raises(RpcError, match="approved already"):
            await bench.service.mutate("approvals.decide", id=asked["id"], approve=False)


@pytest.mark.parametrize("changed", [{"to": "ann"}, None])
async def test_what_a_person_writes_instead_replaces_what_was_asked(
    changed: Json, tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with asking(tmp_path, wall, log) as bench:
        run_id = await bench.begin("asking")
        await bench.until(run_id, "waiting")
        (asked,) = await bench.service.query("approvals.list")
        await bench.service.mutate("approvals.decide", id=asked["id"], approve=True, input=changed)
        assert (await bench.until(run_id, "done"))["output"] == changed


async def test_a_refusal_fails_the_step_and_the_code_may_go_on(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with asking(tmp_path, wall, log) as bench:
        run_id = await bench.begin("asking")
        await bench.until(run_id, "waiting")
        (asked,) = await bench.service.query("approvals.list")
        await bench.service.mutate("approvals.decide", id=asked["id"], approve=False)
        assert (await bench.until(run_id, "done"))["output"] == {"refused": "Declined"}
        assert bench.did == []


async def test_one_that_nobody_decides_expires(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with asking(tmp_path, wall, log) as bench:
        run_id = await bench.begin("asking")
        await bench.until(run_id, "waiting")
        (asked,) = await bench.service.query("approvals.list")
        wall.offset_ms += round(DAY_S * 1_000)
        assert await bench.service.query("approvals.list") == []
        with pytest.raises(RpcError, match="expired already"):
            await bench.service.mutate("approvals.decide", id=asked["id"], approve=True)
        assert (await bench.until(run_id, "done"))["output"] == {"refused": "Expired"}


async def test_a_run_that_is_stopped_takes_its_question_with_it(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with asking(tmp_path, wall, log) as bench:
        run_id = await bench.begin("asking")
        await bench.until(run_id, "waiting")
        (asked,) = await bench.service.query("approvals.list")
        await bench.service.mutate("runs.cancel", id=run_id)
        assert await bench.service.query("approvals.list") == []
        with pytest.raises(RpcError, match="cancelled already"):
            await bench.service.mutate("approvals.decide", id=asked["id"], approve=True)


async def test_only_its_owner_decides_and_in_person(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with asking(tmp_path, wall, log) as bench:
        run_id = await bench.begin("asking", user_id="usr_mia")
        await bench.service.rows("select 1")
        while not (rows := await bench.service.rows("select id from approvals")):
            await bench.service.rows("select 1")
        wanted = {"id": rows[0][0], "approve": True}

        def who(user_id: str, via: Any = "session", **capabilities: bool) -> Principal:
            return Principal(user_id=user_id, device_id="d", is_admin=True, via=via, capabilities=capabilities)

        for foreign in (who("usr_ben"), who("usr_ben", "device", approve=True)):
            assert (await bench.service.ask_as(foreign, "approvals.decide", wanted)).status == 404
        for by_proxy in (who("usr_mia", "device"), who("usr_mia", "device", terminal=True), who("usr_mia", "run")):
            assert (await bench.service.ask_as(by_proxy, "approvals.decide", wanted)).status == 403
        assert (
            await bench.service.ask_as(who("usr_mia", "device", approve=True), "approvals.decide", wanted)
        ).status == 200
        found = (await bench.service.ask_as(who("usr_mia"), "runs.get", {"id": run_id})).json
        assert found["result"]["data"]["steps"][0]["state"] == "done"
