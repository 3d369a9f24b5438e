"""A message as it came: ``GET /mail/messages/:id/source`` to look at, ``GET /mail/messages/:id/eml`` to keep.

These are the bytes that a stranger wrote. To look at, they are sent as plain text only: browsers must not sniff their
type, and show them in a sandbox that loads nothing. To keep, they are sent as an attachment.
"""

from __future__ import annotations

import re
from typing import Final

from svc.errors import NotFound
from svc.mail.reading import queries, saving
from svc.mail.reading.queries import Source
from svc.protocol import Request, Response, Route, Says
from svc.store import BlobCorrupt, BlobMissing
from svc.workspace import RequestContext

MAX_NAME_CHARS: Final = 80
_ODD: Final = re.compile(r"[^A-Za-z0-9._@-]+")
_MISSING: Final = "There is no such message."
_LOST: Final = "This message is damaged on this server. Where that is possible it is mended by itself."


async def source(context: RequestContext, request: Request) -> Response:
    _, raw = await _read(context, request.params["id"])
    return _answer(raw, mime="text/plain; charset=utf-8", disposition="inline")


async def eml(context: RequestContext, request: Request) -> Response:
    found, raw = await _read(context, request.params["id"])
    name = _ODD.sub("-", found.subject)[:MAX_NAME_CHARS].strip("-.") or "message"
    return _answer(raw, mime="message/rfc822", disposition=f'attachment; filename="{name}.eml"')


async def _read(context: RequestContext, message_id: str) -> tuple[Source, bytes]:
    workspace = context.workspace
    found = await workspace.store.read(queries.source_for, context.principal, message_id=message_id)
    if found is None:
        raise NotFound(_MISSING)
    try:
        return found, await workspace.blobs.read(found.raw_sha256, limit=found.raw_size)
    except (BlobMissing, BlobCorrupt) as fault:
        workspace.log.error("mail.source_lost", message=message_id, sha256=found.raw_sha256, reason=str(fault))
        raise NotFound(_LOST) from fault


def _answer(raw: bytes, *, mime: str, disposition: str) -> Response:
    return Response(
        headers=[
            ("content-type", mime),
            ("content-disposition", disposition),
            ("cache-control", "private, no-store"),
            ("x-content-type-options", "nosniff"),
            ("content-security-policy", "sandbox; default-src 'none'"),
        ],
        body=raw,
    )


ROUTES: tuple[Route[RequestContext], ...] = (
    Route(
        method="GET",
        path="/mail/messages/:id/source",
        access="authenticated",
        handle=source,
        summary="A message as it came, headers and all, as plain text.",
        says=Says(answers={200: "text/plain"}),
    ),
    Route(
        method="GET",
        path="/mail/messages/:id/eml",
        access="authenticated",
        handle=eml,
        summary="A message as it came, as a file.",
        says=Says(answers={200: "message/rfc822"}),
    ),
    Route(
        method="GET",
        path="/mail/messages/:id/attachments",
        access="authenticated",
        handle=saving.attachments,
        summary="All attachments of a message, as one zip.",
        says=Says(answers={200: "application/zip"}),
    ),
)
