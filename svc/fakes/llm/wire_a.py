"""The Messages API in vendor A's format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from svc.fakes.llm.said import Said, event
from svc.fakes.llm.world import records_in

MODEL = "claude-stand-in"


def message(said: Said) -> dict[str, Any]:
    usage = {"input_tokens": said.input_tokens, "output_tokens": said.output_tokens}
    return {**_message(said), "content": _blocks(said), "stop_reason": _reason(said), "usage": usage}


def events(said: Said) -> Iterator[bytes]:
    usage = {"input_tokens": said.input_tokens, "output_tokens": 1}
    yield event({"type": "message_start", "message": {**_message(said), "usage": usage}})
    for index, block in enumerate(_blocks(said)):
        begun = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        yield event({"type": "content_block_start", "index": index, "content_block": begun})
        for delta in _deltas(said, block):
            yield event({"type": "content_block_delta", "index": index, "delta": delta})
        yield event({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": _reason(said), "stop_sequence": None}
    yield event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": said.output_tokens}})
    yield event({"type": "message_stop"})


def dangling(body: dict[str, Any]) -> str | None:
    """The id of a tool result without a tool call. The real vendor refuses it, too."""
    called: set[str] = set()
    for message in records_in(body.get("messages")):
        for block in records_in(message.get("content")):
            if block.get("type") == "tool_use":
                called.add(str(block.get("id")))
            elif block.get("type") == "tool_result" and str(block.get("tool_use_id")) not in called:
                return str(block.get("tool_use_id"))
    return None


def models() -> dict[str, Any]:
    row = {"type": "model", "id": MODEL, "display_name": "Stand-in", "created_at": "2026-01-01T00:00:00Z"}
    return {"data": [row], "has_more": False, "first_id": MODEL, "last_id": MODEL}


def _message(said: Said) -> dict[str, Any]:
    return {
        "id": f"msg_{said.number}",
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _blocks(said: Said) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": said.text}] if said.text else []
    return [
        *text,
        *(
            {"type": "tool_use", "id": f"toolu_{said.number}_{index}", "name": call.name, "input": call.input}
            for index, call in enumerate(said.tool_calls)
        ),
    ]


def _deltas(said: Said, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if block["type"] == "text":
        for word in said.words:
            yield {"type": "text_delta", "text": word}
    else:
        yield {"type": "input_json_delta", "partial_json": msgspec.json.encode(block["input"]).decode()}


def _reason(said: Said) -> str:
    return "tool_use" if said.tool_calls else "end_turn"
