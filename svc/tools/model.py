"""A tool as a row: what it takes, who may use it, what it may do to the world, and how it is shown before it does.

Two things decide whether a person is asked: whether the tool reads text from outside (that taints a run for good), and
whether a call is a sink, which is what could carry text out or change what others see.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from svc.principal import Principal
from svc.protocol import Wire
from svc.store import ReadTx, Tx
from svc.switches import Switch
from svc.workflow import Json
from svc.workspace import Workspace

WITHIN_S: Final = 30.0
"""What a tool waits for outside. Beyond: it is given up, and the model is told."""
MAX_OUTPUT_BYTES: Final = 128 * 1024
"""What a tool answers, as JSON. Beyond: its longest text is cut, and says so."""
MAX_READ_BYTES: Final = 2 * 1024 * 1024
"""What a tool holds of one file or answer. Beyond: 413 `too_large`, which the model is told."""

Level = Literal["read", "mail", "full"]
"""How much of the tools a client is shown: those that read, those of mail too, or all."""


class ToolInput(Wire, frozen=True, forbid_unknown_fields=True):
    """Base of what tools take. What a model adds of its own is refused, not passed over."""


class CardRow(Wire, frozen=True):
    """One line of a card. ``marks``: what a person should look at twice."""

    label: str
    text: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """``outside``: where the text in it comes from, if from outside; it taints the run."""

    output: Json
    outside: str | None = None


Decide = Callable[[Workspace, Tx, Principal, Any], Outcome]
"""In the transaction that keeps the result: exactly once."""
Perform = Callable[[Workspace, Principal, Any], Awaitable[Outcome]]
"""Outside of any transaction, by the subsystem of tools."""
HandOver = Callable[[Any], Json]
"""What the run's own code is told to do, in the worker plane: an order that :mod:`svc.worker.tools` knows."""
Sink = Callable[[ReadTx, Principal, Any], str | None]
"""Why this call could do harm, in words; ``None`` where it can't."""
Draw = Callable[[ReadTx, Principal, Any], tuple[CardRow, ...]]


@dataclass(frozen=True, kw_only=True)
class Tool:
    """Exactly one of ``decide``, ``perform`` and ``hand_over``. ``reads_outside``: with the call, whatever it answers.

    ``keyless``: doing it twice would do it twice, and the other side knows no keys: after a crash a person decides.
    ``capability``: what a device needs for it besides. ``input``: a record, or any object where ``described`` is its
    schema in another's words. ``grants``: what a run acquires that is given the tool.
    """

    name: str
    summary: str
    input: type[ToolInput] | type[dict[str, Any]]
    level: Level
    decide: Decide | None = None
    perform: Perform | None = None
    hand_over: HandOver | None = None
    described: Mapping[str, Any] | None = None
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
        """What it takes, as a JSON schema of one object."""
        if self.described is not None:
            return dict(self.described)
        (top, *_), named = msgspec.json.schema_components([self.input], ref_template="#/$defs/{name}")
        found = dict(named.pop(self.input.__name__))
        found.pop("title", None)
        if named:
            found["$defs"] = named
        assert "$ref" in top, "an input is a record"
        return found
