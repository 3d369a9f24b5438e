"""The inputs and outputs of the ``pages.*`` procedures, and the conversion of records to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from svc.clock import rfc3339
from svc.pages import managed, queries
from svc.pages.access import is_own
from svc.pages.finding import MAX_FOUND, FoundPage
from svc.pages.model import MAX_GRANTS, Access, Grant, Kind, Level, Page, Revision
from svc.pages.trash import Trashed
from svc.principal import Principal
from svc.protocol.rows import Wire
from svc.store import ReadTx

Path = Annotated[str, msgspec.Meta(max_length=4_000)]  # `model.page_path` checks the exact rules
MAX_TYPED_CHARS: Final = 500
"""The words of a search for pages. Beyond: 400 `invalid`."""
RevisionNumber = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


# Inputs


class TreeInput(Wire, frozen=True):
    path: Path | None = None


class PathInput(Wire, frozen=True):
    path: Path


class SaveInput(Wire, frozen=True):
    """``revision`` is the one that the writer started from, 0 for none; without it the save overwrites."""

    path: Path
    body: str
    title: str | None = None
    revision: RevisionNumber | None = None


class FindInput(Wire, frozen=True):
    """``text``: the words typed so far; without any, the result is the latest pages."""

    text: Annotated[str, msgspec.Meta(max_length=MAX_TYPED_CHARS)] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_FOUND)] = 5


class MoveInput(Wire, frozen=True):
    path: Path
    to: Path


class EraseInput(Wire, frozen=True):
    id: Annotated[str, msgspec.Meta(max_length=100)]


class UndeleteInput(Wire, frozen=True):
    """``to``: another path than the one it was deleted from."""

    id: Annotated[str, msgspec.Meta(max_length=100)]
    to: Path | None = None


class RestoreInput(Wire, frozen=True):
    path: Path
    revision: RevisionNumber


class GrantInput(Wire, frozen=True):
    to: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    level: Level


class SetAccessInput(Wire, frozen=True):
    path: Path
    access: Access
    grants: Annotated[tuple[GrantInput, ...], msgspec.Meta(max_length=MAX_GRANTS)] = ()


# Outputs


class TreeEntryOut(Wire, frozen=True):
    id: str
    path: str
    title: str
    kind: Kind
    access: Access
    can_write: bool
    has_children: bool
    updated_at: str


class PersonOut(Wire, frozen=True):
    id: str
    name: str


class GrantOut(Wire, frozen=True):
    """``name`` is the user's; ``None`` for everyone."""

    to: str
    level: Level
    name: str | None


class BacklinkOut(Wire, frozen=True):
    path: str
    title: str


class ManagedOut(Wire, frozen=True):
    """The page is a file of a repository. ``commit`` is the last one in which both were the same. ``editable``: it may
    be changed here, too. ``in_conflict``: the two versions differ, and a person has to choose. ``author`` and ``at``:
    of the commit."""

    file: str
    commit: str
    url: str | None
    author: str | None
    at: str | None
    tags: tuple[str, ...]
    editable: bool
    in_conflict: bool


class PageOut(Wire, frozen=True):
    """``can_share``: the caller may share and delete the page. A page whose manager allows no edits can't be written
    here."""

    id: str
    path: str
    title: str
    kind: Kind
    body: str
    revision: int
    owner: PersonOut | None
    access: Access
    grants: tuple[GrantOut, ...]
    can_write: bool
    can_share: bool
    backlinks: tuple[BacklinkOut, ...]
    managed: ManagedOut | None
    updated_at: str


class FoundPageOut(Wire, frozen=True):
    """``snippet``: the passage with the words, or the text's beginning."""

    id: str
    path: str
    title: str
    snippet: str
    updated_at: str


class SavedOut(Wire, frozen=True):
    id: str
    revision: int


class TrashEntryOut(Wire, frozen=True):
    """``pages``: how many are restored with it, itself included. ``goes_at``: when it is deleted for good."""

    id: str
    path: str
    title: str
    pages: int
    deleted_at: str
    deleted_by: PersonOut | None
    goes_at: str


class PathOut(Wire, frozen=True):
    path: str


class RevisionOut(Wire, frozen=True):
    revision: int
    title: str
    author: PersonOut | None
    device_id: str
    at: str


# Records to the wire


def tree_entry(page: Page, has_children: bool) -> TreeEntryOut:
    return TreeEntryOut(
        id=page.id,
        path=page.path,
        title=page.title,
        kind=page.kind,
        access=page.access,
        can_write=page.can_write,
        has_children=has_children,
        updated_at=rfc3339(page.updated_at),
    )


def found_page(page: FoundPage) -> FoundPageOut:
    return FoundPageOut(
        id=page.id, path=page.path, title=page.title, snippet=page.snippet, updated_at=rfc3339(page.updated_at)
    )


def page_detail(tx: ReadTx, principal: Principal, page: Page) -> PageOut:
    grants = queries.grants(tx, page.id)
    people = {grant.to for grant in grants} | ({page.owner_id} if page.owner_id else set())
    names = queries.user_names(tx, people)
    file = _managed(tx, page.id)
    is_elsewhere = file is not None and not file.editable
    return PageOut(
        id=page.id,
        path=page.path,
        title=page.title,
        kind=page.kind,
        body=queries.body(tx, page_id=page.id, revision=page.revision),
        revision=page.revision,
        owner=_person(page.owner_id, names.get(page.owner_id or "")),
        access=page.access,
        grants=tuple(GrantOut(to=grant.to, level=grant.level, name=names.get(grant.to)) for grant in grants),
        can_write=page.can_write and not is_elsewhere,
        can_share=is_own(principal, page.owner_id) and not is_elsewhere,
        backlinks=tuple(
            BacklinkOut(path=path, title=title) for path, title in queries.backlinks(tx, principal, page.path)
        ),
        managed=file,
        updated_at=rfc3339(page.updated_at),
    )


def trash_entries(tx: ReadTx, entries: Sequence[tuple[Trashed, int]]) -> list[TrashEntryOut]:
    names = queries.user_names(tx, {page.deleted_by for page, _ in entries if page.deleted_by})
    return [
        TrashEntryOut(
            id=page.id,
            path=page.path,
            title=page.title,
            pages=below + 1,
            deleted_at=rfc3339(page.deleted_at),
            deleted_by=_person(page.deleted_by, names.get(page.deleted_by or "")),
            goes_at=rfc3339(page.goes_at),
        )
        for page, below in entries
    ]


def revision_entry(revision: Revision) -> RevisionOut:
    return RevisionOut(
        revision=revision.revision,
        title=revision.title,
        author=_person(revision.author_id, revision.author_name),
        device_id=revision.device_id,
        at=rfc3339(revision.at),
    )


def grants_of(wanted: SetAccessInput) -> list[Grant]:
    return [Grant(to=grant.to, level=grant.level) for grant in wanted.grants]


def _person(user_id: str | None, name: str | None) -> PersonOut | None:
    return None if user_id is None else PersonOut(id=user_id, name=name or "")


def _managed(tx: ReadTx, page_id: str) -> ManagedOut | None:
    file = managed.managed(tx, page_id)
    if file is None:
        return None
    return ManagedOut(
        file=file.file,
        commit=file.commit,
        url=file.url,
        author=file.author,
        at=None if file.at is None else rfc3339(file.at),
        tags=file.tags,
        editable=file.editable,
        in_conflict=file.in_conflict,
    )
