"""Writes a question in the format of each vendor's API."""

from __future__ import annotations

import json
from typing import Any, Final

from svc.worker.models.terms import Block, Question, Said, Text, ToolCall, ToolResult

A_VERSION: Final = "2023-06-01"
_OWN_B: Final = ("gpt-", "o1", "o3", "o4", "chatgpt-")


def body_a(question: Question, model: str) -> dict[str, Any]:
    """The Messages API. A JSON schema becomes a tool that must be called: all of its models support that."""
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": question.max_tokens,
        "messages": [
            {"role": said.role, "content": blocks} for said in question.messages if (blocks := _blocks_a(said))
        ],
        "stream": question.stream,
    }
    if question.system:
        body["system"] = question.system
    if question.temperature is not None:
        body["temperature"] = question.temperature
    tools = [{"name": tool.name, "description": tool.about, "input_schema": tool.schema} for tool in question.tools]
    if question.json_schema is not None:
        tools.append({"name": ANSWER, "description": _ANSWER_HELP, "input_schema": dict(question.json_schema)})
        body["tool_choice"] = {"type": "tool", "name": ANSWER}
    if tools:
        body["tools"] = tools
    return body


ANSWER: Final = "answer"
_ANSWER_HELP: Final = "Give your answer here."


def _blocks_a(said: Said) -> list[dict[str, Any]]:
    """Results come first in their message: the API requires it. It refuses blank text, and a message of nothing."""
    results = [block for block in said.blocks if isinstance(block, ToolResult)]
    others = [block for block in said.blocks if not isinstance(block, ToolResult)]
    return [
        _block_a(block) for block in (*results, *others) if not (isinstance(block, Text) and not block.text.strip())
    ]


def _block_a(block: Block) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    if isinstance(block, ToolCall):
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.object}
    if isinstance(block, ToolResult):
        return {
            "type": "tool_result",
            "tool_use_id": block.id,
            "content": block.content,
            **({"is_error": True} if block.is_error else {}),
        }
    return block.block


def is_of_another(model: str) -> bool:
    """Whether another server speaks vendor B's API: it is asked for one call per turn, and with tools, unstreamed."""
    return not model.startswith(_OWN_B)


def body_b(question: Question, model: str) -> dict[str, Any]:
    """Chat Completions."""
    messages: list[dict[str, Any]] = []
    if question.system:
        messages.append({"role": "system", "content": question.system})
    for said in question.messages:
        messages += _messages_b(said)
    streams = question.stream and not (question.tools and is_of_another(model))
    body: dict[str, Any] = {"model": model, "messages": messages, "stream": streams}
    if streams:
        body["stream_options"] = {"include_usage": True}
    body["max_tokens" if is_of_another(model) else "max_completion_tokens"] = question.max_tokens
    if question.temperature is not None:
        body["temperature"] = question.temperature
    if question.tools:
        body["tools"] = [
            {"type": "function", "function": {"name": tool.name, "description": tool.about, "parameters": tool.schema}}
            for tool in question.tools
        ]
        if is_of_another(model):
            body["parallel_tool_calls"] = False
    if question.json_schema is not None:
        schema = {"name": ANSWER, "schema": dict(question.json_schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _messages_b(said: Said) -> list[dict[str, Any]]:
    """Each result is a message of its own; blocks of vendor A that we don't read are left out."""
    text = "".join(block.text for block in said.blocks if isinstance(block, Text))
    calls = [
        {
            "id": block.id,
            "type": "function",
            "function": {"name": block.name, "arguments": json.dumps(block.object, ensure_ascii=False)},
        }
        for block in said.blocks
        if isinstance(block, ToolCall)
    ]
    results: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": block.id, "content": block.content}
        for block in said.blocks
        if isinstance(block, ToolResult)
    ]
    if said.role == "assistant":
        return [{"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}]
    return [*results, *([{"role": "user", "content": text}] if text or not results else [])]
