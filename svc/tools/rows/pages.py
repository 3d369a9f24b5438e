"""``pages.*``: the page tree, as far as the run's owner may see and write it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from svc import meaning
from svc.errors import NotFound
from svc.inert import inert
from svc.pages import (
    NO_PAGE,
    SHARED_SURFACES,
    FoundPage,
    Page,
    delete_page,
    find_pages,
    move_page,
    new_page_path,
    openness,
    page_path,
    page_text,
    page_tree,
    readable_below,
    readable_page,
    save_page,
)
from svc.principal import Principal
from svc.store import ReadTx, Tx
from svc.tools.cards import row
from svc.tools.model import CardRow, Outcome, Tool, ToolInput
from svc.tools.taint import page_taint, title_taint
from svc.workspace import Workspace

CONFIGURATION: Final = ("mail-rules", "agents", "mcp", "memory")
"""Others act on what the pages below these paths say."""
_SHARED: Final = frozenset(path for path, _ in SHARED_SURFACES)
MAX_TREE: Final = 500
"""Pages that a tool lists at once. Beyond: the first ones."""
MAX_BELOW: Final = 50
"""Pages below another that its card names. Beyond: they are counted, and their digest is shown."""
_DIGEST_HEX: Final = 32
FOUND: Final = "pages"

Path = Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]


class TreeInput(ToolInput, frozen=True):
    path: Path | None = None


class PathInput(ToolInput, frozen=True):
    path: Path


class FindInput(ToolInput, frozen=True):
    text: Annotated[str, msgspec.Meta(max_length=1_000)]
    limit: Annotated[int, msgspec.Meta(ge=1, le=20)] = 10


class SaveInput(ToolInput, frozen=True):
    path: Path
    body: str
    title: str | None = None
    revision: int | None = None


class MoveInput(ToolInput, frozen=True):
    path: Path
    to: Path


def why_sink(tx: ReadTx, principal: Principal, path: str) -> str | None:
    """Why writing there is more than a private note; else ``None``."""
    return next(iter(why_sinks(tx, principal, path)), None)


def why_sinks(tx: ReadTx, principal: Principal, path: str) -> tuple[str, ...]:
    """All reasons. They are marks of the card: if one is added before the yes, the person is asked again."""
    path = page_path(path)
    top, found = path.split("/")[0], openness(tx, principal, path)
    reasons = {
        f"Pages under {top}/ tell others what to do.": top in CONFIGURATION,
        "The page is everybody's, or will be.": top in _SHARED,
        "The page is a file in a git repository, too.": found.synced,
        "The page is somebody else's.": found.foreign,
        "Everybody here can read the page.": found.for_everyone,
        f"The page is shared with {found.readers} here.": found.readers > 0,
        "Others can write the page.": found.others_write,
    }
    return tuple(why for why, holds in reasons.items() if holds)


def seen(tx: ReadTx, principal: Principal, path: str) -> Page:
    page = readable_page(tx, principal, page_path(path))
    if page is None:
        raise NotFound(NO_PAGE)
    return page


def outside_of(
    tx: ReadTx, principal: Principal, page: Page, *, title_alone: bool = False, revision: int | None = None
) -> str | None:
    """The source of a page's text, or of that of an older ``revision``, if it is not from the reader; else ``None``."""
    if title_taint(tx, page.id) if title_alone else page_taint(tx, page.id):
        return f"the page {page.path}, which was written from outside text"
    found = openness(tx, principal, page.path, revision=revision)
    if found.foreign or found.others_write:
        return f"the page {page.path}, which others may write"
    if found.by_another:
        return f"the page {page.path}, which another person wrote last"
    return None


def _tree(workspace: Workspace, tx: Tx, principal: Principal, wanted: TreeInput) -> Outcome:
    top = None if wanted.path is None else page_path(wanted.path)
    found = page_tree(tx, principal, top)[:MAX_TREE]
    listed = [{"path": page.path, "title": inert(page.title), "hasChildren": more} for page, more in found]
    outside = next((why for page, _ in found if (why := outside_of(tx, principal, page, title_alone=True))), None)
    return Outcome(output={"pages": listed}, outside=outside)


def _read(workspace: Workspace, tx: Tx, principal: Principal, wanted: PathInput) -> Outcome:
    page = seen(tx, principal, wanted.path)
    body = page_text(tx, page_id=page.id, revision=page.revision)
    said = {"path": page.path, "title": inert(page.title), "revision": page.revision, "body": inert(body)}
    return Outcome(output=said, outside=outside_of(tx, principal, page))


async def _find(workspace: Workspace, principal: Principal, wanted: FindInput) -> Outcome:
    """By words, and also by meaning if the owner has switched that on."""
    found: Sequence[FoundPage]
    if await meaning.is_on(workspace, principal):
        found = await meaning.search_pages(workspace, principal, text=wanted.text, limit=wanted.limit)
    else:
        found = await workspace.store.read(find_pages, principal, text=wanted.text, limit=wanted.limit)
    return await workspace.store.read(_found, principal, found=found)


