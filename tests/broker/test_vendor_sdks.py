"""The model seam against software of others: the vendors' own SDKs as clients, aimock as the vendors."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
import trio

from svc.clock import VirtualClock
from svc.worker.models import Question, Said, Text, Tool, ask
from svc.worker.models.terms import Event, ModelFault, TextDelta
from svc.workflow import Json, Run
from tests.broker.broker_service import BROKER, KEY_A, KEY_B, OWN, internal_fields, open_broker, run_token, usage
from tests.peers.aimock import SDKS_PATH, STORY, aimock, journal
from tests.peers.needs import AIMOCK, VENDOR_SDKS, needs
from tests.recorded_log import RecordedLog
from tests.runs.workflow_runner import WorkflowRunner, runner_with, workflow
from tests.sizes import HANGS_S
from tests.support.service import Service

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock]

PROGRAM: Final = Path(__file__).parents[1] / "peers" / "vendor_sdks.py"
PIECE: Final = 65_536
FAULTS: Final = {"too many": 429, "dropped": 500}


@needs(AIMOCK, VENDOR_SDKS)
async def test_the_vendors_own_sdks_understand_the_same_through_the_broker_as_without_it(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    with aimock(tmp_path, keys=(KEY_A, KEY_B)) as vendor:
        straight = await asked(vendor, f"{vendor}/v1", {}, KEY_A, KEY_B)
        async with (
            open_broker(tmp_path / "home", clock=wall, log=log, SVC_LLM_A_URL=vendor, SVC_LLM_B_URL=vendor) as service,
            on_a_port(service) as port,
        ):
            before = len(journal(vendor, key=KEY_B))
            token = await run_token(service, "llm.*")
            fields = internal_fields(service, token)
            base = f"http://127.0.0.1:{port}{BROKER}"
            internal = fields.pop("authorization")
            given = {**fields, "host": OWN, "authorization": internal}
            through = await asked(f"{base}/llm-a", f"{base}/llm-b/v1", given, "no key", "no key")
            used = await usage(service)
        heard = journal(vendor, key=KEY_B)[before:]
    assert through == straight
    assert len(straight["a: pieces"][0]) > 2  # it was streamed, and so it came
    for name, status in FAULTS.items():
        assert {through[f"{vendor}: {name}"][1] for vendor in "ab"} == {status}
    assert all(through.values())
    assert token not in heard
    assert internal.removeprefix("Bearer ") not in heard
    assert used[0] > 0
    assert used[1] > 0


@needs(AIMOCK)
async def test_a_run_of_ours_understands_them_too_and_uses_nothing_of_an_answer_that_is_cut(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    with aimock(tmp_path, keys=(KEY_A, KEY_B)) as vendor:
        urls = {"SVC_LLM_A_URL": vendor, "SVC_LLM_B_URL": vendor, "LLM_A_API_KEY": KEY_A, "LLM_B_API_KEY": KEY_B}
        async with runner_with(tmp_path / "home", wall, log, asks, **urls) as runner:
            run = await runner.until(await runner.begin("asks"), "done", "failed")
    assert run["state"] == "done", run["error"]
    for model in MODELS:
        story, weather, cut = run["output"][model]
        assert (story["text"], story["stop"], story["pieces"] > 2) == (STORY, "end", True)
        assert (weather["stop"], weather["calls"]) == ("tools", [["get_weather", {"city": "Oslo"}]])
        assert "fault" in cut


MODELS: Final = ("claude-sonnet-4-5", "b/gpt-4.1-mini")
WEATHER: Final = Tool(name="get_weather", about="The weather.", schema={"type": "object"})


def asks(runner: WorkflowRunner) -> Any:
    async def code(run: Run, input: Json) -> Json:
        async def work(key: str) -> Json:
            texts = ("long story", "weather", "cut off")
            return {model: [await said(run, model, text) for text in texts] for model in MODELS}

        return await run.step("ask", work, kind="llm")

    return (workflow("asks", code, capabilities=("llm.a", "llm.b")),)


async def said(run: Run, model: str, text: str) -> Json:
    heard: list[Event] = []
    question = Question(model=model, messages=[Said("user", (Text(text),))], tools=(WEATHER,), max_tokens=200)
    try:
        turn = await ask(run, question, heard=heard.append)
    except ModelFault as fault:
        return {"fault": str(fault)}
    calls = [[call.name, msgspec.to_builtins(call.input)] for call in turn.calls]
    pieces = sum(isinstance(event, TextDelta) for event in heard)
    return {"text": turn.text, "stop": turn.stop, "calls": calls, "pieces": pieces}


async def asked(url_a: str, url_b: str, fields: dict[str, str], key_a: str, key_b: str) -> dict[str, Any]:
    """What the SDKs understood, by scenario."""
    command = [str(SDKS_PATH), str(PROGRAM), url_a, url_b, json.dumps(fields), key_a, key_b]
    with trio.fail_after(HANGS_S):
        done = await trio.run_process(command, capture_stdout=True, capture_stderr=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return dict(json.loads(line) for line in done.stdout.splitlines())


@asynccontextmanager
async def on_a_port(service: Service) -> AsyncIterator[int]:
    """The internal listener for another process: each of its connections, handed on byte by byte."""

    async def hand_on(theirs: trio.SocketStream) -> None:
        ours = await service.internal.connect()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pump, theirs, ours)
            await pump(ours, theirs)
            nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, hand_on, 0, host="127.0.0.1"))
        yield listeners[0].socket.getsockname()[1]
        nursery.cancel_scope.cancel()


async def pump(source: trio.abc.ReceiveStream, drain: trio.abc.HalfCloseableStream) -> None:
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        while piece := await source.receive_some(PIECE):
            await drain.send_all(piece)
        await drain.send_eof()
