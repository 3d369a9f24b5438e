"""``GET /mail/accounts/:id/export``: an account's mail as an mbox, streamed as it is read."""

from __future__ import annotations

import re

from svc.errors import NotFound
from svc.mail.accounts import queries as account_queries
from svc.mail.porting.exporting import Export
from svc.protocol import Request, Response, Route, Says
from svc.workspace import RequestContext

_PLAIN = re.compile(r"[^A-Za-z0-9._@-]+")


async def export(context: RequestContext, request: Request) -> Response:
    workspace = context.workspace
    account = await workspace.store.read(
        account_queries.account_for, context.principal, account_id=request.params["id"]
    )
    if account is None:
        raise NotFound("There is no such account.")
    going = Export(account_id=account.id, store=workspace.store, blobs=workspace.blobs, log=workspace.log)
    name = _PLAIN.sub("-", account.address).strip("-.") or "mail"
    return Response(
        headers=[
            ("content-type", "application/mbox"),
            ("content-disposition", f'attachment; filename="{name}.mbox"'),
            ("cache-control", "no-store"),
            ("content-security-policy", "sandbox; default-src 'none'"),
        ],
        body=going.mbox(),
    )


ROUTES: tuple[Route[RequestContext], ...] = (
    Route(
        method="GET",
        path="/mail/accounts/:id/export",
        access="authenticated",
        handle=export,
        summary="All mail of an account as an mbox, with its labels, read and starred.",
        says=Says(answers={200: "application/mbox"}),
    ),
)
