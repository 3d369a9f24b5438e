"""Answers with a file's bytes: whole or one range, for ``HEAD`` as for the whole, and only in a form that a browser
can't run."""

from __future__ import annotations

from functools import partial
from typing import Final

from svc.errors import NotFound, Refusal
from svc.files.disposition import SNIFF_BYTES, content_disposition, content_type, may_show_inline
from svc.files.model import File
from svc.files.ranges import requested_range
from svc.overlap import write_ahead
from svc.protocol import FileBody, Request, Response
from svc.store import BlobCorrupt, BlobMissing, Blobs
from svc.workspace import RequestContext

ASK_AGAIN: Final = "private, no-cache"
FOR_A_YEAR: Final = "private, max-age=31536000, immutable"


async def serve_file(
    context: RequestContext, request: Request, file: File, *, cache_control: str, missing: str
) -> Response:
    """The bytes of ``file``. For a lost or damaged blob it answers ``missing`` and logs it."""
    blobs = context.workspace.blobs
    size = await blobs.size(file.sha256)
    if size != file.size:
        blobs.doubt(file.sha256, size=size)
        context.workspace.log.error("files.blob_missing", file=file.id, sha256=file.sha256, size=size)
        raise NotFound(missing)
    etag = f'"{file.sha256}"'
    common = [("etag", etag), ("cache-control", cache_control)]
    required = request.headers.get("if-match")
    if required is not None and {tag.strip() for tag in required.split(",")}.isdisjoint({etag, "*"}):
        raise Refusal("The content is not the one that If-Match names.", code="precondition_failed")
    if not _tags(request.headers.get("if-none-match")).isdisjoint({etag, "*"}):
        return Response(status=304, headers=common)
    # Ranges are defined for GET alone (RFC 9110, 14.2).
    wanted = None if request.method == "HEAD" else requested_range(request, size=size, etag=etag)
    headers = [*common, ("accept-ranges", "bytes"), *_orders(file, await _head(context, file, missing=missing))]
    if wanted is None:
        return Response(headers=headers, body=_sent(blobs, file.sha256), content_length=size)
    start, stop = wanted
    headers.append(("content-range", f"bytes {start}-{stop - 1}/{size}"))
    body = _sent(blobs, file.sha256, offset=start, length=stop - start)
    return Response(status=206, headers=headers, body=body, content_length=stop - start)


def _sent(blobs: Blobs, sha256: str, *, offset: int = 0, length: int | None = None) -> FileBody:
    """The body. The kernel sends a recently checked file; else it is read and hashed while the socket sends."""
    return FileBody(
        produce=lambda write: write_ahead(blobs.stream(sha256, offset=offset, length=length), write),
        opened=partial(blobs.part, sha256, offset=offset, length=length),
    )


async def _head(context: RequestContext, file: File, *, missing: str) -> bytes:
    try:
        return await context.workspace.blobs.head(file.sha256, length=SNIFF_BYTES)
    except (BlobMissing, BlobCorrupt) as error:
        context.workspace.log.error("files.blob_damaged", file=file.id, sha256=file.sha256)
        raise NotFound(missing) from error


def _orders(file: File, head: bytes) -> list[tuple[str, str]]:
    """The headers that tell a browser how to treat the bytes."""
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
