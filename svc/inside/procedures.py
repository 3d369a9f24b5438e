"""``inside.look``: a snapshot of everything that this feature shows."""

from __future__ import annotations

import trio

from svc import __version__
from svc.clock import rfc3339, rfc3339_or_none
from svc.inside.wire import (
    AccountRow,
    InsideOut,
    LineRow,
    part_row,
    stall_row,
    task_row,
    trouble_row,
)
from svc.mail import connected_accounts, owner_name
from svc.nursery import Inspector, Watchdog, open_descriptors, resident_bytes
from svc.protocol import Nothing, Procedure
from svc.store import MAX_QUEUED_WRITES, Following, ReadTx, lags
from svc.surface import Surface
from svc.workspace import RequestContext, Workspace


async def look(context: RequestContext, wanted: Nothing) -> InsideOut:
    workspace = context.workspace
    inspector, surface = workspace.service(Inspector), workspace.service(Surface)
    tasks, cut = inspector.look()
    return InsideOut(
        at=rfc3339(workspace.clock.now()),
        version=__version__,
        up_seconds=round(trio.current_time() - inspector.began_s, 1),
        memory_bytes=await workspace.threads.run(resident_bytes),
        descriptors=await workspace.threads.run(open_descriptors),
        connections=surface.open_connections,
        connections_most=None if surface.open_connections is None else surface.max_connections,
        tasks=tuple(map(task_row, tasks)),
        cut=cut,
        parts=tuple(part_row(name, state) for name, state in workspace.root.states().items()),
        lines=(*_lines(workspace), *await _consumers(workspace)),
        accounts=await workspace.store.read(_accounts),
        stalls=tuple(map(stall_row, reversed(workspace.service(Watchdog).stalls))),
        troubles=tuple(map(trouble_row, reversed(workspace.log.troubles))),
    )


def _lines(workspace: Workspace) -> tuple[LineRow, ...]:
    pools = [
        ("threads", "Calls in threads: reads of the database, files", workspace.threads.statistics()),
        ("processes", "Calls in processes: reading what strangers sent", workspace.processes.statistics()),
    ]
    writes = LineRow(
        name="writes",
        title="Writes to the database, committed together",
        waiting=workspace.store.queued_writes,
        busy=0,
        most=MAX_QUEUED_WRITES,
    )
    return (
        writes,
        *(
            LineRow(
                name=name,
                title=title,
                waiting=line.tasks_waiting,
                busy=line.borrowed_tokens,
                most=round(line.total_tokens),
            )
            for name, title, line in pools
        ),
    )


async def _consumers(workspace: Workspace) -> list[LineRow]:
    behind = await workspace.store.read(lags, workspace.service(Following).rows)
    return [
        LineRow(
            name=one.name, title="Events that a consumer has not dealt with yet", waiting=one.events, busy=0, most=0
        )
        for one in behind
    ]


def _accounts(tx: ReadTx) -> tuple[AccountRow, ...]:
    return tuple(
        AccountRow(
            id=account.id,
            owner=owner_name(tx, account),
            provider=account.provider,
            state=account.state,
            last_synced_at=rfc3339_or_none(account.last_synced_at),
        )
        for account in connected_accounts(tx)
    )


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="inside.look",
        kind="query",
        access="admin",
        input=Nothing,
        output=InsideOut,
        call=look,
        summary="The live tree of tasks, connections, queues, accounts, stalls and the last errors.",
    ),
)
