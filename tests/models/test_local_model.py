"""All that asks a model, with one on the machine itself: llama.cpp's server, a real small model. With SVC_SOAK=1."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
import trio

from svc.clock import VirtualClock
from svc.worker.models import Question, Said, Text, ask
from svc.workflow import Json, Run
from tests.peers.local_model import NAME, local_model
from tests.peers.needs import LOCAL_MODEL, need
from tests.recorded_log import RecordedLog
from tests.runs.workflow_runner import WorkflowRunner, runner_with, workflow
from tests.sizes import SOAK
from tests.support.service import Service
from tests.support.waiting import until

pytestmark = [
    pytest.mark.peer,
    pytest.mark.wall_clock,
    pytest.mark.skipif(not SOAK, reason="a real model is tried with SVC_SOAK=1"),
]

SCHEMA: Final = {
    "type": "object",
    "properties": {"kind": {"enum": ["invoice", "newsletter"]}},
    "required": ["kind"],
    "additionalProperties": False,
}
MODEL_S: Final = 600.0


def classifies(runner: WorkflowRunner) -> Any:
    async def code(run: Run, input: Json) -> Json:
        text = "Of what kind is this mail: Invoice 4711, 120 EUR, due on Friday"
        question = Question(
            model=f"b/{NAME}", messages=[Said("user", (Text(text),))], json_schema=SCHEMA, max_tokens=40
        )

        async def work(key: str) -> Json:
            return msgspec.to_builtins(await ask(run, question))

        return await run.step("ask", work, kind="llm")

    return (workflow("classifies", code, capabilities=("llm.b",)),)


async def test_an_agent_a_question_and_vectors_by_a_model_of_ones_own_cost_nothing(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    need(LOCAL_MODEL)
    with local_model(tmp_path) as url:
        settings = {"SVC_LLM_B_URL": url, "SVC_MODEL": f"b/{NAME}", "SVC_EMBEDDING_MODEL": NAME}
        async with runner_with(tmp_path / "home", wall, log, classifies, **settings) as runner:
            service = runner.service
            with trio.fail_after(MODEL_S):
                await _an_agent_answers(service)
                asked = await runner.until(await runner.begin("classifies"), "done", "failed")
                assert asked["state"] == "done", asked["error"]
                assert msgspec.json.decode(asked["output"]["blocks"][0]["text"])["kind"] in {"invoice", "newsletter"}
                await _pages_are_found_by_meaning(service)
            usage = await service.query("models.usage")
            assert usage["today"]["inputTokens"] > 0
            assert usage["today"]["outputTokens"] > 0
            assert usage["today"]["usd"] == 0


async def _an_agent_answers(service: Service) -> None:
    await service.mutate("pages.save", path="agents/short", body="---\ntools: []\n---\nAnswer in one short sentence.")
    run_id = (await service.mutate("agents.run", agent="short", prompt="Say hello."))["runId"]
    run = await _ended(service, run_id)
    assert run["state"] == "done", run["error"]
    assert run["output"]["text"].strip()


async def _pages_are_found_by_meaning(service: Service) -> None:
    for path, body in (
        ("notes/soup", "Lentils with cumin and carrots, cooked slowly."),
        ("notes/boat", "We sail along the coast of Norway with a small boat."),
    ):
        await service.mutate("pages.save", path=path, body=body)
    assert (await service.query("meaning.state"))["expected"]["micros"] == 0
    run = await _ended(service, (await service.mutate("meaning.switch", on=True))["runId"])
    assert run["state"] == "done", run["error"]
    found = await service.query("meaning.search", query="sailing by the sea of Norway")
    assert found["problem"] == ""
    assert found["pages"][0]["path"] == "notes/boat"


async def _ended(service: Service, run_id: str) -> dict[str, Any]:
    async def ended() -> dict[str, Any]:
        found: dict[str, Any] = await service.query("runs.get", id=run_id)
        return found if found["state"] in {"done", "failed", "cancelled"} else {}

    return await until(ended, what="the run to end", within_s=MODEL_S)
