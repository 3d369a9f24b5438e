"""The ``files.*`` procedures."""

from __future__ import annotations

from svc.files import actions, queries, wire
from svc.files.wire import DeleteInput, FileOut, FilesOut, FindInput, ListInput
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


async def find(context: RequestContext, wanted: FindInput) -> list[FileOut]:
    found = await context.workspace.store.read(queries.named, context.principal, text=wanted.text, limit=wanted.limit)
    return [wire.file_out(file) for file in found]


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
        name="files.find",
        kind="query",
        access="authenticated",
        input=FindInput,
        output=list[FileOut],
        call=find,
        summary="The caller's uploads, and files on pages that the caller may read, by words of their names.",
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
