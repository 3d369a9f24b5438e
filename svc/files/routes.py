"""``POST /files`` receives an upload; ``GET /files/:id/content`` and ``GET /blobs/:sha256`` return content.

An upload is one raw body, streamed to disk as it comes: it is hashed meanwhile, durable before its record is committed,
and fully discarded when it ends early. Every refusal that needs no content comes before the first byte is read.
"""

from __future__ import annotations

from typing import Final

import msgspec

from svc.errors import Invalid, NotFound, Refusal, TooLarge
from svc.feature import file_readers_of
from svc.files import access, actions, wire
from svc.files.actions import MISSING
from svc.files.content import ASK_AGAIN, FOR_A_YEAR, serve_file
from svc.files.names import name_from_header, type_from_headers
from svc.files.settings import UPLOAD_MAX_BYTES
from svc.protocol import Headers, Request, Response, Route, Says, Wire, json_response
from svc.workspace import RequestContext

ANY_BYTES: Final = "application/octet-stream"


class UploadHeaders(Wire, frozen=True):
    """``name``: percent-encoded, in UTF-8; without one, the file gets a default name."""

    name: str | None = msgspec.field(name="X-Svc-Filename", default=None)


class ContentHeaders(Wire, frozen=True):
    """A part of the content; and only if it is, or is not, the content that the client has."""

    range: str | None = msgspec.field(name="Range", default=None)
    if_range: str | None = msgspec.field(name="If-Range", default=None)
    if_match: str | None = msgspec.field(name="If-Match", default=None)
    if_none_match: str | None = msgspec.field(name="If-None-Match", default=None)


CONTENT: Final = Says(headers=ContentHeaders, answers={200: "*/*", 206: "*/*", 304: None})
_NO_BLOB: Final = "There is no such blob."
_LOST: Final = (
    "The content of this file is missing or damaged on this server. If it came with a mail, it is fetched again by "
    "itself: try again in a minute. If you uploaded it, upload it again."
)


async def upload(context: RequestContext, request: Request) -> Response:
    """201 with the file's record."""
    mime = type_from_headers(request.headers.all("content-type"))
    _check_coding(request.headers)
    name = name_from_header(_only(request.headers, "x-svc-filename"))
    limit = context.workspace.config[UPLOAD_MAX_BYTES]
    declared = request.body.declared_length
    if declared is not None and declared > limit:
        raise TooLarge(f"An upload may have at most {limit} bytes.")
    blob = await context.workspace.blobs.put_stream(request.body.chunks(), limit=limit)
    file = await context.workspace.store.write(actions.add_upload, context.principal, blob=blob, name=name, mime=mime)
    location = ("location", f"/files/{file.id}/content")
    return json_response(msgspec.to_builtins(wire.uploaded(file)), status=201, headers=[location])


async def file_content(context: RequestContext, request: Request) -> Response:
    store = context.workspace.store
    file = await store.read(
        access.readable_file,
        context.principal,
        file_id=request.params["id"],
        readers=file_readers_of(context.workspace.features),
    )
    if file is None:
        raise NotFound(MISSING)
    return await serve_file(context, request, file, cache_control=ASK_AGAIN, missing=_LOST)


async def blob_content(context: RequestContext, request: Request) -> Response:
    store = context.workspace.store
    file = await store.read(
        access.readable_file_with_content,
        context.principal,
        sha256=request.params["sha256"],
        readers=file_readers_of(context.workspace.features),
    )
    if file is None:
        raise NotFound(_NO_BLOB)
    return await serve_file(context, request, file, cache_control=FOR_A_YEAR, missing=_NO_BLOB)


def _only(headers: Headers, name: str) -> str | None:
    """The value of a header that may occur only once."""
    values = headers.all(name)
    if len(values) > 1:
        raise Invalid(f"{name} is given twice.")
    return values[0] if values else None


def _check_coding(headers: Headers) -> None:
    """Refuse encoded bodies: bytes are stored as they come, and compressed ones would be stored under a wrong type."""
    if any(value.strip().lower() not in {"", "identity"} for value in headers.all("content-encoding")):
        raise Refusal("Send the file's own bytes, without Content-Encoding.", code="unsupported_media_type")


ROUTES: tuple[Route[RequestContext], ...] = (
    Route(
        method="POST",
        path="/files",
        access="authenticated",
        handle=upload,
        summary="Upload a file: the raw body, its type in Content-Type, its name in X-Svc-Filename.",
        says=Says(headers=UploadHeaders, body=ANY_BYTES, answers={201: wire.UploadedOut}),
    ),
    Route(
        method="GET",
        path="/files/:id/content",
        access="authenticated",
        handle=file_content,
        summary="The content of a file that the caller owns or may read.",
        says=CONTENT,
    ),
    Route(
        method="GET",
        path="/blobs/:sha256",
        access="authenticated",
        handle=blob_content,
        summary="The content with that hash, where the caller may read a file that has it.",
        says=CONTENT,
    ),
)
