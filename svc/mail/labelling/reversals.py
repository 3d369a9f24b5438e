"""How each kind of step is taken back: the one table, and the step that does it.

A row says when a step can still be taken back, and how. A step that can't any more (a mail that has left) is not
offered. Taking back is itself a step like any other: changed here, queued for the provider, told once; only it is not
remembered, so that one goes further back with each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import msgspec

from svc.mail.labelling import undo
from svc.mail.labelling.actions import known_labels
from svc.mail.labelling.step import KIND, Changes, MessageChange, Opened, Step
from svc.mail.labelling.undo import HELD_SEND, HeldSend, UndoRow
from svc.mail.sending import actions as sending_actions
from svc.mail.sending import queries as sending_queries
from svc.principal import Principal
from svc.store import ReadTx, Tx

_changes_of = msgspec.json.Decoder(Changes).decode
_held_of = msgspec.json.Decoder(HeldSend).decode


@dataclass(frozen=True, kw_only=True)
class Reversal:
    """``take_back`` returns the id of the draft that came of it, if one did."""

    is_open: Callable[[ReadTx, UndoRow], bool]
    take_back: Callable[[Tx, Principal, UndoRow], str | None]


@dataclass(frozen=True, kw_only=True)
class TakenBack:
    row: UndoRow
    draft_id: str | None


def undoable(tx: ReadTx, principal: Principal) -> list[UndoRow]:
    """What the principal can take back, newest first."""
    return [row for row in undo.steps(tx, principal) if REVERSALS[row.kind].is_open(tx, row)]


def take_back(tx: Tx, principal: Principal) -> TakenBack | None:
    """Take back the newest step that can be; ``None`` when there is none."""
    for row in undo.steps(tx, principal):
        reversal = REVERSALS[row.kind]
        undo.forget(tx, principal, id=row.id)
        if reversal.is_open(tx, row):
            return TakenBack(row=row, draft_id=reversal.take_back(tx, principal, row))
    return None


def _take_back_labels(tx: Tx, principal: Principal, row: UndoRow) -> None:
    """Only what the step itself changed goes back. What is gone meanwhile (a message, a label, a thread that is
    somebody else's now) is passed over."""
    changes = _changes_of(row.inverse)
    by_message = {change.message_id: change for change in changes.messages}
    snoozes = {before.thread_id: before.until for before in changes.snoozes}
    step = Step(tx=tx, principal=principal)
    for thread_id in row.thread_ids:
        opened = step.thread(thread_id)
        if opened is None:
            continue
        _take_back_thread(step, opened, by_message)
        if thread_id in snoozes:
            step.snooze(opened, until=snoozes[thread_id])
    step.finish(None)


def _take_back_thread(step: Step, opened: Opened, changes: Mapping[str, MessageChange]) -> None:
    known = known_labels(step.tx, opened.account)
    for message in opened.messages:
        change = changes.get(message.id)
        if change is not None:
            step.relabel(opened, message, add=frozenset(change.removed) & known, remove=frozenset(change.added))


def _hold_back(tx: Tx, principal: Principal, row: UndoRow) -> str | None:
    outgoing_id = _held_of(row.inverse).outgoing_id
    return sending_actions.cancel(tx, principal, outgoing_id=outgoing_id).restored_draft_id


def _is_held(tx: ReadTx, row: UndoRow) -> bool:
    outgoing = sending_queries.outgoing(tx, _held_of(row.inverse).outgoing_id)
    return outgoing is not None and outgoing.state == "held"


REVERSALS: Final[Mapping[str, Reversal]] = MappingProxyType(
    {
        KIND: Reversal(is_open=lambda tx, row: True, take_back=_take_back_labels),
        HELD_SEND: Reversal(is_open=_is_held, take_back=_hold_back),
    }
)
