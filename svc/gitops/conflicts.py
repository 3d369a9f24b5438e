"""Pages that were changed here and in the repository so that a merge is not possible: both texts, and a person's
choice.

Until then the page here keeps its text and may be edited on, the repository keeps its file, and every other page goes
on. A person who may write the page chooses: the text here (a commit of theirs replaces the file), the text in the
repository (the page gets it, and the text here becomes a revision), or a text of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from svc.clock import Millis
from svc.errors import Conflict, Forbidden, Invalid, NotFound
from svc.gitops import export_rows, links, naming
from svc.gitops.front_matter import Refused, front_matter
from svc.gitops.front_matter_edit import shown
from svc.gitops.model import GITOPS
from svc.gitops.naming import PAGES
from svc.pages import NO_PAGE, Page, alone, edits, page_path, readable_page, save_page
from svc.principal import Principal
from svc.store import ReadTx, Row, Tx

Keep = Literal["here", "there", "text"]
NO_CONFLICT: Final = "Nothing waits for a choice on that page."
MOVE_IT: Final = "There is another file where the page would be: move the page, or keep what is there."


@dataclass(frozen=True, kw_only=True)
class Side:
    """A text in the form in which a page shows it."""

    title: str
    body: str


@dataclass(frozen=True, kw_only=True)
class Contested:
    path: str
    file: str
    reason: str
    at: Millis


@dataclass(frozen=True, kw_only=True)
class Open(Contested):
    """``there`` is ``None`` if the file was deleted."""

    there: Side | None


def listed(tx: ReadTx) -> list[Contested]:
    """All conflicts, the oldest first. A page that was deleted here is named by its file."""
    rows = tx.all(
        """
        select coalesce(p.path, c.file), c.file, c.reason, c.at from gitops_conflicts c
            left join pages p on p.id = c.page_id order by c.at, c.file
        """
    )
    return [Contested(path=path, file=file, reason=reason, at=at) for path, file, reason, at in rows]


def found(tx: ReadTx, principal: Principal, *, path: str) -> tuple[Open, Page]:
    """The conflict of a page that the caller may read."""
    page = readable_page(tx, principal, page_path(path))
    if page is None:
        raise NotFound(NO_PAGE)
    file, reason, at, text, *_ = _row(tx, page)
    there = None if text is None else _side(tx, file, text)
    return Open(path=page.path, file=file, reason=reason, at=at, there=there), page


def resolve(tx: Tx, principal: Principal, *, path: str, keep: Keep, text: str | None = None) -> None:
    page = readable_page(tx, principal, page_path(path))
    if page is None:
        raise NotFound(NO_PAGE)
    if not page.can_write:
        raise Forbidden("The page is shared with you for reading.")
    if (text is not None) != (keep == "text"):
        raise Invalid("A text is given with keep: text, and only then.")
    file, _, _, _, there, is_clash, standing = _row(tx, page)
    if keep == "there":
        _keep_there(tx, page, file=file, there=there, is_clash=bool(is_clash), standing=standing)
        return
    if is_clash and (standing is not None or there is None):
        raise Conflict(MOVE_IT)
    if text is not None:
        save_page(tx, principal, path=page.path, title=None, body=text)
    export_rows.end_conflict(tx, page.id)
    edits.give_up(tx, GITOPS, page.id)
    is_new = there is None
    export_rows.stands_as(tx, page_id=page.id, path=page.path, file=None if is_new else file, blob=there, there=there)
    edits.note_whole(tx, principal, GITOPS, page.id, was_path=None if is_new else _page_of(file))


def _keep_there(tx: Tx, page: Page, *, file: str, there: str | None, is_clash: bool, standing: str | None) -> None:
    """Keep the repository's side: the next sync puts the file's text into the page, or the page into the trash."""
    export_rows.end_conflict(tx, page.id)
    edits.give_up(tx, GITOPS, page.id)
    stays = standing if is_clash and standing is not None else file
    if is_clash and standing is None and there is None:
        raise Conflict(MOVE_IT)
    home = _page_of(stays)
    if home != page.path:
        alone.move(tx, GITOPS, page, to=home)
    if stays == standing:
        tx.run("update gitops_files set digest = '' where file = :file", file=stays)
    else:
        export_rows.stands_as(tx, page_id=page.id, path=home, file=stays, blob=None, there=there)


def _row(tx: ReadTx, page: Page) -> Row:
    row = tx.one(
        """
        select c.file, c.reason, c.at, c.there_text, c.there_blob, c.is_clash, f.file
        from gitops_conflicts c left join gitops_files f on f.page_id = c.page_id where c.page_id = :id
        """,
        id=page.id,
    )
    if row is None:
        raise NotFound(NO_CONFLICT)
    return row


def _side(tx: ReadTx, file: str, text: str) -> Side:
    try:
        title = front_matter(text).title
    except Refused:
        title = None
    body = links.shown(shown(text), file=file, addresses=export_rows.links_now(tx).addresses)
    return Side(title=title or _page_of(file).rpartition("/")[2], body=body)


def _page_of(file: str) -> str:
    return naming.page_of(file.removeprefix(f"{PAGES}/"))
