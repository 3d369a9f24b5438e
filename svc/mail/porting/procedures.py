"""The procedures ``mail.createLocal``, ``mail.import`` and ``mail.imports``, and the call by which a run asks for the
state of its import."""

from __future__ import annotations

from typing import Final

from svc.clock import SECOND_MS
from svc.errors import Conflict, NotFound
from svc.mail.porting import actions, queries
from svc.mail.porting.importer import Importer
from svc.mail.porting.model import ImportRow, WaitsFor
from svc.mail.porting.wire import (
    CreateLocalInput,
    CreateLocalOut,
    ImportInput,
    ImportOut,
    ImportStartedOut,
    LookInput,
    import_out,
)
from svc.mail.sync.engine import MailEngine
from svc.principal import Principal
from svc.protocol import Nothing, Procedure
from svc.runs import Dispatcher
from svc.store import ReadTx, Tx
from svc.worker.mail_import import LOOK
from svc.workflow import Call, Caller, Json, Waiting
from svc.workspace import RequestContext, Workspace


async def create_local(context: RequestContext, wanted: CreateLocalInput) -> CreateLocalOut:
    workspace = context.workspace
    account_id = await workspace.store.write(actions.create_local, context.principal, name=wanted.name)
    await workspace.service(MailEngine).start_account(account_id)
    return CreateLocalOut(account_id=account_id)


async def import_mailbox(context: RequestContext, wanted: ImportInput) -> ImportStartedOut:
    workspace = context.workspace
    run_id = await workspace.store.write(
        actions.begin_import,
        context.principal,
        file_id=wanted.file_id,
        account_id=wanted.account_id,
        remove_file=wanted.remove_file,
    )
    workspace.service(Dispatcher).wake.call()
    workspace.service(Importer).wake.call()
    return ImportStartedOut(run_id=run_id)


async def imports(context: RequestContext, wanted: Nothing) -> list[ImportOut]:
    rows, first = await context.workspace.store.read(_imports, context.principal)
    without_room = context.workspace.service(Importer).without_room
    return [import_out(row, waits_for=_waits_for(row, first=first, without_room=without_room)) for row in rows]


def _imports(tx: ReadTx, principal: Principal) -> tuple[list[ImportRow], ImportRow | None]:
    return queries.imports(tx, principal), queries.next_working(tx)


def _waits_for(row: ImportRow, *, first: ImportRow | None, without_room: str | None) -> WaitsFor | None:
    if row.state != "working" or first is None:
        return None
    if row.id != first.id:
        return "turn"
    return "room" if row.id == without_room else None


def _look(workspace: Workspace, tx: Tx, caller: Caller, wanted: LookInput) -> Json | Waiting:
    """The state of a run's import, or the wait for it: :func:`actions.end` ends that wait, and no end can come between
    the two. Only an active run asks, so an import that was stopped with its run continues.

    A failed import is first returned as failed, with the current lease. If the run then asks with the same lease in
    ``after``, the call raises :class:`Conflict` with the import's own problem. If the lease in ``after`` is an older
    one, the run was retried, and the import continues where it stopped.
    """
    row = queries.import_of(tx, wanted.import_)
    if row is None or row.run_id != caller.run_id:
        raise NotFound("There is no such import any more.")
    lease = queries.lease_of(tx, row.run_id)
    if row.state == "failed" and wanted.after == lease:
        raise Conflict(row.problem or "The import has failed.")
    if row.state == "stopped" or (row.state == "failed" and wanted.after is not None):
        actions.go_on(tx, row)
        row = queries.import_of(tx, row.id) or row
    if row.state == "working" and wanted.pause_s is not None:
        return Waiting(kind="timer", due_at=tx.now + round(wanted.pause_s * SECOND_MS))
    return {
        "state": row.state,
        "added": row.added,
        "known": row.known,
        "skipped": row.skipped,
        "problem": row.problem,
        "lease": lease,
    }


def _wake(workspace: Workspace) -> None:
    workspace.service(Importer).wake.call()


CALLS: Final = (
    Call(name=LOOK, summary="How far the import of a mailbox is.", input=LookInput, decide=_look, then=_wake),
)

PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.createLocal",
        kind="mutation",
        access="authenticated",
        input=CreateLocalInput,
        output=CreateLocalOut,
        call=create_local,
        summary="An account that is kept on this server alone, for imports; the one of that name if it is there.",
    ),
    Procedure(
        name="mail.import",
        kind="mutation",
        access="authenticated",
        input=ImportInput,
        output=ImportStartedOut,
        call=import_mailbox,
        summary="Import an uploaded mbox, Takeout archive or Maildir into an account that is kept here, as a run.",
    ),
    Procedure(
        name="mail.imports",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[ImportOut],
        call=imports,
        summary="The newest imports into the caller's accounts, and how far each is.",
    ),
)
