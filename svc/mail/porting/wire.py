"""The wire types of imports."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from svc.mail.porting.model import ImportRow, ImportState, WaitsFor
from svc.mail.wire import Id
from svc.protocol.rows import Wire


class CreateLocalInput(Wire, frozen=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class CreateLocalOut(Wire, frozen=True):
    account_id: str


class ImportInput(Wire, frozen=True):
    """``remove_file``: the upload is deleted once all of it is imported."""

    file_id: Id
    account_id: Id
    remove_file: bool = False


class ImportStartedOut(Wire, frozen=True):
    run_id: str


class ImportOut(Wire, frozen=True):
    """``added``: new mails; ``known``: mails that were stored already; ``skipped``: items that could not be imported,
    with the ``reasons`` of the first ones. ``percent``: the progress in the file.
    ``waits_for``: ``turn`` while another import is carried out first, ``room`` while this server's disk is full."""

    run_id: str
    account_id: str
    name: str
    state: ImportState
    percent: int
    added: int
    known: int
    skipped: int
    reasons: tuple[str, ...]
    problem: str | None
    waits_for: WaitsFor | None


class LookInput(Wire, frozen=True):
    """``after``: the lease in which the run was told that the import had failed. ``pause_s``: how long the run waits
    while the import goes on."""

    import_: str = msgspec.field(name="import")
    after: int | None = None
    pause_s: Annotated[float, msgspec.Meta(ge=0, le=3_600)] | None = None


ExportFormat = Literal["mbox", "maildir"]


def import_out(row: ImportRow, *, waits_for: WaitsFor | None) -> ImportOut:
    return ImportOut(
        run_id=row.run_id,
        account_id=row.account_id,
        name=row.name,
        state=row.state,
        percent=row.percent,
        added=row.added,
        known=row.known,
        skipped=row.skipped,
        reasons=row.reasons,
        problem=row.problem,
        waits_for=waits_for,
    )
