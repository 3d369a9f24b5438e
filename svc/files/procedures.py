"""The ``files.*`` procedures."""

from __future__ import annotations

from svc.files import actions, queries, wire
from svc.files.wire import DeleteInput, FilesOut, ListInput
from svc.protocol import NOTHING, Nothing, Procedure
from svc.workspace import Call


async def list_files(call: Call, wanted: ListInput) -> FilesOut:
    found = await call.workspace.store.read(
        queries.uploads, call.principal, cursor=wire.decode_cursor(wanted.cursor), limit=wanted.limit + 1
    )
    page = found[: wanted.limit]
    return FilesOut(
        files=tuple(wire.file_out(file) for file in page),
        next_cursor=wire.encode_cursor(page[-1]) if len(found) > wanted.limit else None,
    )


async def delete(call: Call, wanted: DeleteInput) -> Nothing:
    await call.workspace.store.write(actions.delete, call.principal, file_id=wanted.id)
    return NOTHING


PROCEDURES: tuple[Procedure[Call], ...] = (
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
