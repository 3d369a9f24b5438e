"""How a person's step is undone: the row by which a feature defines it. The undo feature stores the steps and offers
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from svc.clock import Millis
from svc.principal import Principal
from svc.store import ReadTx, Tx
from svc.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class UndoStep:
    """One step of a person. ``kind`` names its reversal, which understands ``inverse`` (JSON). ``what`` names the
    action of the person. ``concerns`` holds the ids of the objects it changed.
    """

    id: int
    kind: str
    what: str
    concerns: tuple[str, ...]
    inverse: bytes
    at: Millis
    group: str | None = None
    """Rows with the same group are one step of the person, made in several calls."""


def _always_open(tx: ReadTx, step: UndoStep) -> bool:
    return True


def _nothing_more(workspace: Workspace) -> None:
    """Nothing runs after the commit."""


@dataclass(frozen=True, kw_only=True)
class Reversal:
    """``take_back`` runs in one transaction, and returns the id of the resulting draft, if there is one. ``is_open``:
    whether the step can still be undone. ``then`` runs after the commit.
    """

    kind: str
    take_back: Callable[[Tx, Principal, UndoStep], str | None]
    is_open: Callable[[ReadTx, UndoStep], bool] = _always_open
    then: Callable[[Workspace], None] = _nothing_more
