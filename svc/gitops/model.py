"""The records of gitops. All frozen; none knows git, SQL or the wire."""

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
"""Grows when the same file would be read as another page: then all are read again."""

MAX_PAGE_BYTES: Final = 1024 * 1024
MAX_FILE_BYTES: Final = 25 * 1024 * 1024
MAX_FILES_BYTES: Final = 2 * 1024 * 1024 * 1024
"""All files beside pages together."""
MAX_PROBLEMS: Final = 500
"""That are kept and shown; how many there are beyond is told."""

Kind = Literal["page", "file", "other"]
Level = Literal["read", "write"]
Access = Literal["inherited", "explicit"]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Why a file is not here as it is there. ``line`` counts from 1."""

    file: str
    reason: str
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class FrontMatter:
    """What a page's file says about it. ``grants``: (address or everyone, level)."""

    title: str | None = None
    access: Access | None = None
    grants: tuple[tuple[str, Level], ...] = ()
    tags: tuple[str, ...] = ()
    grants_line: int | None = None


@dataclass(frozen=True, kw_only=True)
class Found:
    """A name in the newest tree, judged by itself: what it is to become here. ``problem``: why it can't be."""

    file: str
    kind: Kind
    blob: str
    size: int
    path: str | None = None
    problem: str | None = None


@dataclass(frozen=True, kw_only=True)
class Known:
    """A file as it was left by the last sync (or export). ``path``: of the page that it is, or would be if it could be
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
    """The page's, as it is now."""
    problem: str | None = None
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class Written:
    """A page's file, read."""

    front: FrontMatter
    body: str


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A page's file that can't be read: what is wrong, and where."""

    reason: str
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class PagePut:
    """A page as it is to be. ``page_id``: of the one that the file is here already."""

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
    """A file beside pages, with new content. ``known``: it is here already."""

    file: str
    file_id: str
    blob: str
    size: int
    known: bool


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a sync does.

    ``found``: each file of the newest tree that is something here or should be. ``renamed``: new name to old one, of
    pages that stay the same pages. ``pages``: those that are to be other than they were. ``read``: pages whose text was
    read and is what is here after this. ``broken``: why a file is not here as it is there; what it was stays.
    ``gone``: files that are in the repository no more.
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
