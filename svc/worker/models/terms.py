"""The records of a conversation with a model, in words of no vendor. All of it is JSON, because steps keep it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from svc.worker.models.names import VendorName, capability_of, vendor_of
from svc.workflow import Fatal, Later

__all__ = ["VendorName", "capability_of", "vendor_of"]

Stop = Literal["end", "tools", "length", "refusal", "pause", "context"]
"""Why the model stopped. Tools are run only after ``tools``. ``pause``: ask again with its words so far, and it goes
on."""

MAX_TEXT_CHARS: Final = 1_000_000
MAX_CALLS: Final = 128
"""Tool calls of one answer."""
MAX_ARGUMENT_BYTES: Final = 1 << 20
MAX_NAME_CHARS: Final = 200


class Text(msgspec.Struct, frozen=True, tag="text"):
    text: str


class ToolCall(msgspec.Struct, frozen=True, tag="call"):
    """``id`` is ours, whatever the vendor sent: vendors' ids are missing, doubled or reused.

    ``input`` should be an object. If it is other JSON, the tool refuses it, and the model is told so.
    """

    id: str
    name: str
    input: Any

    @property
    def object(self) -> dict[str, Any]:
        """The input as vendors take it back: they refuse a conversation with anything but an object in it."""
        return self.input if isinstance(self.input, dict) else {}


class ToolResult(msgspec.Struct, frozen=True, tag="result"):
    """The result of a call. Each call gets exactly one, in the next message."""

    id: str
    content: str
    is_error: bool = False


class Raw(msgspec.Struct, frozen=True, tag="raw"):
    """A block of vendor A that we don't read (its thinking): it is sent back unchanged."""

    block: dict[str, Any]


Block = Text | ToolCall | ToolResult | Raw


class Said(msgspec.Struct, frozen=True):
    """One message."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]


class Tool(msgspec.Struct, frozen=True):
    """``schema`` is a JSON schema of an object."""

    name: str
    about: str
    schema: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Question:
    """``model``: an id, with ``a/`` or ``b/`` before it if the vendor does not follow from it.

    ``json_schema``: the answer shall be JSON of this shape. The caller checks that all the same.
    """

    model: str
    messages: Sequence[Said]
    system: str = ""
    tools: Sequence[Tool] = ()
    max_tokens: int = 2_048
    temperature: float | None = None
    json_schema: Mapping[str, Any] | None = None
    stream: bool = True


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """The model's whole answer. ``calls`` is empty unless ``stop`` is ``tools``. Tokens: ``None`` if not reported."""

    blocks: tuple[Block, ...]
    stop: Stop
    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    def as_said(self) -> Said:
        """The answer as the model's message in the next question."""
        return Said(role="assistant", blocks=self.blocks)


@dataclass(frozen=True)
class TextDelta:
    text: str


@dataclass(frozen=True)
class CallBegun:
    """The model begins to call a tool; the complete arguments come in the turn."""

    name: str


Event = TextDelta | CallBegun


class ModelFault(Later):
    """No usable answer. ``status`` is the vendor's, 0 if there was none."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class ModelRefused(Fatal, ModelFault):
    """As :class:`ModelFault`, but asking again would not help: the step fails at once."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        ModelFault.__init__(self, message, status=status)


class OverCeiling(ModelRefused):
    """svc itself stopped the call: it could exceed the limit for the cost of models."""


class OverOwnCeiling(OverCeiling):
    """As :class:`OverCeiling`, for the limit of this one run: its owner may raise the limit, and the run goes on."""
