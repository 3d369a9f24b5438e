"""The procedures of terminals."""

from __future__ import annotations

from svc.clock import rfc3339
from svc.protocol import NOTHING, Nothing, Procedure
from svc.terminals.running_terminals import Asker, Terminals
from svc.terminals.socket import must_be_on
from svc.terminals.wire import KillInput, TerminalOut
from svc.workspace import RequestContext


async def list_terminals(context: RequestContext, wanted: Nothing) -> list[TerminalOut]:
    must_be_on(context.workspace.config)
    terminals = context.workspace.service(Terminals)
    return [
        TerminalOut(
            session=one.id,
            program=terminals.program_of(one),
            owner=one.owner,
            mine=terminals.is_of(context.principal, one),
            shown=one.view is not None,
            cols=one.size.cols,
            rows=one.size.rows,
            opened_at=rfc3339(one.opened_at),
            ends_at=None if (ends_at := terminals.ends_at(one)) is None else rfc3339(ends_at),
        )
        for one in terminals.running()
    ]


async def kill(context: RequestContext, wanted: KillInput) -> Nothing:
    must_be_on(context.workspace.config)
    asker = Asker(principal=context.principal, request_id=context.request_id, peer="")
    context.workspace.service(Terminals).kill(asker, wanted.session)
    return NOTHING


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="terminals.list",
        kind="query",
        access="admin",
        input=Nothing,
        output=list[TerminalOut],
        call=list_terminals,
        summary="The terminals that run on this machine, the oldest first: one's own, and that others are there.",
    ),
    Procedure(
        name="terminals.kill",
        kind="mutation",
        access="admin",
        input=KillInput,
        output=Nothing,
        call=kill,
        summary="End a terminal with all that runs in it, also another admin's.",
    ),
)
