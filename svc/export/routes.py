"""``GET /export``: everything as one archive, for admins, streamed as it is read. The app's *Download everything*."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

import msgspec

from svc.clock import SECOND_MS, Millis
from svc.errors import Forbidden
from svc.export import rows
from svc.export.bag import as_tar
from svc.export.collecting import Collecting
from svc.export.downloads import Downloads
from svc.files import requested_range
from svc.nursery import ThreadPool
from svc.protocol import Request, Response, Route, Says, Wire
from svc.settings import PROFILE
from svc.workspace import RequestContext

_FROM: Final = re.compile(r"bytes=0*[1-9]\d{0,17}-", re.IGNORECASE)
"""A range from a position to the end: a resumed download asks for it. A range from 0 on starts a new one."""


OTHERS_HERE: Final = (
    "Others have mail, pages and files here that are theirs alone, also before an admin. Whoever runs this cell "
    "exports everything by the command svc export."
)


class RangeHeaders(Wire, frozen=True):
    range: str | None = msgspec.field(name="Range", default=None)
    if_range: str | None = msgspec.field(name="If-Range", default=None)


async def download(context: RequestContext, request: Request) -> Response:
    """Send an export. It has everything, also what is private to others, like the disk of the machine.

    The admin of a public cell has no access to such a disk, and no terminal on it: there an admin is refused unless
    alone.

    The rest of an interrupted download is requested by ``Range``, and comes from the same archive.
    """
    workspace = context.workspace
    if workspace.config[PROFILE] == "cloud" and await workspace.store.read(
        rows.has_others, user_id=context.principal.user_id
    ):
        raise Forbidden(OTHERS_HERE)
    downloads, person = workspace.service(Downloads), context.principal.user_id or ""
    if (rest := await _rest(downloads, person, request, workspace.threads)) is not None:
        return rest
    now = workspace.clock.now()
    going = Collecting(
        store=workspace.store, blobs=workspace.blobs, log=workspace.log, spool=workspace.home.spool / "export"
    )
    pieces = as_tar(going.entries(), at=now)
    if request.method == "HEAD":
        return Response(headers=_headers(now), body=pieces)
    workspace.log.info("export.begun", by=context.principal.user_id)
    kept = await downloads.begin(person, pieces)
    if kept is None:
        return Response(headers=_headers(now), body=pieces)
    return Response(
        headers=[*_headers(now), ("etag", kept.tag), ("accept-ranges", "bytes")],
        body=kept.stream(workspace.threads),
    )


async def _rest(downloads: Downloads, person: str, request: Request, threads: ThreadPool) -> Response | None:
    """The rest of the archive that this person began to download, if it still exists and a range to its end is
    requested."""
    kept = downloads.of(person)
    if kept is None or not _FROM.fullmatch(request.headers.get("range") or ""):
        return None
    size = await kept.end()
    if kept.gone:  # they began another meanwhile
        return None
    if (wanted := requested_range(request, size=size, etag=kept.tag)) is None:
        return None
    start, stop = wanted
    return Response(
        status=206,
        headers=[
            ("content-type", "application/x-tar"),
            ("cache-control", "no-store"),
            ("etag", kept.tag),
            ("accept-ranges", "bytes"),
            ("content-range", f"bytes {start}-{stop - 1}/{size}"),
        ],
        body=kept.stream(threads, start=start),
        content_length=stop - start,
    )


def _headers(now: Millis) -> list[tuple[str, str]]:
    day = datetime.fromtimestamp(now / SECOND_MS, tz=UTC).strftime("%Y-%m-%d")
    return [
        ("content-type", "application/x-tar"),
        ("content-disposition", f'attachment; filename="svc-{day}.tar"'),
        ("cache-control", "no-store"),
        ("content-security-policy", "sandbox; default-src 'none'"),
    ]


ROUTES: Final[tuple[Route[RequestContext], ...]] = (
    Route(
        method="GET",
        path="/export",
        access="admin",
        handle=download,
        summary="Everything that is here, in open formats, as one archive.",
        says=Says(headers=RangeHeaders, answers={200: "application/x-tar", 206: "application/x-tar"}),
    ),
)