def _found(tx: ReadTx, principal: Principal, *, found: Sequence[FoundPage]) -> Outcome:
    """Drop pages that moved after the search; their author is unknown."""
    there = [(one, page) for one in found if (page := readable_page(tx, principal, one.path))]
    listed = [{"path": one.path, "title": inert(one.title), "snippet": inert(one.snippet)} for one, _ in there]
    outside = next((why for _, page in there if (why := outside_of(tx, principal, page))), None)
    return Outcome(output={"pages": listed}, outside=outside)


def _save(workspace: Workspace, tx: Tx, principal: Principal, wanted: SaveInput) -> Outcome:
    saved = save_page(tx, principal, path=wanted.path, title=wanted.title, body=wanted.body, revision=wanted.revision)
    return Outcome(output={"path": page_path(wanted.path), "id": saved.id, "revision": saved.revision})


def _move(workspace: Workspace, tx: Tx, principal: Principal, wanted: MoveInput) -> Outcome:
    move_page(tx, principal, path=wanted.path, to=wanted.to)
    return Outcome(output={"path": page_path(wanted.to)})


def _delete(workspace: Workspace, tx: Tx, principal: Principal, wanted: PathInput) -> Outcome:
    delete_page(tx, principal, path=wanted.path)
    return Outcome(output={"deleted": page_path(wanted.path)})


def _save_sink(tx: ReadTx, principal: Principal, wanted: SaveInput) -> str | None:
    return why_sink(tx, principal, wanted.path)


def _move_sink(tx: ReadTx, principal: Principal, wanted: MoveInput) -> str | None:
    return why_sink(tx, principal, wanted.to) or why_sink(tx, principal, wanted.path) or "A page gets another place."


def _delete_sink(tx: ReadTx, principal: Principal, wanted: PathInput) -> str | None:
    return "A page goes into the trash, with all below it."


def page_rows(tx: ReadTx, principal: Principal, *, path: str, body: str, title: str | None) -> tuple[CardRow, ...]:
    """The page as it would be, and as it is now. Raises `Invalid` if no page may be made there."""
    page = readable_page(tx, principal, page_path(path))
    if page is None:
        new_page_path(path)
    rows = [row("Page", path, *why_sinks(tx, principal, path))]
    if title is not None:
        rows.append(row("Title", title))
    rows.append(row("Text", body))
    if page is not None:
        rows.append(row("Text that it replaces", page_text(tx, page_id=page.id, revision=page.revision)))
    return tuple(rows)


def _save_card(tx: ReadTx, principal: Principal, wanted: SaveInput) -> tuple[CardRow, ...]:
    return page_rows(tx, principal, path=wanted.path, body=wanted.body, title=wanted.title)


def _move_card(tx: ReadTx, principal: Principal, wanted: MoveInput) -> tuple[CardRow, ...]:
    to = row("To", new_page_path(wanted.to), *why_sinks(tx, principal, wanted.to))
    return (*_whole(tx, principal, wanted.path), to)


def _delete_card(tx: ReadTx, principal: Principal, wanted: PathInput) -> tuple[CardRow, ...]:
    return _whole(tx, principal, wanted.path)


def _whole(tx: ReadTx, principal: Principal, path: str) -> tuple[CardRow, ...]:
    """The page as it is now, and what goes with it: if that changes before the yes, the person is asked again. Raises
    404.
    """
    page = seen(tx, principal, path)
    below = readable_below(tx, principal, page.path)
    return (
        row("Page, with all below it", page.path),
        row("Title", page.title),
        row("Pages below it", str(len(below))),
        *(row("Below it", one.path) for one in below[:MAX_BELOW]),
        *((row("Digest of the pages below it", _digest(below)),) if below else ()),
        row("Text", page_text(tx, page_id=page.id, revision=page.revision)),
    )


def _digest(pages: Sequence[Page]) -> str:
    """Another one if any of them is written, moved, deleted or made."""
    told = msgspec.json.encode([(one.id, one.path, one.revision) for one in pages])
    return hashlib.sha256(told).hexdigest()[:_DIGEST_HEX]


TOOLS: Final = (
    Tool(name="pages.tree", summary="List pages, or those below one.", input=TreeInput, level="read", decide=_tree),
    Tool(name="pages.read", summary="Read a page: its text as Markdown.", input=PathInput, level="read", decide=_read),
    Tool(name="pages.find", summary="Find pages by their words.", input=FindInput, level="read", perform=_find),
    Tool(
        name="pages.save",
        summary="Write a page: make it, or replace its text. Give the revision that you read.",
        input=SaveInput,
        level="full",
        decide=_save,
        sink=_save_sink,
        card=_save_card,
    ),
    Tool(
        name="pages.move",
        summary="Move a page, with all below it.",
        input=MoveInput,
        level="full",
        decide=_move,
        sink=_move_sink,
        card=_move_card,
    ),
    Tool(
        name="pages.delete",
        summary="Put a page into the trash, with all below it.",
        input=PathInput,
        level="full",
        decide=_delete,
        sink=_delete_sink,
        card=_delete_card,
    ),
)
