"""``GET /files/:id/content``: HEAD, one ``Range``, ``If-None-Match``; the disposition rules of ``disposition.py``."""

from __future__ import annotations

from typing import Final

from svc.errors import NotFound
from svc.files import queries
from svc.files.disposition import SNIFF_BYTES, content_disposition, content_type, may_show_inline
from svc.files.queries import File
from svc.files.ranges import requested_range
from svc.protocol import Request, Response, Route
from svc.store import BlobMissing
from svc.workspace import Call

_MISSING: Final = "There is no such file."


async def file_content(call: Call, request: Request) -> Response:
    file = await call.workspace.store.read(queries.readable_file, call.principal, file_id=request.params["id"])
    if file is None:
        raise NotFound(_MISSING)
    return await serve_file(call, request, file)


async def serve_file(call: Call, request: Request, file: File) -> Response:
    """The bytes of ``file``. A blob that is not there is a 404 for this file alone, and an error in the log."""
    blobs = call.workspace.blobs
    size = await blobs.size(file.sha256)
    if size is None:
        call.workspace.log.error("files.blob_missing", file=file.id, sha256=file.sha256)
        raise NotFound(_MISSING)
    etag = f'"{file.sha256}"'
    headers = await _headers(call, file)
    if not _tags(request.headers.get("if-none-match")).isdisjoint({etag, "*"}):
        return Response(status=304, headers=[("etag", etag), ("cache-control", "private, no-cache")])
    wanted = requested_range(request, size=size, etag=etag)
    headers += [("etag", etag), ("accept-ranges", "bytes"), ("cache-control", "private, no-cache")]
    if wanted is None:
        return Response(headers=headers, body=blobs.stream(file.sha256), content_length=size)
    start, stop = wanted
    headers.append(("content-range", f"bytes {start}-{stop - 1}/{size}"))
    body = blobs.stream(file.sha256, offset=start, length=stop - start)
    return Response(status=206, headers=headers, body=body, content_length=stop - start)


async def _headers(call: Call, file: File) -> list[tuple[str, str]]:
    head = b""
    if file.size:
        try:
            async for chunk in call.workspace.blobs.stream(file.sha256, length=SNIFF_BYTES):
                head += chunk
        except BlobMissing as error:
            raise NotFound(_MISSING) from error
    inline = may_show_inline(file.mime, head)
    return [
        ("content-type", content_type(file.mime, inline=inline)),
        ("content-disposition", content_disposition(file.name, inline=inline)),
        ("content-security-policy", "sandbox; default-src 'none'"),
    ]


def _tags(header: str | None) -> set[str]:
    if header is None:
        return set()
    return {tag.strip().removeprefix("W/") for tag in header.split(",")}


ROUTES = (
    Route(
        method="GET",
        path="/files/:id/content",
        access="authenticated",
        handle=file_content,
        summary="The content of a file that the caller owns or may read.",
    ),
)
