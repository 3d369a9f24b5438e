"""Takes back a step on threads. This is a step itself: it changes local state, queues changes for the provider, and
sends one live update for each thread."""

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
    """Take back only the changes that the step itself made. A message or label that is gone by now is passed over, and
    so is a thread that the principal may not change any more."""
    take_back(tx, principal, _changes_of(undone.inverse), concerns=undone.concerns)


def take_back(tx: Tx, principal: Principal, changes: Changes, *, concerns: Sequence[str] = ()) -> None:
    """Take back ``changes``, also from another log than the undo log. ``concerns``: more threads to look at."""
    by_message = {change.message_id: change for change in changes.messages}
    snoozes = {before.thread_id: before.until for before in changes.snoozes}
    step = Step(tx=tx, principal=principal)
    mutes = {before.thread_id: before.muted for before in changes.mutes}
    moved = thread_queries.threads_of(tx, message_ids=by_message)  # a thread may have been joined to another since
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
