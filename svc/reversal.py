"""How a step is taken back: the row by which a feature says so. The undo feature keeps the steps and offers them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from svc.clock import Millis
from svc.principal import Principal
from svc.store import ReadTx, Tx
from svc.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class UndoStep:
    """One step of a person. ``kind`` names its reversal, which knows what ``inverse`` (JSON) means; ``what`` names what
    the person did; ``concerns`` holds the ids of what it was done to."""

    id: int
    kind: str
    what: str
    concerns: tuple[str, ...]
    inverse: bytes
    at: Millis
    group: str | None = None
    """Rows with the same one are one step of the person, told in several calls."""


def _always_open(tx: ReadTx, step: UndoStep) -> bool:
    return True


def _nothing_more(workspace: Workspace) -> None:
    """Nobody has to be told."""


@dataclass(frozen=True, kw_only=True)
class Reversal:
    """``take_back`` runs in one transaction and returns the id of the draft that came of it, if one did. ``is_open``:
    whether the step can still be taken back. ``then`` runs after the commit."""

    kind: str
    take_back: Callable[[Tx, Principal, UndoStep], str | None]
    is_open: Callable[[ReadTx, UndoStep], bool] = _always_open
    then: Callable[[Workspace], None] = _nothing_more
