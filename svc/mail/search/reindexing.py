"""*Re-index everything*: a run that extracts the words of all messages again, some thousands at a time.

A message stays in the index until its new words replace the old ones in one transaction, so a search always finds it.
New mail waits for one batch at most.
"""

from __future__ import annotations

from typing import Final

from svc.errors import Conflict
from svc.mail.search import actions, queries, wire
from svc.mail.search.tasks import Indexer
from svc.mail.search.wire import QueueInput, ReindexOut, SearchStateOut
from svc.protocol import Nothing
from svc.runs import Dispatcher, active, begin, progress, progress_of
from svc.store import ReadTx, Tx
from svc.worker.search import LEFT, QUEUE, REINDEX
from svc.workflow import Call, Caller, Json
from svc.workspace import RequestContext, Workspace


def _queue(workspace: Workspace, tx: Tx, caller: Caller, wanted: QueueInput) -> Json:
    batch = queries.messages_after(tx, wanted.after, limit=actions.QUEUED_AT_A_TIME)
    actions.queue(tx, message_ids=batch)
    total = queries.messages(tx)
    done = queries.messages_up_to(tx, batch[-1]) if batch else total
    more = len(batch) == actions.QUEUED_AT_A_TIME
    return {"after": batch[-1] if batch else "", "more": more, "done": done, "total": total}


def _left(workspace: Workspace, tx: Tx, caller: Caller, wanted: wire.LeftInput) -> Json:
    waiting = queries.queued(tx)
    progress(tx, caller.run_id, done=max(wanted.done - waiting, 0), total=wanted.total)
    return {"waiting": waiting}


def _wake(workspace: Workspace) -> None:
    workspace.service(Indexer).wake.call()


CALLS: Final = (
    Call(name=QUEUE, summary="Queue messages for the search index.", input=QueueInput, decide=_queue, then=_wake),
    Call(name=LEFT, summary="How many messages wait for the index.", input=wire.LeftInput, decide=_left),
)


def start(tx: Tx, user_id: str | None) -> str:
    """Begin the run. Raises :class:`svc.errors.Conflict` while one is active."""
    if (running := active(tx, REINDEX.name)) is not None:
        raise Conflict("The search index is being made anew already.", data={"runId": running})
    return begin(tx, user_id, REINDEX, None)


def state(tx: ReadTx) -> SearchStateOut:
    run_id = active(tx, REINDEX.name)
    told = progress_of(tx, run_id) if run_id else None
    return SearchStateOut(
        messages=queries.messages(tx),
        indexed=queries.indexed(tx),
        waiting=queries.queued(tx),
        run_id=run_id,
        progress=wire.ReindexProgress(done=told[0], total=told[1]) if told else None,
    )


async def reindex_everything(context: RequestContext, wanted: Nothing) -> ReindexOut:
    run_id = await context.workspace.store.write(start, context.principal.user_id)
    context.workspace.service(Dispatcher).wake.call()
    return ReindexOut(run_id=run_id)


async def search_state(context: RequestContext, wanted: Nothing) -> SearchStateOut:
    return await context.workspace.store.read(state)
