"""The stand-in of the model vendors, asked through the broker: scripted, deterministic, in both wire formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trio

from svc.clock import VirtualClock
from tests.broker.broker_service import ask, run_token, usage
from tests.recorded_log import RecordedLog
from tests.support.http import Reply
from tests.support.service import RpcError, Service, open_service

MESSAGES = "/llm-a/v1/messages"
CHAT = "/llm-b/v1/chat/completions"
RESPONSES = "/llm-b/v1/responses"
HELLO = [{"role": "user", "content": "hello"}]
TOOLS = [{"name": "weather", "input_schema": {}}]
CALLED = {"toolCalls": [{"name": "weather", "input": {"city": "Oslo"}}], "text": "I look."}


async def keyed(service: Service) -> str:
    for name in ("llm.a", "llm.b"):
        await service.mutate("capabilities.set", name=name, value=f"key-of-{name}")
    return await run_token(service, "llm.*")


async def told(service: Service, token: str, path: str, **more: object) -> Reply:
    given = {"input": HELLO} if path == RESPONSES else {"messages": HELLO}
    return await ask(service, path, {"model": "m", "max_tokens": 9, **given, **more}, run=token)


def events(reply: Reply) -> list[dict[str, Any]]:
    assert reply.header("content-type") == "text/event-stream"
    datas = [line.removeprefix("data: ") for line in reply.body.decode().splitlines() if line.startswith("data: ")]
    return [json.loads(data) for data in datas if data != "[DONE]"]


async def test_no_key_has_to_be_set_but_the_run_has_to_be_granted_it(service: Service) -> None:
    token = await run_token(service, "llm.a")
    assert (await ask(service, "/available", {"capability": "llm.a"}, run=token)).json["available"]
    assert (await told(service, token, MESSAGES)).json["content"][0]["text"] == "Nothing was scripted for this."
    assert (await told(service, token, CHAT)).status == 403
    assert (await ask(service, "/available", {"capability": "llm.b"}, run=token)).json["reason"] == "not_granted"


async def test_replies_are_used_once_each_in_order_and_then_there_is_nothing(service: Service) -> None:
    token = await keyed(service)
    await service.mutate("fake.llm.script", replies=[{"text": "one"}, {"text": "two"}])
    texts = [(await told(service, token, MESSAGES)).json["content"][0]["text"] for _ in range(3)]
    assert texts == ["one", "two", "Nothing was scripted for this."]


async def test_a_script_is_for_the_calls_that_it_matches(service: Service) -> None:
    token = await keyed(service)
    await service.mutate("fake.llm.script", match="goodbye", replies=[{"text": "never"}])
    await service.mutate("fake.llm.script", match={"vendor": "b"}, replies=[{"text": "b"}])
    await service.mutate("fake.llm.script", match={"model": "n"}, replies=[{"text": "n"}])
    await service.mutate("fake.llm.script", match="hel", replies=[{"text": "hel"}])
    assert (await told(service, token, MESSAGES)).json["content"][0]["text"] == "hel"
    assert (await told(service, token, MESSAGES, model="n")).json["content"][0]["text"] == "n"
    assert (await told(service, token, CHAT)).json["choices"][0]["message"]["content"] == "b"


async def test_what_it_was_asked_is_told_as_it_was_sent(service: Service) -> None:
    token = await keyed(service)
    await told(service, token, MESSAGES, tools=TOOLS)
    await told(service, token, RESPONSES)
    assert await service.query("fake.llm.calls") == [
        {"vendor": "a", "model": "m", "messages": HELLO, "tools": TOOLS},
        {"vendor": "b", "model": "m", "messages": HELLO, "tools": []},
    ]


async def test_vendor_a_calls_tools_whole_and_streamed_alike(service: Service) -> None:
    token = await keyed(service)
    await service.mutate("fake.llm.script", replies=[CALLED, CALLED])
    message = (await told(service, token, MESSAGES)).json
    assert message["stop_reason"] == "tool_use"
    text, tool = message["content"]
    assert (text["text"], tool["name"], tool["input"]) == ("I look.", "weather", {"city": "Oslo"})
    used = await usage(service)
    said = events(await told(service, token, MESSAGES, stream=True))
    assert [event["type"] for event in said] == [
        "message_start",
        "content_block_start",
        *["content_block_delta"] * 2,
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert "".join(event["delta"]["text"] for event in said[2:4]) == "I look."
    assert json.loads(said[6]["delta"]["partial_json"]) == {"city": "Oslo"}
    assert await usage(service) == tuple(2 * count for count in used)


async def test_vendor_b_calls_tools_whole_and_streamed_alike(service: Service) -> None:
    token = await keyed(service)
    await service.mutate("fake.llm.script", replies=[CALLED] * 3)
    (choice,) = (await told(service, token, CHAT)).json["choices"]
    assert choice["finish_reason"] == "tool_calls"
    function = choice["message"]["tool_calls"][0]["function"]
    assert (function["name"], json.loads(function["arguments"])) == ("weather", {"city": "Oslo"})
    used = await usage(service)
    silent = events(await told(service, token, CHAT, stream=True))
    assert all("usage" not in chunk for chunk in silent)
    assert await usage(service) == used
    said = events(await told(service, token, CHAT, stream=True, stream_options={"include_usage": True}))
    words = [chunk["choices"][0]["delta"].get("content") or "" for chunk in said[:-1]]
    assert "".join(words) == "I look."
    assert said[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert await usage(service) == tuple(2 * count for count in used)


async def test_vendor_b_answers_responses_whole_and_streamed_alike(service: Service) -> None:
    token = await keyed(service)
    await service.mutate("fake.llm.script", replies=[CALLED] * 2)
    whole = (await told(service, token, RESPONSES)).json
    assert [item["type"] for item in whole["output"]] == ["message", "function_call"]
    said = events(await told(service, token, RESPONSES, stream=True))
    assert [event["sequence_number"] for event in said] == list(range(len(said)))
    last = said[-1]["response"]
    assert (said[-1]["type"], last["usage"]) == ("response.completed", whole["usage"])
    assert [item["type"] for item in last["output"]] == ["message", "function_call"]
    assert await usage(service) == (2 * whole["usage"]["input_tokens"], 2 * whole["usage"]["output_tokens"])


async def test_a_scripted_error_and_a_delay_are_what_they_say(service: Service) -> None:
    token = await keyed(service)
    await service.mutate("fake.llm.script", replies=[{"error": 529}, {"text": "late", "delayMs": 40_000}])
    reply = await told(service, token, MESSAGES)
    assert (reply.status, reply.json["error"]["type"]) == (529, "overloaded_error")
    began = trio.current_time()
    assert (await told(service, token, MESSAGES)).status == 200
    assert 40 <= trio.current_time() - began < 80


@pytest.mark.parametrize(
    ("path", "messages"),
    [
        (MESSAGES, [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "nobodys"}]}]),
        (CHAT, [{"role": "tool", "tool_call_id": "nobodys", "content": "x"}]),
    ],
)
async def test_a_result_of_a_tool_that_was_not_called_is_refused(
    service: Service, path: str, messages: list[object]
) -> None:
    reply = await told(service, await keyed(service), path, messages=messages)
    assert (reply.status, "nobodys" in reply.json["error"]["message"]) == (400, True)


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b'{"messages": 7}', b'{"messages": [[]], "stream": {}}', b'{"messages": [{"content": [7]}]}'],
)
async def test_a_body_that_makes_no_sense_breaks_nothing(service: Service, body: bytes) -> None:
    token = await keyed(service)
    for path in (MESSAGES, CHAT, RESPONSES, "/llm-b/v1/embeddings"):
        assert (await ask(service, path, body, run=token)).status in {200, 400}
    assert (await ask(service, "/llm-b/v1/nothing", {}, run=token)).status == 404


async def test_texts_that_share_words_are_near_each_other(service: Service) -> None:
    token = await keyed(service)
    texts = ["red apples and pears", "red apples and plums", "the train to Oslo"]
    rows = (await ask(service, "/llm-b/v1/embeddings", {"input": texts, "dimensions": 64}, run=token)).json["data"]
    one, two, three = (row["embedding"] for row in rows)

    def near(a: list[float], b: list[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True))

    assert near(one, one) == pytest.approx(1)
    assert near(one, two) > near(one, three)


async def test_models_and_token_counts_are_told(service: Service) -> None:
    token = await keyed(service)
    for vendor in ("a", "b"):
        assert (await ask(service, f"/llm-{vendor}/v1/models", run=token, method="GET")).json["data"]
    counted = await ask(service, f"{MESSAGES}/count_tokens", {"messages": HELLO}, run=token)
    assert counted.json == {"input_tokens": 3}
    assert await usage(service) == (None, None)


async def test_it_survives_the_services_crash(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        token = await keyed(service)
        await service.mutate("fake.llm.script", replies=[{"text": "one"}, {"text": "two"}])
        await told(service, token, MESSAGES)
        journal = service.workspace.home.spool / "fake-llm.jsonl"
    with journal.open("ab") as file:
        file.write(b'{"match":')  # a crash in the middle of a line
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        token = await keyed(service)
        assert (await told(service, token, MESSAGES)).json["content"][0]["text"] == "two"
        assert len(await service.query("fake.llm.calls")) == 2


@pytest.mark.parametrize(
    "wanted",
    [
        {"replies": []},
        {"replies": [{}]},
        {"replies": [{"error": 200}]},
        {"replies": [{"text": "x", "delayMs": -1}]},
        {"replies": [{"text": "x"}], "match": 7},
        {"replies": [{"toolCalls": [{"name": ""}]}]},
    ],
)
async def test_a_script_that_says_nothing_is_refused(service: Service, wanted: dict[str, object]) -> None:
    with pytest.raises(RpcError) as caught:
        await service.mutate("fake.llm.script", **wanted)
    assert caught.value.code == "BAD_REQUEST"


async def test_without_the_fakes_there_is_no_hook(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with open_service(tmp_path, clock=wall, log=log) as service:
        with pytest.raises(RpcError) as caught:
            await service.query("fake.llm.calls")
        assert caught.value.code == "NOT_FOUND"
