"""The stand-in behind ``llm-a`` and ``llm-b``: turns a call, as it would be sent, into an answer, as a vendor would
give it.
"""

from __future__ import annotations

from typing import Any

import msgspec
import trio

from svc.broker import Outgoing, Streamed
from svc.fakes.llm import wire_a, wire_b
from svc.fakes.llm.said import Pieces, Said, refusal, stream, tokens, whole
from svc.fakes.llm.world import Asked, FakeModels, strings_in


async def answer(models: FakeModels, call: Outgoing) -> Streamed:
    """Raises nothing: an unknown call is refused as the vendor would refuse it."""
    await trio.lowlevel.checkpoint()
    path = call.target.partition("?")[0]
    if not call.headers.get("x-api-key" if call.vendor == "a" else "authorization"):
        return refusal(401, "There is no key.")
    if call.method == "GET" and path == "/v1/models":
        return whole(wire_a.models() if call.vendor == "a" else wire_b.models())
    body = _body(call)
    if body is None:
        return refusal(400, "The body is not a JSON object.")
    match call.vendor, call.method, path:
        case "a", "POST", "/v1/messages":
            return await _generated(models, call, body, "messages")
        case "a", "POST", "/v1/messages/count_tokens":
            return whole({"input_tokens": tokens(strings_in(_context(body)))})
        case "b", "POST", "/v1/chat/completions":
            return await _generated(models, call, body, "completions")
        case "b", "POST", "/v1/responses":
            return await _generated(models, call, body, "responses")
        case "b", "POST", "/v1/embeddings":
            return whole(wire_b.embeddings(body))
    return refusal(404, f"The stand-in does not know {call.method} {path}.")


async def _generated(models: FakeModels, call: Outgoing, body: dict[str, Any], wire: str) -> Pieces:
    loose = wire_a.dangling(body) if call.vendor == "a" else wire_b.dangling(body)
    if loose is not None:
        return refusal(400, f"No tool call has the id {loose}.")
    asked = Asked(
        vendor=call.vendor,
        model=str(body.get("model", "")),
        messages=_listed(body.get("messages", body.get("input"))),
        tools=_listed(body.get("tools")),
    )
    reply, number = await models.next_reply(asked, _context(body))
    await trio.sleep(reply.delay_ms / 1_000)
    if reply.error is not None:
        return refusal(reply.error, "It was scripted so.")
    said = Said.of(reply, asked, number=number, context=_context(body))
    if not body.get("stream"):
        shapes = {"messages": wire_a.message, "completions": wire_b.completion, "responses": wire_b.response}
        return whole(shapes[wire](said))
    if wire == "completions":
        options = body.get("stream_options")
        with_usage = isinstance(options, dict) and options.get("include_usage") is True
        return stream(wire_b.completion_chunks(said, with_usage=with_usage))
    return stream(wire_a.events(said) if wire == "messages" else wire_b.response_events(said))


def _body(call: Outgoing) -> dict[str, Any] | None:
    try:
        body = msgspec.json.decode(call.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _context(body: dict[str, Any]) -> list[Any]:
    """All input of the model."""
    return [body.get(name) for name in ("system", "instructions", "messages", "input")]


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
