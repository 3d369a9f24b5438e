"""``/files/tus``: uploads that continue after a lost connection, by the tus protocol, so that its clients work.

The rules for who may upload, from where, and how much, are those of ``POST /files``. ``receiving.py`` does the work.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Final, Literal

import msgspec

from svc.errors import Invalid, Refusal
from svc.files import partial, tus
from svc.files.receiving import Receiver
from svc.files.settings import UPLOAD_MAX_BYTES
from svc.protocol import Request, Response, Route, Says, Wire
from svc.workspace import RequestContext

PATH: Final = "/files/tus"
ROOM_LEFT: Final = "The disk has no room for this upload."

OFFSET_BYTES: Final = "application/offset+octet-stream"


class TusHeaders(Wire, frozen=True):
    tus_resumable: Literal["1.0.0"] = msgspec.field(name="Tus-Resumable")


class BeginHeaders(TusHeaders, frozen=True):
    """``upload_metadata``: `filename` and `filetype`, each with its value in Base64."""

    upload_length: Annotated[int, msgspec.Meta(ge=0)] = msgspec.field(name="Upload-Length")
    upload_metadata: str | None = msgspec.field(name="Upload-Metadata", default=None)


class AppendHeaders(TusHeaders, frozen=True):
    upload_offset: Annotated[int, msgspec.Meta(ge=0)] = msgspec.field(name="Upload-Offset")
    upload_checksum: str | None = msgspec.field(name="Upload-Checksum", default=None)


class OverrideHeaders(TusHeaders, frozen=True):
    x_http_method_override: Literal["PATCH", "DELETE", "HEAD"] = msgspec.field(name="X-HTTP-Method-Override")


NO_BODY: Final = Says(answers={204: None})
Handle = Callable[[RequestContext, Request], Awaitable[Response]]


async def options(context: RequestContext, request: Request) -> Response:
    """The supported version and extensions."""
    fields = [
        ("tus-resumable", tus.VERSION),
        ("tus-version", tus.VERSION),
        ("tus-extension", tus.EXTENSIONS),
        ("tus-checksum-algorithm", ",".join(tus.ALGORITHMS)),
        ("tus-max-size", str(context.workspace.config[UPLOAD_MAX_BYTES])),
    ]
    return Response(status=204, headers=fields)


async def create(context: RequestContext, request: Request) -> Response:
    """201 with the upload's address. The request may include the first bytes."""
    headers = request.headers
    length = tus.length_from(headers, most=context.workspace.config[UPLOAD_MAX_BYTES])
    metadata = tus.metadata_from(headers)
    brings_bytes = request.body.declared_length != 0
    if brings_bytes:
        tus.check_type(headers)
    await _check_room(context, length)
    upload = await context.workspace.store.write(
        partial.begin, context.principal, length=length, name=metadata.name, mime=metadata.mime, metadata=metadata.text
    )
    if brings_bytes or length == 0:
        upload = await context.workspace.service(Receiver).receive(
            context.principal, upload.id, offset=0, body=request.body, checksum=tus.checksum_from(headers)
        )
    return Response(status=201, headers=[("location", f"{PATH}/{upload.id}"), *tus.told(upload)])


async def look(context: RequestContext, request: Request) -> Response:
    upload = await context.workspace.service(Receiver).look(context.principal, request.params["id"])
    fields = [*tus.told(upload), ("upload-length", str(upload.length))]
    if upload.metadata:
        fields.append(("upload-metadata", upload.metadata))
    return Response(status=200, headers=fields)


async def append(context: RequestContext, request: Request) -> Response:
    headers = request.headers
    tus.check_type(headers)
    upload = await context.workspace.service(Receiver).receive(
        context.principal,
        request.params["id"],
        offset=tus.offset_from(headers),
        body=request.body,
        checksum=tus.checksum_from(headers),
    )
    return Response(status=204, headers=tus.told(upload))


async def end(context: RequestContext, request: Request) -> Response:
    await context.workspace.service(Receiver).end(context.principal, request.params["id"])
    return Response(status=204, headers=[("tus-resumable", tus.VERSION)])


_OVERRIDES: Final[Mapping[str, Handle]] = {"PATCH": append, "DELETE": end, "HEAD": look}


async def overridden(context: RequestContext, request: Request) -> Response:
    """For clients that can't send PATCH or DELETE: ``X-HTTP-Method-Override`` names the method."""
    handle = _OVERRIDES.get((request.headers.get("x-http-method-override") or "").upper())
    if handle is None:
        raise Invalid("Say what is meant: PATCH, or POST with X-HTTP-Method-Override.")
    return await handle(context, request)


def _spoken(handle: Handle) -> Handle:
    """Refuse clients of another protocol version, and name our version in every refusal."""

    async def answer(context: RequestContext, request: Request) -> Response:
        try:
            tus.check_version(request.headers)
            return await handle(context, request)
        except Refusal as refusal:
            refusal.headers = {**refusal.headers, "tus-resumable": tus.VERSION}
            raise

    return answer


async def _check_room(context: RequestContext, length: int) -> None:
    """Refuse at once what could never be stored. The disk may still fill later."""
    free = await context.workspace.blobs.free_bytes()
    if free is not None and length > free:
        raise Refusal(ROOM_LEFT, code="insufficient_storage")


def _options(path: str) -> Route[RequestContext]:
    return Route(
        method="OPTIONS",
        path=path,
        access="public",
        handle=options,
        summary="What of tus is spoken here.",
        says=NO_BODY,
    )


ROUTES: tuple[Route[RequestContext], ...] = (
    _options(PATH),
    _options(f"{PATH}/:id"),
    Route(
        method="POST",
        path=PATH,
        access="authenticated",
        handle=_spoken(create),
        summary="Begin an upload that can go on after a lost link (tus 1.0).",
        says=Says(headers=BeginHeaders, answers={201: None}),
    ),
    Route(
        method="GET",
        path=f"{PATH}/:id",
        access="authenticated",
        handle=_spoken(look),
        summary="How far an upload of the caller's is.",
        says=Says(headers=TusHeaders, answers={200: None}),
    ),
    Route(
        method="PATCH",
        path=f"{PATH}/:id",
        access="authenticated",
        handle=_spoken(append),
        summary="More bytes of an upload, from Upload-Offset on.",
        says=Says(headers=AppendHeaders, body=OFFSET_BYTES, answers={204: None}),
    ),
    Route(
        method="DELETE",
        path=f"{PATH}/:id",
        access="authenticated",
        handle=_spoken(end),
        summary="End an upload and remove its bytes.",
        says=Says(headers=TusHeaders, answers={204: None}),
    ),
    Route(
        method="POST",
        path=f"{PATH}/:id",
        access="authenticated",
        handle=_spoken(overridden),
        summary="PATCH or DELETE, for clients that can't send them.",
        says=Says(headers=OverrideHeaders, answers={200: None, 204: None}),
    ),
)
