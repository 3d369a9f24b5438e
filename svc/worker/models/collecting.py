"""The shared part of both readers: a growing turn with limits, and its tool calls as they become complete."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from svc.worker.models.terms import (
    MAX_ARGUMENT_BYTES,
    MAX_CALLS,
    MAX_NAME_CHARS,
    MAX_TEXT_CHARS,
    Block,
    ModelFault,
    Raw,
    Stop,
    Text,
    ToolCall,
    Turn,
)

CUT: Final = "The model's answer was cut."


def decoded(data: str | bytes) -> dict[str, Any]:
    """One JSON object. Raises :class:`ModelFault`."""
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise ModelFault("The model's answer is no JSON.") from None
    if not isinstance(found, dict):
        raise ModelFault("The model's answer is no JSON object.")
    return found


def arguments_of(given: object) -> Any:
    """The arguments of a call: as JSON in a text, as servers for vendor B send them; or as a value; or nothing. If they
    are no object, the tool refuses them.

    Raises :class:`ModelFault`: incomplete JSON is never run.
    """
    if given is None or given == "":
        return {}
    if not isinstance(given, str):
        return given
    if len(given) > MAX_ARGUMENT_BYTES:
        raise ModelFault("The model called a tool with arguments that can't be read.")
    try:
        found = msgspec.json.decode(given)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise ModelFault("The model called a tool with half a JSON.") from None
    return {} if found is None else found


def rows_of(given: object) -> list[Any]:
    """``given`` if it is a list, else an empty one: a server that only imitates the vendor's API may send anything."""
    return given if isinstance(given, list) else []


def words_of(given: object) -> str:
    return given if isinstance(given, str) else ""


def count_of(given: object) -> int | None:
    return given if isinstance(given, int) and not isinstance(given, bool) and given >= 0 else None


@dataclass
class Collecting:
    """The blocks of a turn, in order. ``text`` and ``call`` raise :class:`ModelFault` if the model's answer grows
    beyond its limits."""

    blocks: list[Block] = field(default_factory=list)
    input_tokens: int | None = None
    output_tokens: int | None = None
    _text: list[str] = field(default_factory=list)
    _chars: int = 0
    _calls: int = 0

    def text(self, more: str) -> None:
        self.said(len(more))
        if more:
            self._text.append(more)

    def said(self, chars: int) -> None:
        """Count what the model says, thinking too. Raises :class:`ModelFault` if it is too much."""
        self._chars += chars
        if self._chars > MAX_TEXT_CHARS:
            raise ModelFault(f"The model said more than {MAX_TEXT_CHARS} characters.")

    def call(self, name: object, given: object) -> None:
        self._flush()
        self._calls += 1
        if self._calls > MAX_CALLS:
            raise ModelFault(f"The model called more than {MAX_CALLS} tools at once.")
        if not isinstance(name, str) or not name:
            raise ModelFault("The model called a tool without a name.")
        if len(name) > MAX_NAME_CHARS:
            raise ModelFault("The model called a tool with a name that is too long.")
        self.blocks.append(ToolCall(id=f"call_{self._calls}", name=name, input=arguments_of(given)))

    @property
    def has_calls(self) -> bool:
        return self._calls > 0

    def raw(self, block: dict[str, Any]) -> None:
        """A block without a kind is left out: the vendor would refuse the conversation with it."""
        self._flush()
        if isinstance(block.get("type"), str):
            self.blocks.append(Raw(block=block))

    def turn(self, stop: Stop, *, model: str) -> Turn:
        """The finished turn. Calls are dropped if it stopped for another reason than tools: half of a plan is not
        run."""
        self._flush()
        blocks = tuple(self.blocks)
        if self._calls and stop == "end":
            stop = "tools"
        elif stop == "tools" and not self._calls:
            stop = "end"
        elif self._calls and stop != "tools":
            blocks = tuple(block for block in blocks if not isinstance(block, ToolCall))
        return Turn(
            blocks=blocks,
            stop=stop,
            model=model,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
        )

    def _flush(self) -> None:
        if self._text:
            self.blocks.append(Text(text="".join(self._text)))
            self._text.clear()
