"""The ``files.*`` procedures."""

from __future__ import annotations

from svc.files import actions, queries, wire
from svc.files.wire import DeleteInput, FilesOut, ListInput
from svc.protocol import NOTHING, Nothing, Procedure
from svc.workspace import RequestContext


async def list_files(context: RequestContext, wanted: ListInput) -> FilesOut:
    found = await context.workspace.store.read(
        queries.uploads, context.principal, cursor=wire.decode_cursor(wanted.cursor), limit=wanted.limit + 1
    )
    page = found[: wanted.limit]
    return FilesOut(
        files=tuple(wire.file_out(file) for file in page),
        next_cursor=wire.encode_cursor(page[-1]) if len(found) > wanted.limit else None,
    )


async def delete(context: RequestContext, wanted: DeleteInput) -> Nothing:
    await context.workspace.store.write(actions.delete, context.principal, file_id=wanted.id)
    return NOTHING


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="files.list",
        kind="query",
        access="authenticated",
        input=ListInput,
        output=FilesOut,
        call=list_files,
        summary="The caller's own uploads, newest first.",
    ),
    Procedure(
        name="files.delete",
        kind="mutation",
        access="authenticated",
        input=DeleteInput,
        output=Nothing,
        call=delete,
        summary="Delete an upload of the caller's.",
    ),
)
