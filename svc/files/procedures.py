"""The ``files.*`` procedures."""

from __future__ import annotations

from svc.errors import NotFound
from svc.feature import file_readers_of
from svc.files import access, actions, listing, queries, wire
from svc.files.actions import MISSING
from svc.files.listing import Listed, Uses, Wanted
from svc.files.model import Cursor, File
from svc.files.settings import UPLOAD_MAX_BYTES
from svc.files.wire import (
    FileOut,
    FilesOut,
    FindInput,
    ListedOut,
    ListInput,
    OneInput,
    RenameInput,
    StorageOut,
)
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure
from svc.store import ReadTx
from svc.workspace import RequestContext

_NOWHERE = Uses()


async def list_files(context: RequestContext, wanted: ListInput) -> FilesOut:
    cursor = wire.decode_cursor(wanted.cursor, sort=wanted.sort)
    rows = Wanted(sort=wanted.sort, text=wanted.text, kinds=wanted.kinds)
    found, uses = await context.workspace.store.read(
        _listed, context.principal, wanted=rows, cursor=cursor, limit=wanted.limit
    )
    return FilesOut(
        files=tuple(wire.listed_out(file, uses.get(file.id, _NOWHERE)) for file in found.files),
        next_cursor=None if found.next is None else wire.encode_cursor(found.next),
    )


def _listed(
    tx: ReadTx, principal: Principal, *, wanted: Wanted, cursor: Cursor | None, limit: int
) -> tuple[Listed, dict[str, Uses]]:
    found = listing.listed(tx, principal, wanted=wanted, cursor=cursor, limit=limit)
    return found, listing.uses_of(tx, principal, found.files)


async def get(context: RequestContext, wanted: OneInput) -> ListedOut:
    readers = file_readers_of(context.workspace.features)

    def look(tx: ReadTx) -> tuple[File, dict[str, Uses]]:
        file = access.readable_file(tx, context.principal, file_id=wanted.id, readers=readers)
        if file is None:
            raise NotFound(MISSING)
        return file, listing.uses_of(tx, context.principal, [file])

    file, uses = await context.workspace.store.read(look)
    return wire.listed_out(file, uses.get(file.id, _NOWHERE))


async def find(context: RequestContext, wanted: FindInput) -> list[FileOut]:
    found = await context.workspace.store.read(queries.named, context.principal, text=wanted.text, limit=wanted.limit)
    return [wire.file_out(file) for file in found]


async def rename(context: RequestContext, wanted: RenameInput) -> FileOut:
    return wire.file_out(
        await context.workspace.store.write(actions.rename, context.principal, file_id=wanted.id, name=wanted.name)
    )


async def delete(context: RequestContext, wanted: OneInput) -> Nothing:
    await context.workspace.store.write(actions.delete, context.principal, file_id=wanted.id)
    return NOTHING


async def restore(context: RequestContext, wanted: OneInput) -> FileOut:
    return wire.file_out(await context.workspace.store.write(actions.restore, context.principal, file_id=wanted.id))


async def storage(context: RequestContext, wanted: Nothing) -> StorageOut:
    workspace = context.workspace
    mine = await workspace.store.read(listing.taken_by, context.principal)
    everybodys = await workspace.store.read(listing.taken_by_all) if context.principal.is_admin else None
    return StorageOut(
        mine=wire.taken_out(mine),
        all=None if everybodys is None else wire.taken_out(everybodys),
        free=await workspace.blobs.free_bytes(),
        largest=workspace.config[UPLOAD_MAX_BYTES],
    )


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="files.list",
        kind="query",
        access="authenticated",
        input=ListInput,
        output=FilesOut,
        call=list_files,
        summary="The caller's own uploads: newest first, by name or by size, by words of the name and by kind.",
    ),
    Procedure(
        name="files.get",
        kind="query",
        access="authenticated",
        input=OneInput,
        output=ListedOut,
        call=get,
        summary="A file that the caller owns or may read, without its content.",
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
        name="files.rename",
        kind="mutation",
        access="authenticated",
        input=RenameInput,
        output=FileOut,
        call=rename,
        summary="Give an upload of the caller's another name.",
    ),
    Procedure(
        name="files.delete",
        kind="mutation",
        access="authenticated",
        input=OneInput,
        output=Nothing,
        call=delete,
        summary="Delete an upload of the caller's; files.restore brings it back for a day.",
    ),
    Procedure(
        name="files.restore",
        kind="mutation",
        access="authenticated",
        input=OneInput,
        output=FileOut,
        call=restore,
        summary="Bring back an upload that the caller deleted less than a day ago.",
    ),
    Procedure(
        name="files.storage",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=StorageOut,
        call=storage,
        summary="How much room the caller's uploads take, all files together (for admins), and what is free.",
        is_costly=True,
    ),
)
