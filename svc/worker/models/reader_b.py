"""Reads the answers of Chat Completions, streamed or whole, from vendor B and the many servers with the same API.
Sans-IO.

These servers differ in how they stream tool calls: arguments as an object, the name in every chunk, every call with the
index 0, a repeated id, or none. So a call ends where another id or name begins, and ids are our own. The usage comes in
a separate chunk after the stop reason: a stream is read to ``[DONE]``, or to its end if that never comes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from svc.worker.models.collecting import CUT, Collecting, count_of, decoded, rows_of
from svc.worker.models.reader_a import fault_of
from svc.worker.models.sse import Events
from svc.worker.models.terms import MAX_ARGUMENT_BYTES, MAX_CALLS, CallBegun, Event, ModelFault, Stop, TextDelta, Turn

_STOPS: Final[dict[str, Stop]] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refusal",
}
_DONE: Final = "[DONE]"


@dataclass
class _Call:
    index: int
    id: str
    name: str
    given: Any = None
    pieces: list[str] = field(default_factory=list)
    size: int = 0

    @property
    def is_whole(self) -> bool:
        if self.given is not None:
            return True
        try:
            return isinstance(msgspec.json.decode("".join(self.pieces)), dict | list)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return False


class StreamB:
    def __init__(self) -> None:
        self._events = Events()
        self._said = Collecting()
        self._model = ""
        self._calls: list[_Call] = []
        self._stop: str | None = None
        self._refused = False
        self.is_done = False
        """The vendor has said that this was all."""

    def feed(self, piece: bytes) -> list[Event]:
        """Raises :class:`ModelFault`, and ``sse.TooLong``."""
        heard: list[Event] = []
        for data in self._events.feed(piece):
            self.is_done = self.is_done or data.strip() == _DONE
            if not self.is_done:
                self._take(decoded(data), heard)
        return heard

    def end(self) -> Turn:
        """The turn. Raises :class:`ModelFault` if the stream was cut: an unfinished answer is not used."""
        if self._stop is None:
            raise ModelFault(CUT)
        stop = "refusal" if self._refused else _STOPS.get(self._stop, "end")
        if stop in {"end", "tools"}:
            for call in self._calls:
                self._said.call(call.name, call.given if call.given is not None else "".join(call.pieces))
        return self._said.turn(stop, model=self._model)

    def _take(self, chunk: dict[str, Any], heard: list[Event]) -> None:
        if chunk.get("error"):
            raise fault_of(chunk)
        self._model = self._model or str(chunk.get("model") or "")
        _count(self._said, chunk.get("usage"))
        for choice in rows_of(chunk.get("choices")):
            if not isinstance(choice, dict):
                continue
            delta = choice.get("delta")
            if isinstance(delta, dict):
                self._delta(delta, heard)
            if choice.get("finish_reason"):
                self._stop = str(choice["finish_reason"])
            break

    def _delta(self, delta: dict[str, Any], heard: list[Event]) -> None:
        text = delta.get("content")
        if isinstance(text, str) and text:
            self._said.text(text)
            heard.append(TextDelta(text))
        if delta.get("refusal"):
            self._refused = True
        for part in rows_of(delta.get("tool_calls")):
            if isinstance(part, dict):
                self._part(part, heard)

    def _part(self, part: dict[str, Any], heard: list[Event]) -> None:
        function = part.get("function")
        said = function if isinstance(function, dict) else {}
        name, given = str(said.get("name") or ""), said.get("arguments")
        call = self._call_of(part.get("index"), str(part.get("id") or ""), name)
        if call is None:
            if len(self._calls) >= MAX_CALLS:
                raise ModelFault(f"The model called more than {MAX_CALLS} tools at once.")
            index = part.get("index")
            call = _Call(
                index=index if isinstance(index, int) else len(self._calls), id=str(part.get("id") or ""), name=name
            )
            self._calls.append(call)
            heard.append(CallBegun(name))
        call.name = call.name or name
        if given is not None and not isinstance(given, str):
            call.given = given
        elif given is not None:
            call.size += len(given)
            if call.size > MAX_ARGUMENT_BYTES:
                raise ModelFault("The model called a tool with arguments that are too long.")
            call.pieces.append(given)

    def _call_of(self, index: object, id: str, name: str) -> _Call | None:
        """The call that a chunk continues; ``None`` if the chunk begins another call."""
        same = [call for call in self._calls if call.index == index] if isinstance(index, int) else self._calls
        last = same[-1] if same else None
        if last is None:
            return None
        begins_another = (id and last.id and id != last.id) or (name and last.name and name != last.name)
        again = name and last.is_whole and bool(last.pieces or last.given is not None)
        return None if begins_another or again else last


def whole_b(body: bytes) -> Turn:
    """Raises :class:`ModelFault`."""
    answer = decoded(body)
    if answer.get("error"):
        raise fault_of(answer)
    choice = next((one for one in rows_of(answer.get("choices")) if isinstance(one, dict)), None)
    message = choice.get("message") if choice else None
    if choice is None or not isinstance(message, dict):
        raise ModelFault("The model's answer has no message.")
    said = Collecting()
    _count(said, answer.get("usage"))
    if isinstance(message.get("content"), str):
        said.text(message["content"])
    stop = "refusal" if message.get("refusal") else _STOPS.get(str(choice.get("finish_reason")), "end")
    if stop in {"end", "tools"}:
        for call in rows_of(message.get("tool_calls")):
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict):
                said.call(function.get("name"), function.get("arguments"))
    return said.turn(stop, model=str(answer.get("model") or ""))


def _count(said: Collecting, usage: object) -> None:
    if isinstance(usage, dict):
        given, made = count_of(usage.get("prompt_tokens")), count_of(usage.get("completion_tokens"))
        said.input_tokens = said.input_tokens if given is None else given
        said.output_tokens = said.output_tokens if made is None else made
