"""The inputs and outputs of the procedures of labelling, and functions that make outputs from records."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

import msgspec

from svc.clock import Millis, rfc3339
from svc.idempotency import Repeatable
from svc.mail.labelling.queries import snoozed
from svc.mail.model import Label
from svc.mail.threads import wire as thread_wire
from svc.mail.threads.wire import ThreadOut, shown_name
from svc.mail.wire import MAX_THREADS_A_CALL, Id, LabelName
from svc.principal import Principal
from svc.protocol.rows import Wire
from svc.reversal import UndoStep
from svc.store import ReadTx
from svc.undo import TakenBack

MAX_LABELS_A_CALL: Final = 50
"""Labels that one call adds, and that it takes off. Beyond: 400 `invalid`, with the name of the field."""

ThreadIds = Annotated[tuple[Id, ...], msgspec.Meta(max_length=MAX_THREADS_A_CALL)]
LabelIds = Annotated[tuple[Id, ...], msgspec.Meta(max_length=MAX_LABELS_A_CALL)]
LabelNames = Annotated[tuple[LabelName, ...], msgspec.Meta(max_length=MAX_LABELS_A_CALL)]
Color = Annotated[str, msgspec.Meta(pattern="^#[0-9a-fA-F]{6}$")]


class SetLabelsInput(Repeatable, frozen=True, kw_only=True):
    """Labels by their ids. Each account has its own ids; system labels have the same ids in all accounts.

    ``add_names``, ``remove_names``: names of labels that people made, looked up in each thread's own account. ``group``
    as in :class:`svc.mail.threads.wire.ThreadIdsInput`.
    """

    thread_ids: ThreadIds
    add: LabelIds = ()
    remove: LabelIds = ()
    add_names: LabelNames = ()
    remove_names: LabelNames = ()
    group: Id | None = None


class LabelsInput(Wire, frozen=True):
    account_id: Id | None = None


class CreateLabelInput(Wire, frozen=True):
    """``name`` may be nested, as in ``Clients/Harbour``; ``color`` becomes the nearest color that the provider has."""

    account_id: Id
    name: LabelName
    color: Color | None = None


class SnoozeInput(Repeatable, frozen=True, kw_only=True):
    thread_ids: ThreadIds
    until: Annotated[datetime, msgspec.Meta(tz=True)]
    group: Id | None = None


class AccountLabelOut(Wire, frozen=True):
    account_id: str
    id: str
    name: str
    system: bool
    color: str | None


class CreatedLabelOut(Wire, frozen=True):
    id: str
    name: str


class SnoozedOut(Wire, frozen=True):
    thread: ThreadOut
    until: str


class UndoableOut(Wire, frozen=True):
    id: str
    what: str
    at: str


class UndoneOut(Wire, frozen=True):
    """``draft_id``: the draft that a mail became when it was held back."""

    id: str
    what: str
    thread_ids: tuple[str, ...]
    draft_id: str | None


class UndoOut(Wire, frozen=True):
    undone: UndoneOut | None


def account_label(account_id: str, label: Label) -> AccountLabelOut:
    return AccountLabelOut(
        account_id=account_id, id=label.id, name=shown_name(label), system=label.system, color=label.color
    )


def snoozed_out(tx: ReadTx, principal: Principal) -> list[SnoozedOut]:
    found = snoozed(tx, principal)
    threads = thread_wire.thread_summaries(tx, [row for row, _ in found], principal)
    return [SnoozedOut(thread=thread, until=rfc3339(until)) for thread, (_, until) in zip(threads, found, strict=True)]


def undoable_out(step: UndoStep) -> UndoableOut:
    return UndoableOut(id=str(step.id), what=step.what, at=rfc3339(step.at))


def undo_out(taken_back: TakenBack | None) -> UndoOut:
    if taken_back is None:
        return UndoOut(undone=None)
    step = taken_back.step
    return UndoOut(
        undone=UndoneOut(id=str(step.id), what=step.what, thread_ids=step.concerns, draft_id=taken_back.draft_id)
    )


def millis(instant: datetime) -> Millis:
    return round(instant.timestamp() * 1_000)
