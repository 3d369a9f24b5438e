"""A run sends a mail as its owner, once, however often it asks under the same key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

from svc.clock import VirtualClock
from svc.workflow import Json, Run, Workflow
from tests.recorded_log import RecordedLog
from tests.runs.workflow_runner import WorkflowRunner, runner_with
from tests.support.service import MIA
from tests.virtual_time import hours_pass


@pytest.mark.thorough
async def test_a_run_sends_a_mail_and_its_step_says_which(
    tmp_path: Path, clock: MockClock, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            mail = {"accountId": input, "to": ["ben@example.org"], "subject": "By a run", "html": "<p>Hello</p>"}
            sent = await run.call("mail.send", mail)
            await run.sleep("an hour", 3_600)
            return sent

        return (Workflow(name="writes", version=1, title="Writes", code=code, calls=("mail.send",)),)

    async with runner_with(tmp_path, wall, log, make, PROVIDERS="fake") as runner:
        await runner.service.synced("Hello")
        (account,) = await runner.service.query("mail.accounts")
        run_id = await runner.begin("writes", account["id"])
        await hours_pass(clock, 1)
        found = await runner.until(run_id, "done", "failed")
        assert found["state"] == "done", found["error"]
        (outgoing,) = await runner.service.rows("select id, state from mail_outgoing")
        assert found["output"] == {"outgoingId": outgoing[0]}
        sent = await runner.service.query("fake.mail.sent", address=MIA)
        assert [one["subject"] for one in sent] == ["By a run"]


async def test_a_mail_that_can_not_be_sent_fails_the_step_in_words(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            return await run.call("mail.send", {"accountId": "acc_none", "to": ["x"], "subject": "", "html": ""})

        return (Workflow(name="writes", version=1, title="Writes", code=code, calls=("mail.send",)),)

    async with runner_with(tmp_path, wall, log, make, PROVIDERS="fake") as runner:
        found = await runner.until(await runner.begin("writes"), "done", "failed")
        assert found["state"] == "failed"
        assert found["error"]["type"] == "Refused"
        assert found["error"]["message"]
        assert await runner.service.rows("select id from mail_outgoing") == []
