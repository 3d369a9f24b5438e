"""How a step on threads is taken back: a step like any other, changed here, queued for the provider, told once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from svc.mail.labelling.actions import known_labels
from svc.mail.labelling.carrying_on import carry_on
from svc.mail.labelling.step import KIND, Changes, MessageChange, Opened, Step
from svc.mail.threads import queries as thread_queries
from svc.principal import Principal
from svc.reversal import Reversal, UndoStep
from svc.store import Tx

_changes_of = msgspec.json.Decoder(Changes).decode


def _take_back(tx: Tx, principal: Principal, undone: UndoStep) -> None:
    """Only what the step itself changed goes back. What is gone meanwhile (a message, a label, a thread that is
    somebody else's now) is passed over."""
    take_back(tx, principal, _changes_of(undone.inverse), concerns=undone.concerns)


def take_back(tx: Tx, principal: Principal, changes: Changes, *, concerns: Sequence[str] = ()) -> None:
    """The same of what another log has remembered. ``concerns``: threads of which it says more than of messages."""
    by_message = {change.message_id: change for change in changes.messages}
    snoozes = {before.thread_id: before.until for before in changes.snoozes}
    step = Step(tx=tx, principal=principal)
    mutes = {before.thread_id: before.muted for before in changes.mutes}
    moved = thread_queries.threads_of(tx, message_ids=by_message)  # a thread may have become one with another since
    for thread_id in dict.fromkeys((*concerns, *snoozes, *mutes, *moved)):
        opened = step.thread(thread_id)
        if opened is None:
            continue
        _take_back_thread(step, opened, by_message)
        if thread_id in snoozes:
            step.snooze(opened, until=snoozes[thread_id])
        if thread_id in mutes:
            step.mute(opened, muted=mutes[thread_id])
    step.finish(None)


def _take_back_thread(step: Step, opened: Opened, changes: Mapping[str, MessageChange]) -> None:
    known = known_labels(step.tx, opened.account)
    for message in opened.messages:
        change = changes.get(message.id)
        if change is not None:
            step.relabel(opened, message, add=frozenset(change.removed) & known, remove=frozenset(change.added))


REVERSAL: Final = Reversal(kind=KIND, take_back=_take_back, then=carry_on)
