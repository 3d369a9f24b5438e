"""What a worker that is wrong, slow or hostile can say to the trusted plane."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import pytest
import trio

from svc.clock import VirtualClock
from svc.protocol import Link, LinkAnswer
from svc.runs import Dispatcher, leasing
from svc.runs.dispatch import Worker
from svc.runs.model import Lease
from svc.workflow import Json, Run
from tests.recorded_log import RecordedLog
from tests.runs.workflow_runner import WorkflowRunner, runner_with, workflow
from tests.support.http import Reply

STEP: Final = "/.well-known/workflow/v1/step"
FLOW: Final = "/.well-known/workflow/v1/flow"
CALL: Final = "/internal/broker/rpc"
HANDSHAKE: Final = "/internal/broker/handshake"


@dataclass(kw_only=True)
class Hostile:
    """A worker that the test plays itself: the one within the process is gone."""

    runner: WorkflowRunner
    lease: Lease
    fields: dict[str, str] = field(default_factory=dict)

    async def say(self, path: str, body: object, *, token: str | None = None, internal: str | None = None) -> Reply:
        dispatcher = self.runner.service.workspace.service(Dispatcher)
        fields = {
            "authorization": f"Bearer {dispatcher.token if internal is None else internal}",
            "content-type": "application/json",
        }
        shown = self.lease.token if token is None else token
        if shown:
            fields["x-svc-run"] = shown
        service = self.runner.service
        data = json.dumps(body).encode()
        return await service.ask("POST", path, data, fields=fields, listener=service.internal)

    def step(self, **changed: Any) -> dict[str, Any]:
        told = {"runId": self.lease.run.id, "stepId": "a", "attempt": 1, "state": "done", "output": 1}
        return {**told, "startedAt": 1, "endedAt": 2, **changed}


@asynccontextmanager
async def hostile(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Hostile]:
    def make(runner: WorkflowRunner) -> Any:
        async def code(run: Run, input: Json) -> Json:
            return None

        return (workflow("empty", code), workflow("ungranted", code, capabilities=("llm.a",)))

    async with runner_with(tmp_path, wall, log, make) as runner:
        dispatcher = runner.service.workspace.service(Dispatcher)
        with trio.fail_after(60):
            while not dispatcher.workers():  # noqa: ASYNC110  virtual time
                await trio.sleep(0.1)
        await runner.service.workspace.root.remove("worker")
        await dispatcher.forget_dead()
        await runner.begin("empty")
        (lease,) = await runner.service.workspace.store.write(leasing.lease, "test#1")
        yield Hostile(runner=runner, lease=lease)


@pytest.mark.parametrize("path", [STEP, FLOW, CALL])
async def test_without_the_internal_token_or_a_run_s_nothing_is_heard(
    path: str, tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        body = worker.step()
        assert (await worker.say(path, body, internal="x" * 43)).status == 401
        assert (await worker.say(path, body, token="")).status == 403
        assert (await worker.say(path, body, token="run_none.x")).status == 403
        assert (await worker.say(path, body, token=worker.lease.token + "x")).status == 403
        assert (await worker.say(path, body, token=f"{worker.lease.run.id}.guess")).status == 403


async def test_another_run_s_id_under_one_s_own_token_is_refused(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        other = await worker.runner.begin("empty")
        assert (await worker.say(STEP, worker.step(runId=other))).status == 403
        assert (await worker.say(FLOW, {"runId": other, "state": "done"})).status == 403
        assert (await worker.runner.get(other))["state"] == "queued"


async def test_the_same_try_told_again_is_answered_as_the_first_time_and_stored_once(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        first = await worker.say(STEP, worker.step())
        again = await worker.say(STEP, worker.step(output=2))
        assert first.json == again.json == {"state": "done", "retryAt": None, "stop": False}
        later = await worker.say(STEP, worker.step(attempt=2, output=3))
        assert later.json["state"] == "done"
        steps = (await worker.runner.get(worker.lease.run.id))["steps"]
        assert [step["output"] for step in steps] == [1]


async def test_times_are_milliseconds_or_rfc_3339(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        times = {"startedAt": "2026-11-22T10:00:00.500Z", "endedAt": "2026-11-22T11:00:01+01:00"}
        assert (await worker.say(STEP, worker.step(**times))).status == 200
        (step,) = (await worker.runner.get(worker.lease.run.id))["steps"]
        assert (step["startedAt"], step["endedAt"]) == ("2026-11-22T10:00:00.500Z", "2026-11-22T10:00:01.000Z")
        assert (await worker.say(STEP, worker.step(stepId="b", startedAt="yesterday"))).status == 400
        assert (await worker.say(STEP, worker.step(stepId="b", startedAt="2026-11-22T10:00:00"))).status == 400


async def test_a_call_with_the_same_key_is_decided_once(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        asked = {"call": "test.decide", "idempotencyKey": "k", "input": {"name": "x"}}
        answers = [await worker.say(CALL, asked) for _ in range(3)]
        assert [one.json["result"] for one in answers] == [{"decided": "x"}] * 3
        assert await worker.runner.decided() == ['{"name":"x"}']
        other = await worker.say(CALL, {**asked, "input": {"name": "y"}})
        assert (other.status, other.json["reason"]) == (409, "Diverged")


async def test_what_was_not_granted_is_not_called(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        for call in ("search.reindex.queue", "no.such.call"):
            refused = await worker.say(CALL, {"call": call, "idempotencyKey": "k", "input": {}})
            assert (refused.status, refused.json["reason"]) == (403, "not_granted")
        child = {"workflow": "ungranted", "input": None}
        refused = await worker.say(CALL, {"call": "runs.child", "idempotencyKey": "k", "input": child})
        assert refused.status == 400
        assert "llm.a" in refused.json["detail"]
        assert (await worker.runner.get(worker.lease.run.id))["children"] == []


async def test_an_earlier_lease_is_not_heard_any_more(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        store = worker.runner.service.workspace.store
        await trio.sleep(61)
        await store.write(leasing.make_due)
        (newer,) = await store.write(leasing.lease, "test#2")
        assert newer.run.epoch == worker.lease.run.epoch + 1
        assert (await worker.say(STEP, worker.step())).status == 403
        assert (await worker.say(FLOW, {"runId": newer.run.id, "state": "done"})).status == 403
        assert (await worker.say(STEP, worker.step(), token=newer.token)).status == 200


async def test_a_result_that_comes_after_the_cancellation_is_kept_and_nothing_follows(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        run_id = worker.lease.run.id
        await worker.runner.service.mutate("runs.cancel", id=run_id)
        told = await worker.say(STEP, worker.step())
        assert told.json == {"state": "done", "retryAt": None, "stop": True}
        assert (await worker.say(CALL, {"call": "test.decide", "idempotencyKey": "k", "input": {}})).status == 403
        assert (await worker.say(FLOW, {"runId": run_id, "state": "done", "output": 1})).status == 200
        found = await worker.runner.get(run_id)
        assert (found["state"], found["output"], len(found["steps"])) == ("cancelled", None, 1)
        assert await worker.runner.decided() == []


@pytest.mark.parametrize(
    "changed",
    [
        {"state": "running"},
        {"attempt": 0},
        {"attempt": "1"},
        {"stepId": ""},
        {"stepId": "x" * 501},
        {"output": "x" * 300_000},
        {"kind": "timer"},
        {"startedAt": -1},
    ],
)
async def test_a_step_that_is_none_is_refused_in_words(
    changed: dict[str, Any], tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        refused = await worker.say(STEP, worker.step(**changed))
        assert refused.status == 400, refused.json
        assert refused.json["detail"]
        assert (await worker.runner.get(worker.lease.run.id))["steps"] == []


async def test_another_protocol_is_refused_with_both_numbers(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        hello = {"protocol": 1, "role": "worker", "version": "0.0", "controlUrl": "http://127.0.0.1:1", "instance": "i"}
        met = await worker.say(HANDSHAKE, hello, token="")
        assert met.status == 200
        assert met.json["protocol"] == 1
        refused = await worker.say(HANDSHAKE, {**hello, "protocol": 2}, token="")
        assert refused.status == 409
        assert (refused.json["reason"], refused.json["ours"], refused.json["yours"]) == ("protocol_mismatch", 1, 2)


@pytest.mark.parametrize(
    "url", ["http://example.com:80", "https://127.0.0.1:1", "file:///etc", "http://127.0.0.1:x", "memory:x"]
)
async def test_a_worker_that_says_it_is_elsewhere_is_not_sent_any_run(
    url: str, tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        worker.runner.service.workspace.service(Dispatcher).in_memory = None
        hello = {"protocol": 1, "role": "worker", "version": "0.0", "controlUrl": url, "instance": "i"}
        assert (await worker.say(HANDSHAKE, hello, token="")).status == 400
        assert worker.runner.service.workspace.service(Dispatcher).workers() == ()


@dataclass
class Answers:
    """The link to a worker that answers all with one status."""

    status: int

    async def post(self, path: str, body: object, *, within_s: float) -> LinkAnswer:
        return LinkAnswer(status=self.status, body=b"")


async def test_a_worker_takes_a_run_by_any_answer_that_is_no_refusal(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    """The contract names no status, so a worker of somebody else may answer 200 as well."""
    async with hostile(tmp_path, wall, log) as worker:
        dispatcher = worker.runner.service.workspace.service(Dispatcher)
        for status, state in ((202, "running"), (200, "running"), (204, "running"), (409, "queued")):
            link = cast("Link", Answers(status))
            there = Worker(url="http://127.0.0.1:1", instance="i", version="0.0", link=link, seen=0)
            await dispatcher._give(there, worker.lease)
            assert (await worker.runner.get(worker.lease.run.id))["state"] == state, status


async def test_runs_wait_while_no_worker_is_there_and_nothing_is_lost(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with hostile(tmp_path, wall, log) as worker:
        run_id = await worker.runner.begin("empty")
        await trio.sleep(120)
        assert (await worker.runner.get(run_id))["state"] == "queued"
