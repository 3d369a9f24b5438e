"""A tool as a row: its input, who may use it, what it may change outside, and the card shown before it acts.

Two facts decide whether a person is asked: whether the tool reads text from outside (that taints a run for good), and
whether a call is a sink. A sink is a call that could carry text out, or change what others see.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import msgspec

from svc.inert import inert
from svc.principal import Principal
from svc.protocol import Wire
from svc.store import ReadTx, Tx
from svc.switches import Switch
from svc.workflow import Json
from svc.workspace import Workspace

WITHIN_S: Final = 30.0
"""The time for a tool's work outside. Beyond: it is given up, and the model is told."""
MAX_OUTPUT_BYTES: Final = 128 * 1024
"""The output of a tool, as JSON. Beyond: its longest text is cut, and says so."""
MAX_READ_BYTES: Final = 2 * 1024 * 1024
"""The bytes of one file or answer that a tool holds. Beyond: 413 `too_large`, which the model is told."""

Level = Literal["read", "mail", "full"]
"""Which tools a client is shown: those that read, those of mail too, or all."""


class ToolInput(Wire, frozen=True, forbid_unknown_fields=True):
    """Base of the inputs of tools. An unknown field that a model adds is refused, not ignored."""


class CardRow(Wire, frozen=True):
    """One line of a card. ``marks``: warnings that a person should notice."""

    label: str
    text: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """``outside``: the source of the text in the output, if it is from outside; it taints the run."""

    output: Json
    outside: str | None = None


Decide = Callable[[Workspace, Tx, Principal, Any], Outcome]
"""Runs in the transaction that keeps the result: exactly once."""
Perform = Callable[[Workspace, Principal, Any], Awaitable[Outcome]]
"""Runs outside of any transaction, in the subsystem of tools."""
HandOver = Callable[[Any], Json]
"""The order to the code of the run, in the worker plane. :mod:`svc.worker.tools` knows these orders."""
Sink = Callable[[ReadTx, Principal, Any], str | None]
"""Why this call could do harm, in words; ``None`` if it can't."""
Draw = Callable[[ReadTx, Principal, Any], tuple[CardRow, ...]]


@dataclass(frozen=True, kw_only=True)
class Tool:
    """Has exactly one of ``decide``, ``perform`` and ``hand_over``. ``reads_outside``: the call taints the run,
    whatever the answer.

    ``keyless``: the other side knows no idempotency keys, so a second call would act twice; after a crash a person
    decides. ``capability``: what a device also needs for it. ``input``: a record, or any object where ``described`` is
    its schema in another's words; ``described_by`` says whose. ``grants``: the capabilities of a run that has the tool.
    """

    name: str
    summary: str
    input: type[ToolInput] | type[dict[str, Any]]
    level: Level
    decide: Decide | None = None
    perform: Perform | None = None
    hand_over: HandOver | None = None
    described: Mapping[str, Any] | None = None
    described_by: str | None = None
    grants: tuple[str, ...] = ()
    access: Literal["authenticated", "admin"] = "authenticated"
    capability: str | None = None
    switch: Switch | None = None
    reads_outside: str | None = None
    sink: Sink | None = None
    card: Draw | None = None
    keyless: bool = False
    within_s: float = WITHIN_S
    max_output_bytes: int = MAX_OUTPUT_BYTES
    after: Callable[[Workspace], None] = lambda workspace: None

    def __post_init__(self) -> None:
        if [self.decide, self.perform, self.hand_over].count(None) != 2:
            raise ValueError(f"{self.name} needs one of decide, perform and hand_over")

    @property
    def schema(self) -> dict[str, Any]:
        """The input as a JSON schema of one object, for a model. It reads in another's words what a person saw who
        allowed the tool: no invisible characters. They are looked for here and not in each row, as that takes a while.
        """
        if self.described is not None:
            return cast("dict[str, Any]", msgspec.json.decode(inert(msgspec.json.encode(self.described).decode())))
        (top, *_), named = msgspec.json.schema_components([self.input], ref_template="#/$defs/{name}")
        found = dict(named.pop(self.input.__name__))
        found.pop("title", None)
        if named:
            found["$defs"] = named
        assert "$ref" in top, "an input is a record"
        return found
