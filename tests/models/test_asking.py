"""A run asks a model by the seam, through the broker: tried again, bounded in cost, and never with a key in hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
import trio

from svc.clock import VirtualClock
from svc.worker.models import Question, Said, Text, Tool, ask
from svc.worker.models.terms import TextDelta
from svc.workflow import Answer, Json, Run
from tests.recorded_log import RecordedLog
from tests.runs.workflow_runner import WorkflowRunner, runner_with, workflow

HEARD: list[str] = []
TOOL = Tool(name="look", about="Looks.", schema={"type": "object"})


def asks(runner: WorkflowRunner) -> Any:
    async def code(run: Run, input: Json) -> Json:
        question = Question(
            model=input["model"],
            system="Be short.",
            messages=[Said("user", (Text(input.get("text", "hello")),))],
            tools=(TOOL,) if input.get("tool") else (),
            max_tokens=input.get("most", 100),
        )

        async def work(key: str) -> Json:
            turn = await ask(
                run, question, heard=lambda event: HEARD.append(event.text) if isinstance(event, TextDelta) else None
            )
            return msgspec.to_builtins(turn)

        return await run.step("ask", work, kind="llm")

    return (workflow("asks", code, capabilities=("llm.a", "llm.b")),)


@pytest.fixture
async def runner(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[WorkflowRunner]:
    HEARD.clear()
    async with runner_with(tmp_path, wall, log, asks, PROVIDERS="fake") as runner:
        yield runner


async def ends(runner: WorkflowRunner, state: str = "done", **wanted: object) -> Any:
    return await runner.until(await runner.begin("asks", wanted), state)


async def test_either_vendor_streams_text_and_calls_tools(runner: WorkflowRunner) -> None:
    service = runner.service
    await service.mutate("fake.llm.script", match={"vendor": "a"}, replies=[{"text": "one two"}])
    await service.mutate("fake.llm.script", replies=[{"text": "", "toolCalls": [{"name": "look", "input": {"a": 1}}]}])
    first = (await ends(runner, model="claude-sonnet-4-5"))["output"]
    assert (first["stop"], "".join(HEARD)) == ("end", "one two")
    assert len(HEARD) > 1
    second = (await ends(runner, model="b/llama", tool=True))["output"]
    assert (second["stop"], second["blocks"][0]["input"]) == ("tools", {"a": 1})
    asked = await service.query("fake.llm.calls")
    assert [(one["vendor"], one["model"]) for one in asked] == [("a", "claude-sonnet-4-5"), ("b", "llama")]


async def test_what_may_pass_is_asked_again_and_what_may_not_is_not(runner: WorkflowRunner) -> None:
    service = runner.service
    await service.mutate("fake.llm.script", replies=[{"error": 429}, {"error": 529}, {"text": "now"}])
    assert (await ends(runner, model="claude-x"))["output"]["blocks"][0]["text"] == "now"
    await service.mutate("fake.llm.script", replies=[{"error": 402}, {"text": "never"}])
    failed = await ends(runner, "failed", model="claude-x")
    assert "It was scripted so." in failed["error"]["message"]
    assert len(await service.query("fake.llm.calls")) == 4


async def test_a_call_that_could_pass_a_ceiling_never_leaves_and_refused_ones_cost_nothing(
    runner: WorkflowRunner,
) -> None:
    service = runner.service
    await service.mutate("models.setCeilings", dayUsd=0.01, runUsd=0.01, dayTokens=100_000)
    failed = await ends(runner, "failed", model="claude-sonnet-4-5", most=2_000)
    assert failed["error"]["type"] == "OverCeiling"
    assert failed["error"]["message"].startswith("Models may cost $0.01 a day"), "it is not the vendor who says so"
    assert await service.query("fake.llm.calls") == []
    await service.mutate("fake.llm.script", replies=[{"error": 400}, {"text": "yes"}])
    await ends(runner, "failed", model="claude-sonnet-4-5")
    await ends(runner, model="claude-sonnet-4-5")
    used = await service.query("models.usage")
    assert used["today"]["calls"] == 1
    assert 0 < used["today"]["usd"] < 0.001
    assert used["problem"] == ""


async def test_a_server_with_a_window_too_small_is_found_out(runner: WorkflowRunner) -> None:
    """It answers as if nothing were missing: only the count of what it read tells."""
    service = runner.service
    long = "word " * 4_000
    assert (await ends(runner, model="b/llama", text=long))["state"] == "done"
    await service.mutate("fake.llm.script", match={"vendor": "b"}, replies=[{"text": "short", "inputTokens": 90}])
    failed = await ends(runner, "failed", model="b/llama", text=long)
    assert "its window is too small" in failed["error"]["message"]


class Lingering:
    """The broker's answer from a server that has said all, and then keeps its connection open."""

    status = 200

    def __init__(self, stream: bytes) -> None:
        self.stream = stream
        self.is_closed = False

    def header(self, name: str) -> str | None:
        return {"content-type": "text/event-stream"}.get(name)

    async def receive(self) -> bytes:
        piece, self.stream = self.stream or b": still here\n\n", b""
        await trio.sleep(1)
        return piece

    async def aclose(self) -> None:
        self.is_closed = True

    async def broker(self, path: str, body: bytes, **how: object) -> Answer:
        return self


@pytest.mark.parametrize(
    ("model", "stream"),
    [
        ("b/llama", b'data: {"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'),
        (
            "claude-x",
            b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Yes."}}\n\n'
            b'data: {"type":"content_block_stop","index":0}\n\n'
            b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\ndata: {"type":"message_stop"}\n\n',
        ),
    ],
    ids=["b", "a"],
)
async def test_an_answer_that_is_whole_is_not_waited_for_because_its_connection_stays(
    model: str, stream: bytes
) -> None:
    answer = Lingering(stream)
    turn = await ask(cast("Run", answer), Question(model=model, messages=[Said("user", (Text("Hi"),))]))
    assert (turn.text, turn.stop, answer.is_closed) == ("Yes.", "end", True)
