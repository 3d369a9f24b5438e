"""The ``pages.*`` procedures. They decide nothing: each passes typed input to a query or an action."""

from __future__ import annotations

from svc.errors import NotFound
from svc.pages import actions, finding, queries, trash, wire
from svc.pages.actions import NO_PAGE
from svc.pages.model import Page, page_path
from svc.pages.wire import (
    EraseInput,
    FindInput,
    FoundPageOut,
    MoveInput,
    PageOut,
    PathInput,
    PathOut,
    RestoreInput,
    RevisionOut,
    SavedOut,
    SaveInput,
    SetAccessInput,
    TrashEntryOut,
    TreeEntryOut,
    TreeInput,
    UndeleteInput,
)
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure
from svc.store import ReadTx
from svc.workspace import RequestContext


async def tree(context: RequestContext, wanted: TreeInput) -> list[TreeEntryOut]:
    return await context.workspace.store.read(_tree, context.principal, wanted.path)


async def get(context: RequestContext, wanted: PathInput) -> PageOut:
    return await context.workspace.store.read(_get, context.principal, wanted.path)


async def find(context: RequestContext, wanted: FindInput) -> list[FoundPageOut]:
    found = await context.workspace.store.read(finding.find, context.principal, text=wanted.text, limit=wanted.limit)
    return [wire.found_page(page) for page in found]


async def save(context: RequestContext, wanted: SaveInput) -> SavedOut:
    saved = await context.workspace.store.write(
        actions.save,
        context.principal,
        path=wanted.path,
        title=wanted.title,
        body=wanted.body,
        revision=wanted.revision,
    )
    return SavedOut(id=saved.id, revision=saved.revision)


async def move(context: RequestContext, wanted: MoveInput) -> Nothing:
    await context.workspace.store.write(actions.move, context.principal, path=wanted.path, to=wanted.to)
    return NOTHING


async def delete(context: RequestContext, wanted: PathInput) -> Nothing:
    await context.workspace.store.write(actions.delete, context.principal, path=wanted.path)
    return NOTHING


async def trash_listed(context: RequestContext, wanted: Nothing) -> list[TrashEntryOut]:
    return await context.workspace.store.read(_trash, context.principal)


async def undelete(context: RequestContext, wanted: UndeleteInput) -> PathOut:
    path = await context.workspace.store.write(actions.undelete, context.principal, page_id=wanted.id, to=wanted.to)
    return PathOut(path=path)


async def erase(context: RequestContext, wanted: EraseInput) -> Nothing:
    await context.workspace.store.write(actions.erase, context.principal, page_id=wanted.id)
    return NOTHING


async def history(context: RequestContext, wanted: PathInput) -> list[RevisionOut]:
    return await context.workspace.store.read(_history, context.principal, wanted.path)


async def restore(context: RequestContext, wanted: RestoreInput) -> SavedOut:
    saved = await context.workspace.store.write(
        actions.restore, context.principal, path=wanted.path, revision=wanted.revision
    )
    return SavedOut(id=saved.id, revision=saved.revision)


async def set_access(context: RequestContext, wanted: SetAccessInput) -> Nothing:
    await context.workspace.store.write(
        actions.set_access,
        context.principal,
        path=wanted.path,
        access=wanted.access,
        grants=wire.grants_of(wanted),
    )
    return NOTHING


def _tree(tx: ReadTx, principal: Principal, path: str | None) -> list[TreeEntryOut]:
    top = None if path is None else _seen(tx, principal, path).path
    return [wire.tree_entry(page, has_children) for page, has_children in queries.tree(tx, principal, top)]


def _get(tx: ReadTx, principal: Principal, path: str) -> PageOut:
    return wire.page_detail(tx, principal, _seen(tx, principal, path))


def _history(tx: ReadTx, principal: Principal, path: str) -> list[RevisionOut]:
    return [wire.revision_entry(revision) for revision in queries.history(tx, _seen(tx, principal, path).id)]


def _trash(tx: ReadTx, principal: Principal) -> list[TrashEntryOut]:
    return wire.trash_entries(tx, trash.listed(tx, principal))


def _seen(tx: ReadTx, principal: Principal, path: str) -> Page:
    page = queries.readable_page(tx, principal, page_path(path))
    if page is None:
        raise NotFound(NO_PAGE)
    return page


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="pages.tree",
        kind="query",
        access="authenticated",
        input=TreeInput,
        output=list[TreeEntryOut],
        call=tree,
        summary="The readable pages next below one, or at the top.",
    ),
    Procedure(
        name="pages.get",
        kind="query",
        access="authenticated",
        input=PathInput,
        output=PageOut,
        call=get,
        summary="A page with its text, its grants and what links to it.",
    ),
    Procedure(
        name="pages.find",
        kind="query",
        access="authenticated",
        input=FindInput,
        output=list[FoundPageOut],
        call=find,
        summary="The readable pages with these words, those with all of them in the title first.",
    ),
    Procedure(
        name="pages.save",
        kind="mutation",
        access="authenticated",
        input=SaveInput,
        output=SavedOut,
        call=save,
        summary="Create a page, or write a new revision of it.",
    ),
    Procedure(
        name="pages.move",
        kind="mutation",
        access="authenticated",
        input=MoveInput,
        output=Nothing,
        call=move,
        summary="Move a page with all below it.",
    ),
    Procedure(
        name="pages.delete",
        kind="mutation",
        access="authenticated",
        input=PathInput,
        output=Nothing,
        call=delete,
        summary="Move a page with all below it into the trash, for 30 days. Its owner only.",
    ),
    Procedure(
        name="pages.trash",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[TrashEntryOut],
        call=trash_listed,
        summary="One's own deleted pages, the last deleted first.",
    ),
    Procedure(
        name="pages.undelete",
        kind="mutation",
        access="authenticated",
        input=UndeleteInput,
        output=PathOut,
        call=undelete,
        summary="Bring a deleted page back, with what was deleted below it. Its owner only.",
    ),
    Procedure(
        name="pages.erase",
        kind="mutation",
        access="authenticated",
        input=EraseInput,
        output=Nothing,
        call=erase,
        summary="Delete a page in the trash for good, with what was deleted below it. Its owner only.",
    ),
    Procedure(
        name="pages.history",
        kind="query",
        access="authenticated",
        input=PathInput,
        output=list[RevisionOut],
        call=history,
        summary="The newest revisions of a page: who wrote them, and when.",
    ),
    Procedure(
        name="pages.restore",
        kind="mutation",
        access="authenticated",
        input=RestoreInput,
        output=SavedOut,
        call=restore,
        summary="Write an old revision as a new one.",
    ),
    Procedure(
        name="pages.setAccess",
        kind="mutation",
        access="authenticated",
        input=SetAccessInput,
        output=Nothing,
        call=set_access,
        summary="Say who may read and write a page and what inherits from it. Its owner only.",
    ),
)
