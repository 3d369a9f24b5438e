"""The inputs and outputs of the procedures of bulk steps."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from svc.mail.bulk.model import BulkStep, Do
from svc.mail.search.language import MAX_QUERY_CHARS
from svc.mail.search.wire import MAX_ZONE_CHARS
from svc.mail.threads.wire import ListInput
from svc.mail.wire import Id, LabelName
from svc.protocol.rows import Wire


class SelectAllInput(ListInput, frozen=True):
    """A list as in ``mail.threads``, a ``query`` as in ``mail.search``, ``snoozed``: all snoozed threads, or
    ``sender``: all threads in which that address wrote a message that is neither spam nor trash."""

    query: Annotated[str, msgspec.Meta(max_length=MAX_QUERY_CHARS)] | None = None
    time_zone: Annotated[str, msgspec.Meta(max_length=MAX_ZONE_CHARS)] | None = None
    snoozed: bool = False
    sender: Annotated[str, msgspec.Meta(min_length=1, max_length=320)] | None = None


class SelectedOut(Wire, frozen=True):
    """``count``: as lists count threads. ``complete``: all matches are selected; else only the first ones are.
    ``account_ids``: the accounts of the threads. ``left_out``: some matches are not selected, because the caller may
    only read them."""

    id: str
    count: int
    complete: bool
    account_ids: tuple[str, ...]
    left_out: bool


class ActOnAllInput(Wire, frozen=True):
    """``label``: the name of a label that people made, for ``label``, ``unlabel`` and ``file`` (label and archive).
    ``until``: for ``snooze``. ``sender``: change only messages from that address, for ``spam`` and ``trash``. ``group``
    as in :class:`svc.mail.threads.wire.ThreadIdsInput`."""

    id: Id
    do: Do
    label: LabelName | None = None
    until: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    sender: Annotated[str, msgspec.Meta(min_length=1, max_length=320)] | None = None
    group: Id | None = None


class BulkInput(Wire, frozen=True):
    id: Id


class BulkOut(Wire, frozen=True):
    """``taken``: how many of ``total`` threads are handled. ``passed``: how many of these were left alone, because they
    are gone, may not be changed, or got new mail after they were selected. ``state``: ``working``, ``done``,
    ``stopped``, ``undoing`` or ``undone``."""

    id: str
    do: Do | None
    state: str
    total: int
    taken: int
    passed: int


def bulk_out(step: BulkStep) -> BulkOut:
    return BulkOut(
        id=step.id,
        do=None if step.act is None else step.act.do,
        state=step.state,
        total=step.total,
        taken=step.taken,
        passed=step.passed,
    )
