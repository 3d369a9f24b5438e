"""Asks a model, within a step: sends the question through the broker, retries where that helps, and reads the answer.

A question is asked again only while no part of an answer has arrived: a stream that is cut is a failed try of its step.
Owns no state: the step handles crash and retry, and keeps the turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec
import trio

from svc.backoff import Retries
from svc.protocol import LinkFault
from svc.worker.models import sse
from svc.worker.models.collecting import CUT, decoded
from svc.worker.models.reader_a import StreamA, fault_of, whole_a
from svc.worker.models.reader_b import StreamB, whole_b
from svc.worker.models.terms import (
    Block,
    Event,
    ModelFault,
    ModelRefused,
    OverCeiling,
    OverOwnCeiling,
    Question,
    Said,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
    Turn,
    VendorName,
    vendor_of,
)
from svc.worker.models.wires import A_VERSION, ANSWER, body_a, body_b, is_of_another
from svc.workflow import Answer, Run

TRIES: Final = 3
LONGEST_PAUSE_S: Final = 30.0
"""If a vendor asks for a longer pause, the step tries again after it instead, since it may wait for long."""
WITHIN_S: Final = 900.0
"""One answer, whole. Beyond: the try has failed."""
END_S: Final = 5.0
"""How long a vendor may take to end a stream in which it has said all. Beyond: the answer counts as it is."""
MAX_WHOLE_BYTES: Final = 8 << 20
"""An answer that is not streamed. Beyond: the try has failed."""
_RETRIES: Final = Retries(first_s=1.0, cap_s=8.0)
_AGAIN: Final = frozenset({408, 409, 429})
_SERVER_FAULT: Final = 500
_NOT_IMPLEMENTED: Final = 501
_OK: Final = 200
_PATHS: Final[dict[VendorName, str]] = {"a": "/llm-a/v1/messages", "b": "/llm-b/v1/chat/completions"}
_OURS: Final = "application/problem+json"
_OF_OURS: Final[dict[str, type[ModelFault]]] = {"over_ceiling": OverCeiling, "over_own_ceiling": OverOwnCeiling}
_LONG_PROMPT_CHARS: Final = 16_000
_FEWEST_TOKENS: Final = 10
"""A prompt has at least one token for so many characters. If the server counts fewer tokens, it has cut the prompt."""


def _nobody(event: Event) -> None:
    """Ignore the event."""


async def ask(run: Run, question: Question, *, heard: Callable[[Event], None] = _nobody) -> Turn:
    """The model's answer. ``heard`` is called with text and tool calls as they arrive.

    Raises :class:`ModelRefused` if asking again does not help, otherwise :class:`ModelFault` or ``LinkFault``.
    """
    vendor, model = vendor_of(question.model)
    question = replace(question, messages=with_own_ids(question.messages))
    body = msgspec.json.encode(body_a(question, model) if vendor == "a" else body_b(question, model))
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    if vendor == "a":
        headers["anthropic-version"] = A_VERSION
    with trio.move_on_after(WITHIN_S):
        answer = await _begun(run, _PATHS[vendor], body, headers)
        try:
            turn = await _read(answer, vendor, heard)
        except sse.TooLong:
            raise ModelFault("The model's answer has a line that is too long.") from None
        finally:
            await answer.aclose()
        _must_have_read_it(turn, question, vendor, model)
        return _as_json_text(turn) if vendor == "a" and question.json_schema is not None else turn
    raise ModelFault(f"The model took longer than {WITHIN_S:g} seconds.")


def with_own_ids(messages: Sequence[Said]) -> tuple[Said, ...]:
    """The messages, with an id for each call that is unique in the whole conversation, and the same id for its result.

    Every call gets exactly one result in the next message: a missing one is replaced by a text that says so, and a
    result without a call is left out. Otherwise all later requests would fail.
    """
    out: list[Said] = []
    unanswered: list[tuple[str, str]] = []  # by their old ids, in order
    count = 0
    for said in messages:
        blocks: list[Block] = []
        if said.role == "assistant" and unanswered:
            out.append(Said("user", _without_result(unanswered)))
            unanswered = []
        for block in said.blocks:
            if isinstance(block, ToolCall) and said.role == "assistant":
                count += 1
                unanswered.append((block.id, f"call_{count}"))
                blocks.append(ToolCall(f"call_{count}", block.name, block.input))
            elif isinstance(block, ToolResult) and said.role == "user":
                one = next((one for one in unanswered if one[0] == block.id), None)
                if one is not None:
                    unanswered.remove(one)
                    blocks.append(ToolResult(one[1], block.content, block.is_error))
            elif not isinstance(block, ToolCall | ToolResult):
                blocks.append(block)
        if said.role == "user":
            blocks = [*_without_result(unanswered), *blocks]
            unanswered = []
        if blocks:
            out.append(Said(said.role, tuple(blocks)))
    return tuple(out)


def _without_result(unanswered: Sequence[tuple[str, str]]) -> tuple[ToolResult, ...]:
    return tuple(ToolResult(own_id, _NO_RESULT, is_error=True) for _, own_id in unanswered)


_NO_RESULT: Final = "There is no result: the call was not made."


async def _begun(run: Run, path: str, body: bytes, headers: dict[str, str]) -> Answer:
    """The answer, once its head shows success."""
    for attempt in range(1, TRIES + 1):
        answer = await run.broker(path, body, headers=headers)
        if answer.status == _OK:
            return answer
        try:
            fault = await _fault(answer)
        finally:
            await answer.aclose()
        pause_s = pause_of(answer, attempt)
        if pause_s is None:
            raise fault if isinstance(fault, ModelRefused) else ModelRefused(str(fault), status=answer.status)
        if attempt == TRIES or pause_s > LONGEST_PAUSE_S:
            fault.after_s = pause_s
            raise fault
        await trio.sleep(pause_s)
    raise AssertionError("the last try raises")


def pause_of(answer: Answer, attempt: int) -> float | None:
    """The seconds until the question is asked again; ``None`` if that would not help."""
    said = answer.header("x-should-retry")
    status = answer.status
    may = status in _AGAIN or (status >= _SERVER_FAULT and status != _NOT_IMPLEMENTED)
    if said in {"true", "false"}:
        may = said == "true"
    if not may:
        return None
    wanted_s = _asked_for_s(answer)
    return _RETRIES.pause_s(attempt) if wanted_s is None else max(wanted_s, 0.0)


def _asked_for_s(answer: Answer) -> float | None:
    seconds = _written_s(answer)
    return seconds if seconds is not None and math.isfinite(seconds) else None


def _written_s(answer: Answer) -> float | None:
    millis, said = answer.header("retry-after-ms"), answer.header("retry-after")
    try:
        if millis is not None:
            return float(millis) / 1_000
        return None if said is None else float(said)
    except ValueError:
        pass
    try:
        date = answer.header("date")
        if said is not None and date is not None:
            return (parsedate_to_datetime(said) - parsedate_to_datetime(date)).total_seconds()
    except (ValueError, TypeError):
        pass
    return None


async def _fault(answer: Answer) -> ModelFault:
    try:
        said = decoded(await _whole(answer))
        if (answer.header("content-type") or "").startswith(_OURS) and "code" in said:
            kind = _OF_OURS.get(str(said.get("reason")), ModelFault)  # svc's own words, not the vendor's
            return kind(str(said.get("detail"))[:500], status=answer.status)
        return fault_of(said, status=answer.status)
    except (ModelFault, LinkFault):
        return ModelFault(f"The model's vendor answered {answer.status}.", status=answer.status)


async def _read(answer: Answer, vendor: VendorName, heard: Callable[[Event], None]) -> Turn:
    kind = (answer.header("content-type") or "").partition(";")[0].strip().lower()
    if kind == "text/event-stream":
        reader = StreamA() if vendor == "a" else StreamB()
        try:
            with trio.CancelScope() as reading:
                while piece := await answer.receive():
                    for event in reader.feed(piece):
                        heard(event)
                    if reader.is_done:
                        reading.deadline = min(reading.deadline, trio.current_time() + END_S)
        except LinkFault as fault:
            raise ModelFault(f"{CUT} The connection to it broke, or nothing more came.") from fault
        return reader.end()
    body = await _whole(answer)
    turn = whole_a(body) if vendor == "a" else whole_b(body)
    if turn.text:
        heard(TextDelta(turn.text))
    return turn


async def _whole(answer: Answer) -> bytes:
    body = bytearray()
    while piece := await answer.receive():
        body += piece
        if len(body) > MAX_WHOLE_BYTES:
            raise ModelFault(f"The answer has more than {MAX_WHOLE_BYTES} bytes.")
    return bytes(body)


def _must_have_read_it(turn: Turn, question: Question, vendor: VendorName, model: str) -> None:
    """A server with a small context window cuts a prompt at its start without an error: instructions and tools are then
    lost."""
    if vendor != "b" or not is_of_another(model) or turn.input_tokens is None:
        return
    chars = len(question.system) + sum(
        len(block.text if isinstance(block, Text) else block.content)
        for said in question.messages
        for block in said.blocks
        if isinstance(block, Text | ToolResult)
    )
    if chars > _LONG_PROMPT_CHARS and turn.input_tokens * _FEWEST_TOKENS < chars:
        raise ModelRefused(
            f"The model's server read {turn.input_tokens} tokens of a text of {chars} characters: its window is too "
            "small. Give it a larger one (OLLAMA_CONTEXT_LENGTH, --ctx-size, --max-model-len)."
        )


def _as_json_text(turn: Turn) -> Turn:
    """Vendor A returns JSON for a schema as a tool's arguments; here it becomes text, as from vendor B."""
    for call in turn.calls:
        if call.name == ANSWER:
            text = msgspec.json.encode(call.input).decode()
            return msgspec.structs.replace(turn, blocks=(Text(text=text),), stop="end")
    return turn
