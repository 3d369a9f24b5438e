"""Chat completions, responses and embeddings in vendor B's format."""

from __future__ import annotations

import base64
import hashlib
import math
import struct
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from svc.fakes.llm.said import Said, event, tokens
from svc.fakes.llm.world import records_in

MODEL: Final = "gpt-stand-in"
DIMENSIONS: Final = 1536
CREATED: Final = 1_767_225_600  # 2026-01-01: the same each time


def completion(said: Said) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None, "refusal": None}
    if said.tool_calls:
        message["tool_calls"] = _tool_calls(said)
    choice = {"index": 0, "message": message, "finish_reason": _reason(said), "logprobs": None}
    return {**_head(said, "chat.completion"), "choices": [choice], "usage": _usage(said)}


def completion_chunks(said: Said, *, with_usage: bool) -> Iterator[bytes]:
    """``with_usage``: the call has ``stream_options.include_usage``."""

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return event({**_head(said, "chat.completion.chunk"), "choices": [choice]}, named=False)

    yield chunk({"role": "assistant", "content": ""})
    for word in said.words:
        yield chunk({"content": word})
    for index, call in enumerate(_tool_calls(said)):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, _reason(said))
    if with_usage:
        yield event({**_head(said, "chat.completion.chunk"), "choices": [], "usage": _usage(said)}, named=False)
    yield b"data: [DONE]\n\n"


def response(said: Said) -> dict[str, Any]:
    usage = {
        "input_tokens": said.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": said.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": said.input_tokens + said.output_tokens,
    }
    return {**_response(said, "completed"), "output": _items(said), "usage": usage}


def response_events(said: Said) -> Iterator[bytes]:
    number = 0

    def numbered(kind: str, **more: Any) -> bytes:
        nonlocal number
        number += 1
        return event({"type": kind, "sequence_number": number - 1, **more})

    yield numbered("response.created", response=_response(said, "in_progress"))
    for index, item in enumerate(_items(said)):
        place = {"item_id": item["id"], "output_index": index}
        if item["type"] == "message":
            yield numbered("response.output_item.added", output_index=index, item={**item, "content": []})
            part = {"type": "output_text", "text": "", "annotations": []}
            yield numbered("response.content_part.added", **place, content_index=0, part=part)
            for word in said.words:
                yield numbered("response.output_text.delta", **place, content_index=0, delta=word, logprobs=[])
            yield numbered("response.output_text.done", **place, content_index=0, text=said.text, logprobs=[])
            yield numbered("response.content_part.done", **place, content_index=0, part=item["content"][0])
        else:
            yield numbered("response.output_item.added", output_index=index, item={**item, "arguments": ""})
            said_of_it = {"arguments": item["arguments"], "name": item["name"]}
            yield numbered("response.function_call_arguments.delta", **place, delta=item["arguments"])
            yield numbered("response.function_call_arguments.done", **place, **said_of_it)
        yield numbered("response.output_item.done", output_index=index, item=item)
    yield numbered("response.completed", response=response(said))


def dangling(body: dict[str, Any]) -> str | None:
    """The id of a tool result without a tool call. The real vendor refuses it, too."""
    called: set[str] = set()
    for message in records_in(body.get("messages")):
        called |= {str(call.get("id")) for call in records_in(message.get("tool_calls"))}
        if message.get("role") == "tool" and str(message.get("tool_call_id")) not in called:
            return str(message.get("tool_call_id"))
    return None


def embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """One vector per text. Texts that share words get similar vectors."""
    given = body.get("input")
    texts = [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, str)]
    size = body.get("dimensions")
    vectors = [
        _vector(text, size if isinstance(size, int) and 0 < size <= DIMENSIONS else DIMENSIONS) for text in texts
    ]
    packed = body.get("encoding_format") == "base64"
    rows = [
        {"object": "embedding", "index": index, "embedding": _packed(vector) if packed else vector}
        for index, vector in enumerate(vectors)
    ]
    count = tokens(texts)
    usage = {"prompt_tokens": count, "total_tokens": count}
    return {"object": "list", "data": rows, "model": body.get("model"), "usage": usage}


def models() -> dict[str, Any]:
    return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": CREATED, "owned_by": "stand-in"}]}


def _head(said: Said, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{said.number}", "object": kind, "created": CREATED, "model": said.model}


def _tool_calls(said: Said) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{said.number}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": msgspec.json.encode(call.input).decode()},
        }
        for index, call in enumerate(said.tool_calls)
    ]


def _reason(said: Said) -> str:
    return "tool_calls" if said.tool_calls else "stop"


def _usage(said: Said) -> dict[str, int]:
    return {
        "prompt_tokens": said.input_tokens,
        "completion_tokens": said.output_tokens,
        "total_tokens": said.input_tokens + said.output_tokens,
    }


def _response(said: Said, status: str) -> dict[str, Any]:
    return {
        "id": f"resp_{said.number}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "model": said.model,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "usage": None,
    }


def _items(said: Said) -> list[dict[str, Any]]:
    part = {"type": "output_text", "text": said.text, "annotations": []}
    message = {
        "id": f"msg_{said.number}",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }
    calls = [
        {
            "id": f"fc_{said.number}_{index}",
            "type": "function_call",
            "status": "completed",
            "call_id": call["id"],
            "name": call["function"]["name"],
            "arguments": call["function"]["arguments"],
        }
        for index, call in enumerate(_tool_calls(said))
    ]
    return [*([message] if said.text or not calls else []), *calls]


def _vector(text: str, size: int) -> list[float]:
    vector = [0.0] * size
    for word in text.lower().split():
        digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
        vector[int.from_bytes(digest[:4], "big") % size] += 1.0 if digest[4] % 2 else -1.0
    length = math.sqrt(sum(number * number for number in vector))
    return [number / length for number in vector] if length else [1.0, *vector[1:]]


def _packed(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
