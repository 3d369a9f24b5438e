"""``GET /export``: everything as one archive, for admins, streamed as it is read. The app's *Download everything*."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from svc.clock import SECOND_MS
from svc.export.bag import as_tar
from svc.export.collecting import Collecting
from svc.protocol import Request, Response, Route, Says
from svc.workspace import RequestContext


async def download(context: RequestContext, request: Request) -> Response:
    """Whoever gets it gets all that is here, also what is private to others: as with the disk of the machine."""
    workspace = context.workspace
    now = workspace.clock.now()
    day = datetime.fromtimestamp(now / SECOND_MS, tz=UTC).strftime("%Y-%m-%d")
    going = Collecting(
        store=workspace.store, blobs=workspace.blobs, log=workspace.log, spool=workspace.home.spool / "export"
    )
    workspace.log.info("export.begun", by=context.principal.user_id)
    return Response(
        headers=[
            ("content-type", "application/x-tar"),
            ("content-disposition", f'attachment; filename="svc-{day}.tar"'),
            ("cache-control", "no-store"),
            ("content-security-policy", "sandbox; default-src 'none'"),
        ],
        body=as_tar(going.entries(), at=now),
    )


ROUTES: Final[tuple[Route[RequestContext], ...]] = (
    Route(
        method="GET",
        path="/export",
        access="admin",
        handle=download,
        summary="Everything that is here, in open formats, as one archive.",
        says=Says(answers={200: "application/x-tar"}),
    ),
)
