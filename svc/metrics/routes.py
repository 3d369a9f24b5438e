"""``/metrics``: for admins, and for programs of this machine, which send no cookie."""

from __future__ import annotations

from typing import Final

from svc.errors import Forbidden, Unauthenticated
from svc.exposition import CONTENT_TYPE, text_of
from svc.identity import Identity
from svc.protocol import Request, Response, Route, Says
from svc.workspace import RequestContext


async def metrics(context: RequestContext, request: Request) -> Response:
    workspace, principal = context.workspace, context.principal_or_none
    if not workspace.service(Identity).is_near(request) and (principal is None or not principal.is_admin):
        raise Unauthenticated if principal is None else Forbidden("Only an admin may do this.")
    rows = [row for feature in workspace.features for row in feature.metrics]
    text = text_of([(row, await row.read(workspace)) for row in rows])
    return Response(headers=[("content-type", CONTENT_TYPE), ("cache-control", "no-store")], body=text.encode())


ROUTES: Final[tuple[Route[RequestContext], ...]] = (
    Route(
        method="GET",
        path="/metrics",
        access="public",
        handle=metrics,
        summary="Numbers for Prometheus: for an admin, or from this machine and not through a proxy.",
        says=Says(answers={200: "text/plain"}),
    ),
)
