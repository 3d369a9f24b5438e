"""Writes a page as a file: the text after an edit, based on the page's old file, and the file name of a page. Pure.

Only the part that the edit changed is written anew: a title or a sharing that the file already states keeps its
spelling, and an unchanged text keeps every byte.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from svc.errors import Invalid
from svc.gitops import links, naming
from svc.gitops.front_matter import Refused, front_matter
from svc.gitops.front_matter_edit import quoted, shown, with_body, with_key, with_value
from svc.gitops.model import FrontMatter
from svc.gitops.naming import ENDING, INDEX, PAGES
from svc.pages import EditedPage

MAX_NAME_BYTES: Final = 255
"""Limit for one part of a file's name, on the disks of people who check out the repository."""
_GIT_OWN: Final = frozenset({"git~1"})


@dataclass(frozen=True, kw_only=True)
class Links:
    """The targets of links: addresses here by file, and files by address."""

    addresses: Mapping[str, str]
    files: Mapping[str, str]


def rendered(page: EditedPage, *, base: str | None, was_file: str | None, file: str, links_of: Links) -> str:
    """The file's text (in LF) after the edit. ``base``: the text of ``was_file`` that the edit was made on."""
    assert page.path is not None, "a deleted page is no file"
    text = with_body(base or "", _body(page, base=base, was_file=was_file, file=file, links_of=links_of))
    title = page.title
    if title is None and page.was_path is not None and not _said(text).title:
        title = _last(page.was_path)  # the file's name was the title, and the page has kept that title
    if title is not None and (_said(text).title or _last(page.path)) != title:
        text = with_value(text, "title", title)
    return text if page.access is None else _shared(text, page)


def file_of(path: str, *, was: str | None) -> str:
    """The file of the page at ``path``: an ``index.md`` stays one. Raises `Invalid`, with the reason."""
    name = f"{path}/{INDEX}" if was is not None and was.endswith(f"/{INDEX}{ENDING}") else path
    file = f"{PAGES}/{name}{ENDING}"
    parts = file.split("/")
    if any(part.startswith(".") or part.lower() in _GIT_OWN for part in parts):
        raise Invalid("The name of a file there can't begin with a dot.")
    if any(len(part.encode()) > MAX_NAME_BYTES for part in parts):
        raise Invalid(f"Each part of a file's name there has at most {MAX_NAME_BYTES} bytes.")
    if naming.page_of(file.removeprefix(f"{PAGES}/")) != path:
        raise Invalid(f"A file called {INDEX}{ENDING} stands for the page above it.")
    return file


def _body(page: EditedPage, *, base: str | None, was_file: str | None, file: str, links_of: Links) -> str:
    has_moved = was_file is not None and posixpath.dirname(was_file) != posixpath.dirname(file)
    before = shown(base) if base is not None else ""
    if page.body is not None:
        return links.written(page.body, file=file, files=links_of.files, before="" if has_moved else before)
    if not has_moved:
        return before
    assert was_file is not None, "it has moved"
    return links.written(
        links.shown(before, file=was_file, addresses=links_of.addresses), file=file, files=links_of.files
    )


def _shared(text: str, page: EditedPage) -> str:
    said = _said(text)
    wanted = tuple(sorted(page.grants or ()))
    if (said.access or "inherited") == page.access and tuple(sorted(said.grants)) == wanted:
        return text
    if said.access != page.access and (page.access == "explicit" or said.access is not None):
        text = with_value(text, "access", str(page.access))
    grants = ["grants:\n", *(f"  - to: {quoted(to)}\n    level: {level}\n" for to, level in wanted)]
    lines = [line for part in grants for line in part.splitlines(keepends=True)]
    return with_key(text, "grants", lines if wanted else None)


def _said(text: str) -> FrontMatter:
    try:
        return front_matter(text)
    except Refused:  # a person's own text; the sync reports what is wrong with it
        return FrontMatter()


def _last(path: str) -> str:
    return path.rpartition("/")[2]
