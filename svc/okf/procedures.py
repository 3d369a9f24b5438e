"""``okf.status``: the progress of the files, and the texts of people that could not become pages."""

from __future__ import annotations

from typing import Final

from svc.clock import rfc3339
from svc.okf import rows
from svc.protocol import Nothing, Procedure, Wire
from svc.store import ReadTx
from svc.switches import OKF_WATCHER, is_on
from svc.workspace import RequestContext

MAX_TOLD: Final = 200


class TroubleOut(Wire, frozen=True):
    """``kept``: the copy that holds the person's text, if page and file had both changed. Names are relative to
    ``okf/``."""

    file: str
    path: str
    kept: str | None
    reason: str
    at: str


class UnwrittenOut(Wire, frozen=True):
    path: str
    reason: str


class StatusOut(Wire, frozen=True):
    """``pages``: how many are written as files; ``waiting``: how many are queued."""

    enabled: bool
    pages: int
    waiting: int
    conflicts: tuple[TroubleOut, ...]
    problems: tuple[UnwrittenOut, ...]


async def _status(context: RequestContext, wanted: Nothing) -> StatusOut:
    workspace = context.workspace
    return await workspace.store.read(_told, enabled=is_on(workspace.config, OKF_WATCHER))


def _told(tx: ReadTx, *, enabled: bool) -> StatusOut:
    return StatusOut(
        enabled=enabled,
        pages=rows.count(tx),
        waiting=rows.waiting(tx) if enabled else 0,
        conflicts=tuple(
            TroubleOut(file=one.file, path=one.path, kept=one.kept, reason=one.reason, at=rfc3339(one.at))
            for one in rows.troubles(tx, limit=MAX_TOLD)
        ),
        problems=tuple(UnwrittenOut(path=path, reason=reason) for path, reason in rows.unwritten(tx)[:MAX_TOLD]),
    )


PROCEDURES: Final = (
    Procedure(
        name="okf.status",
        kind="query",
        access="admin",
        input=Nothing,
        output=StatusOut,
        call=_status,
        summary="Whether pages are also files, and what was written there that could not become a page.",
    ),
)
