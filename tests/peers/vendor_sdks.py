"""Asks both model vendors' own SDKs the same things, and prints what they understood, as JSON: a line for each.

usage: vendor_sdks.py ANTHROPIC_BASE OPENAI_BASE HEADERS_JSON KEY_A KEY_B

Runs with the interpreter of ``.ci/peers`` that has the SDKs; imports nothing of ours. Ids and times are left out: they
differ each time. Nothing is tried again, so that what is told is what one answer was.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import anthropic
import openai

A_URL, B_URL, FIELDS, KEY_A, KEY_B = sys.argv[1:6]
HEADERS = json.loads(FIELDS)
A = anthropic.Anthropic(base_url=A_URL, api_key=KEY_A, default_headers=HEADERS, max_retries=0)
B = openai.OpenAI(base_url=B_URL, api_key=KEY_B, default_headers=HEADERS, max_retries=0)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL_A: Any = {"name": "get_weather", "description": "The weather.", "input_schema": SCHEMA}
TOOL_B: Any = {"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}
MODEL_A, MODEL_B = "claude-sonnet-4-5", "gpt-4.1-mini"


def loop_a(stream: bool) -> list[Any]:
    """A question, the tool that it calls, and the answer with the tool's result."""
    messages: list[Any] = [{"role": "user", "content": "weather in Oslo"}]
    told: list[Any] = []
    for _ in range(2):
        asked: Any = {"model": MODEL_A, "max_tokens": 200, "messages": messages, "tools": [TOOL_A]}
        if stream:
            with A.messages.stream(**asked) as events:
                kinds = [event.type for event in events]
                said = events.get_final_message()
            told.append(sorted(set(kinds)))
        else:
            said = A.messages.create(**asked)
        told.append([said.stop_reason, said.usage.input_tokens, said.usage.output_tokens])
        told.append([getattr(block, "text", None) or getattr(block, "input", None) for block in said.content])
        calls = [block for block in said.content if block.type == "tool_use"]
        messages.append(
            {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in said.content]}
        )
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": "rain"} for call in calls]
        messages.append({"role": "user", "content": results})
    return told


def loop_b(stream: bool) -> list[Any]:
    messages: list[Any] = [{"role": "user", "content": "weather in Oslo"}]
    told: list[Any] = []
    for _ in range(2):
        asked: Any = {"model": MODEL_B, "messages": messages, "tools": [TOOL_B]}
        if stream:
            calls: dict[int, dict[str, str]] = {}
            text, usage, reason = "", None, None
            for chunk in B.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}):
                usage = chunk.usage.total_tokens if chunk.usage else usage
                for choice in chunk.choices:
                    text += choice.delta.content or ""
                    reason = choice.finish_reason or reason
                    for part in choice.delta.tool_calls or []:
                        call = calls.setdefault(part.index, {"id": "", "name": "", "arguments": ""})
                        call["id"] = part.id or call["id"]
                        call["name"] += part.function.name or "" if part.function else ""
                        call["arguments"] += part.function.arguments or "" if part.function else ""
            found = list(calls.values())
        else:
            said = B.chat.completions.create(**asked)
            message = said.choices[0].message
            text, usage, reason = message.content or "", said.usage.total_tokens, said.choices[0].finish_reason
            found = [
                {"id": one.id, "name": one.function.name, "arguments": one.function.arguments}
                for one in message.tool_calls or []
            ]
        told.append([reason, usage, text, [[one["name"], one["arguments"]] for one in found]])
        made = [
            {"id": one["id"], "type": "function", "function": {"name": one["name"], "arguments": one["arguments"]}}
            for one in found
        ]
        messages.append({"role": "assistant", "content": text or None, **({"tool_calls": made} if made else {})})
        messages += [{"role": "tool", "tool_call_id": one["id"], "content": "rain"} for one in found]
    return told


def ask_a(text: str, *, stream: bool = False) -> Any:
    asked: Any = {"model": MODEL_A, "max_tokens": 20, "messages": [{"role": "user", "content": text}]}
    if not stream:
        return A.messages.create(**asked).content[0].to_dict()
    heard = []
    with A.messages.stream(**asked) as events:
        heard += list(events.text_stream)
        return [heard, events.get_final_message().stop_reason]


def ask_b(text: str) -> Any:
    said = B.chat.completions.create(model=MODEL_B, messages=[{"role": "user", "content": text}])
    return said.choices[0].message.content


def streamed_b(text: str) -> Any:
    chunks = B.chat.completions.create(model=MODEL_B, messages=[{"role": "user", "content": text}], stream=True)
    return [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]


def embedded() -> Any:
    found = B.embeddings.create(model="text-embedding-3-small", input=["one text", "another"], dimensions=64)
    return [[len(one.embedding), one.embedding[:3]] for one in found.data]


SCENARIOS: dict[str, Callable[[], Any]] = {
    "a: tools": lambda: loop_a(stream=False),
    "a: tools, streamed": lambda: loop_a(stream=True),
    "a: pieces": lambda: ask_a("long story", stream=True),
    "a: too many": lambda: ask_a("ratelimit"),
    "a: dropped": lambda: ask_a("dropped"),
    "a: malformed": lambda: ask_a("malformed"),
    "a: cut off": lambda: ask_a("cut off", stream=True),
    "b: tools": lambda: loop_b(stream=False),
    "b: tools, streamed": lambda: loop_b(stream=True),
    "b: pieces": lambda: streamed_b("long story"),
    "b: responses": lambda: B.responses.create(model=MODEL_B, input="long story").output_text,
    "b: embeddings": embedded,
    "b: models": lambda: [one.id for one in B.models.list().data][:5],
    "b: too many": lambda: ask_b("ratelimit"),
    "b: dropped": lambda: ask_b("dropped"),
    "b: malformed": lambda: ask_b("malformed"),
    "b: cut off": lambda: streamed_b("cut off"),
}

for name, scenario in SCENARIOS.items():
    try:
        told = scenario()
    except Exception as fault:  # what the SDK makes of it is what is compared
        told = [type(fault).__name__, getattr(fault, "status_code", None), str(getattr(fault, "body", None))]
    print(json.dumps([name, told]))
