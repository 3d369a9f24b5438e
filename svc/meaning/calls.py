"""The calls of the run that makes vectors to the trusted plane, and how that run is begun."""

from __future__ import annotations

from typing import Final, Literal, cast

from svc.errors import Conflict, NotConfigured
from svc.meaning import queue
from svc.meaning.form import form_of, problem
from svc.meaning.tasks import Embedder
from svc.protocol import Wire
from svc.runs import begin, progress
from svc.store import ReadTx, Tx
from svc.worker.meaning import INDEX, LEFT, QUEUE, WHOLE
from svc.workflow import Call, Caller, Json
from svc.workspace import Workspace

A_TIME: Final = 2_000


class QueueInput(Wire, frozen=True):
    """``after``: the last id of the previous batch."""

    kind: Literal["mail", "pages"]
    after: str


class LeftInput(Wire, frozen=True):
    done: int
    total: int


class WholeInput(Wire, frozen=True):
    """``form``: the form at the beginning of the run; ``None`` for a run begun before it was stored."""

    form: str | None = None


def start(tx: Tx, user_id: str | None, *, workspace: Workspace) -> str:
    """Begin the run. Raises 409 while one is in progress, and 501 if vectors can't be made."""
    if reason := problem(workspace, tx):
        raise NotConfigured(reason, data={"reason": "not_configured"})
    if not queue.is_on(tx, user_id):
        raise Conflict("Search by meaning is off. Switch it on first.")
    if (running := active(tx, user_id)) is not None:
        raise Conflict("Mail and pages are being read already.", data={"runId": running})
    return begin(tx, user_id, INDEX, {"form": form_of(workspace).name})


def active(tx: ReadTx, user_id: str | None) -> str | None:
    """The person's run that has not ended."""
    found = tx.value(
        """
        select id from runs where workflow = :workflow and user_id is :user_id
            and state in ('queued', 'running', 'waiting') limit 1
        """,
        workflow=INDEX.name,
        user_id=user_id,
    )
    return cast("str | None", found)


def _queue(workspace: Workspace, tx: Tx, caller: Caller, wanted: QueueInput) -> Json:
    user_id = caller.principal.user_id
    form = form_of(workspace).name
    rows = _ids(tx, user_id, wanted)
    put = queue.queue_mail if wanted.kind == "mail" else queue.queue_pages
    put(tx, rows, run_id=caller.run_id, form=form)
    if len(rows) == A_TIME:
        following: Json = {"kind": wanted.kind, "after": rows[-1]}
    else:
        following = {"kind": "pages", "after": ""} if wanted.kind == "mail" else None
    done, total = counted(tx, user_id, kind=wanted.kind, up_to=rows[-1] if rows else "\U0010ffff")
    return {"next": following, "done": done, "total": total}


def _ids(tx: ReadTx, user_id: str | None, wanted: QueueInput) -> list[str]:
    if wanted.kind == "mail":
        rows = tx.all(
            """
            select id from mail_messages where id > :after and account_id in (
                select id from mail_accounts where owner_id is :user_id and not erasing
            ) order by id limit :limit
            """,
            after=wanted.after,
            user_id=user_id,
            limit=A_TIME,
        )
    else:
        rows = tx.all(
            """
            select id from pages where id > :after and owner_id is :user_id and kind = 'page' order by id limit :limit
            """,
            after=wanted.after,
            user_id=user_id,
            limit=A_TIME,
        )
    return [str(row_id) for (row_id,) in rows]


def counted(tx: ReadTx, user_id: str | None, *, kind: str, up_to: str) -> tuple[int, int]:
    """How many mails and pages the user has up to that id, and in total."""
    row = tx.one(
        """
        select (select count(*) from mail_messages where account_id in (
                select id from mail_accounts where owner_id is :user_id and not erasing
            )),
            (select count(*) from mail_messages where id <= :up_to and account_id in (
                select id from mail_accounts where owner_id is :user_id and not erasing
            )),
            (select count(*) from pages where owner_id is :user_id and kind = 'page'),
            (select count(*) from pages where id <= :up_to and owner_id is :user_id and kind = 'page')
        """,
        user_id=user_id,
        up_to=up_to,
    )
    mails, mails_done, pages, pages_done = cast("tuple[int, int, int, int]", row)
    return (mails_done if kind == "mail" else mails + pages_done), mails + pages


def _left(workspace: Workspace, tx: Tx, caller: Caller, wanted: LeftInput) -> Json:
    if reason := queue.fault_of_run(tx, caller.run_id):
        return {"waiting": 0, "problem": reason}
    waiting = queue.waiting_of_run(tx, caller.run_id)
    progress(tx, caller.run_id, done=max(wanted.done - waiting, 0), total=wanted.total)
    return {"waiting": waiting, "problem": ""}


def _whole(workspace: Workspace, tx: Tx, caller: Caller, wanted: WholeInput) -> Json:
    """All is read: switch to its form. If the model has changed meanwhile, nothing happens; the next run
    completes it.
    """
    form = form_of(workspace).name
    if wanted.form in {None, form}:
        queue.is_whole(tx, caller.principal.user_id, form=form)
    return {}


def _wake(workspace: Workspace) -> None:
    workspace.service(Embedder).wake.call()


CALLS: Final = (
    Call(name=QUEUE, summary="Queue mail or pages for their vectors.", input=QueueInput, decide=_queue, then=_wake),
    Call(name=LEFT, summary="How much waits for its vectors.", input=LeftInput, decide=_left),
    Call(name=WHOLE, summary="Search in what was read from now on.", input=WholeInput, decide=_whole, then=_wake),
)
