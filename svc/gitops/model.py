"""The records of gitops. All are frozen, and none knows git, SQL or the wire format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from svc.clock import Millis
from svc.principal import system

GITOPS: Final = system("gitops")
"""The manager of the pages that come from the repository."""
NAME: Final = "gitops"
TOPIC: Final = "gitops"
TOKEN: Final = "gitops.git.token"  # noqa: S105  the name of a capability
READING: Final = 1
"""Increased when the same file would be read as another page: then all files are read again."""

MAX_PAGE_BYTES: Final = 1024 * 1024
MAX_FILE_BYTES: Final = 25 * 1024 * 1024
MAX_FILES_BYTES: Final = 2 * 1024 * 1024 * 1024
"""All files besides pages, together."""
MAX_PROBLEMS: Final = 500
"""Problems that are kept and shown; of the others, only the number is shown."""

Kind = Literal["page", "file", "other"]
Level = Literal["read", "write"]
Access = Literal["inherited", "explicit"]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Why a file could not be synced. ``line`` counts from 1."""

    file: str
    reason: str
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class FrontMatter:
    """The settings of a page in its file. ``grants``: (address or everyone, level)."""

    title: str | None = None
    access: Access | None = None
    grants: tuple[tuple[str, Level], ...] = ()
    tags: tuple[str, ...] = ()
    grants_line: int | None = None


@dataclass(frozen=True, kw_only=True)
class Found:
    """A file of the newest tree, judged by its name and size alone: what it shall become here. ``problem``: why it
    can't."""

    file: str
    kind: Kind
    blob: str
    size: int
    path: str | None = None
    problem: str | None = None


@dataclass(frozen=True, kw_only=True)
class Known:
    """The state of a file after the last sync (or export). ``path``: of the page that it is, or would be if it could be
    read."""

    file: str
    kind: Kind
    page_id: str | None
    file_id: str | None
    path: str | None
    blob: str | None
    seen_blob: str
    digest: str
    title: str | None = None
    """The current title of the page."""
    problem: str | None = None
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class Written:
    """A page's file that was read."""

    front: FrontMatter
    body: str


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A page's file that can't be read: the reason, and the line."""

    reason: str
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class PagePut:
    """The wanted state of a page. ``page_id``: the page that the file already has here."""

    file: str
    page_id: str | None
    path: str
    title: str | None
    body: str
    access: Access
    grants: tuple[tuple[str, Level], ...]
    tags: tuple[str, ...]
    grants_line: int | None
    blob: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class FilePut:
    """A file besides pages, with new content. ``known``: it already exists here."""

    file: str
    file_id: str
    blob: str
    size: int
    known: bool


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a sync does.

    ``found``: each file of the newest tree that is or should be something here. ``renamed``: old name by new name, of
    pages that stay the same pages. ``pages``: pages that change. ``read``: files whose text was read and which are up
    to date here after this sync. ``broken``: why a file can't be synced; its previous state stays. ``gone``: files that
    are no longer in the repository.
    """

    found: Mapping[str, Found]
    renamed: Mapping[str, str]
    pages: tuple[PagePut, ...]
    read: frozenset[str]
    files: tuple[FilePut, ...]
    broken: Mapping[str, Broken]
    gone: tuple[Known, ...]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The commit that changed a file last."""

    commit: str
    author: str
    address: str
    at: Millis
