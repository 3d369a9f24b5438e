"""Plans a sync, from the state here and the newest tree. Pure: no git, no database, no clock.

It has two steps, because the texts are read between them: :func:`to_read` says which files to read, :func:`plan` what
they become. A plan is made from the rows of earlier syncs and exports, never from an older tree. So it does not matter
where the branch was before: a move by force is planned like any other.

A page keeps its id, and so its history and grants, when its file is renamed. A missing file and a new file are matched
by, in this order, the page's path, git's own rename detection, equal content, and the title.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar
from urllib.parse import quote

import msgspec

from svc.errors import Refusal
from svc.gitops.model import (
    MAX_FILES_BYTES,
    Broken,
    FilePut,
    Found,
    Known,
    PagePut,
    Plan,
    Written,
)
from svc.gitops.naming import INDEX, key_of
from svc.ids import derived_id
from svc.pages import page_title

LOOK_AGAIN: Final = ""
"""A digest: the file must be looked at again, since its problem may be gone."""
NEVER_READ: Final = "-"
"""A digest: nothing of this file is here yet, and it can't be read in its present form."""
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Tree:
    """The newest tree, with the addresses of its files here, by file."""

    found: Mapping[str, Found]
    addresses: Mapping[str, str]
    moved: bool
    """A file has another address than before, or is new or gone: links to it change."""


def tree_of(found: Iterable[Found], known: Mapping[str, Known]) -> Tree:
    """The tree, with a problem for each clash between its own files: of two for one page, the present file of the page
    wins."""
    judged = _within_bounds(_without_clashes(_by_name(found), known))
    addresses = {
        file: address for file, one in judged.items() if (address := _address(one, known.get(file))) is not None
    }
    before = {file: address for file, one in known.items() if (address := _known_address(one)) is not None}
    return Tree(found=judged, addresses=addresses, moved=addresses != before)


def to_read(tree: Tree, known: Mapping[str, Known], *, everything: bool = False) -> list[Found]:
    """The files whose text is needed for the plan."""
    wanted = []
    for file, one in tree.found.items():
        if one.kind != "page" or one.problem is not None:
            continue
        row = known.get(file)
        is_known = row is not None and row.digest != LOOK_AGAIN and row.seen_blob == one.blob
        is_as_there = row is not None and (row.blob == one.blob or row.problem is not None)
        if everything or tree.moved or not (is_known and is_as_there):
            wanted.append(one)
    return wanted


def plan(
    tree: Tree,
    known: Mapping[str, Known],
    texts: Mapping[str, Written | Broken],
    *,
    similar: Mapping[str, str] | None = None,
) -> Plan:
    """``texts``: of the files that :func:`to_read` named, with their links translated. ``similar``: old name to new
    name of the files that git takes for renamed."""
    renamed = _renames(tree.found, known, texts, similar or {})
    left = set(renamed.values())
    broken = {file: Broken(reason=one.problem) for file, one in tree.found.items() if one.problem is not None}
    pages: list[PagePut] = []
    read: set[str] = set()
    for file, text in texts.items():
        one = tree.found[file]
        row = known.get(renamed.get(file, file))
        put = text if isinstance(text, Broken) else _page_put(one, text, row)
        if isinstance(put, Broken):
            broken[file] = put
            continue
        read.add(file)
        if row is None or row.page_id is None or row.digest != put.digest:
            pages.append(put)
    return Plan(
        found=tree.found,
        renamed=renamed,
        pages=tuple(pages),
        read=frozenset(read),
        files=_file_puts(tree.found, known),
        broken=broken,
        gone=tuple(row for file, row in known.items() if file not in tree.found and file not in left),
    )


def file_id_of(file: str) -> str:
    """The id here of a file besides pages: always the same for the same file, even if it is deleted and comes back."""
    return derived_id("fil", "gitops", file)


def file_address(file_id: str) -> str:
    return f"/files/{file_id}/content"


def page_address(path: str) -> str:
    return f"/p/{quote(path, safe='/-._~')}"


# One tree by itself


def _by_name(found: Iterable[Found]) -> dict[str, Found]:
    """Names that are shortened for display may be equal: then only the first one is kept."""
    named: dict[str, Found] = {}
    for one in sorted(found, key=lambda one: one.file):
        named.setdefault(one.file, one)
    return named


def _without_clashes(found: Mapping[str, Found], known: Mapping[str, Known]) -> dict[str, Found]:
    rivals: dict[str, list[Found]] = {}
    for one in found.values():
        if one.path is not None:
            rivals.setdefault(key_of(one.path), []).append(one)
    judged = dict(found)
    for group in rivals.values():
        if len(group) > 1:
            first, *others = sorted(group, key=lambda one: _precedence(one, known))
            for one in others:
                judged[one.file] = replace(one, problem=f"it would be the same page as {first.file}")
    return judged


def _precedence(one: Found, known: Mapping[str, Known]) -> tuple[bool, bool, str]:
    """The file that already is the page comes first, then ``a.md`` before ``a/index.md``."""
    row = known.get(one.file)
    is_it = row is not None and row.page_id is not None and row.path == one.path
    return not is_it, one.file.endswith(f"/{INDEX}.md"), one.file


def _within_bounds(found: Mapping[str, Found]) -> dict[str, Found]:
    judged, total = dict(found), 0
    for one in found.values():
        if one.kind == "file" and one.problem is None:
            total += one.size
            if total > MAX_FILES_BYTES:
                judged[one.file] = replace(
                    one, problem=f"files beside pages have at most {MAX_FILES_BYTES} bytes together"
                )
    return judged


def _address(one: Found, row: Known | None) -> str | None:
    if one.problem is not None:
        return None if row is None else _known_address(row)  # the previous state stays
    if one.kind == "page":
        assert one.path is not None, "a page's name gives its path"
        return page_address(one.path)
    return file_address(file_id_of(one.file)) if one.kind == "file" else None


def _known_address(row: Known) -> str | None:
    if row.file_id is not None:
        return file_address(row.file_id)
    return page_address(row.path) if row.path is not None else None


# What the files become


def _page_put(one: Found, text: Written, row: Known | None) -> PagePut | Broken:
    assert one.path is not None, "a page's name gives its path"
    try:
        page_title(text.front.title, path=one.path)
    except Refusal as refusal:
        return Broken(reason=refusal.detail, line=1)
    access = text.front.access or "inherited"
    said = [one.path, text.front.title, text.body, access, text.front.grants, text.front.tags]
    return PagePut(
        file=one.file,
        page_id=None if row is None else row.page_id,
        path=one.path,
        title=text.front.title,
        body=text.body,
        access=access,
        grants=text.front.grants,
        tags=text.front.tags,
        grants_line=text.front.grants_line,
        blob=one.blob,
        digest=_digest_of(said),
    )


def _digest_of(said: Sequence[object]) -> str:
    """Changes with every part of a file that the page shows or applies."""
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()


def _file_puts(found: Mapping[str, Found], known: Mapping[str, Known]) -> tuple[FilePut, ...]:
    puts = []
    for file, one in found.items():
        row = known.get(file)
        if one.kind == "file" and one.problem is None and (row is None or row.file_id is None or row.blob != one.blob):
            is_known = row is not None and row.file_id is not None
            puts.append(FilePut(file=file, file_id=file_id_of(file), blob=one.blob, size=one.size, known=is_known))
    return tuple(puts)


# Renames


def _renames(
    found: Mapping[str, Found],
    known: Mapping[str, Known],
    texts: Mapping[str, Written | Broken],
    similar: Mapping[str, str],
) -> dict[str, str]:
    """New name to old name. Each old and each new one is in at most one pair."""
    old = {file: row for file, row in known.items() if row.page_id is not None and file not in found}
    new = {
        file: one
        for file, one in found.items()
        if one.kind == "page" and one.path is not None and (file not in known or known[file].page_id is None)
    }
    pairs: dict[str, str] = {}

    def take(matched: Iterable[tuple[str, str]]) -> None:
        for before, after in matched:
            if before in old and after in new:
                pairs[after] = before
                del old[before], new[after]

    take(_matched(old, new, of_old=lambda row: row.path, of_new=lambda one: one.path))
    take((before, after) for before, after in similar.items() if before in old and after in new)
    take(
        _matched(
            old, new, of_old=lambda row: (row.blob, _last(row.file)), of_new=lambda one: (one.blob, _last(one.file))
        )
    )
    take(_matched(old, new, of_old=lambda row: row.blob, of_new=lambda one: one.blob, ambiguous=True))
    take(_matched(old, new, of_old=lambda row: row.title, of_new=lambda one: _title(one, texts.get(one.file))))
    return pairs


def _matched(
    old: Mapping[str, Known],
    new: Mapping[str, Found],
    *,
    of_old: Callable[[Known], T | None],
    of_new: Callable[[Found], T | None],
    ambiguous: bool = False,
) -> list[tuple[str, str]]:
    """Pairs of files with equal keys. Keys that several old or new files have are left out, unless ``ambiguous``: then
    these files are paired in their order."""
    there: dict[T, list[str]] = {}
    for file in sorted(new):
        if (key := of_new(new[file])) is not None:
            there.setdefault(key, []).append(file)
    here: dict[T, list[str]] = {}
    for file in sorted(old):
        if (known_key := of_old(old[file])) is not None:
            here.setdefault(known_key, []).append(file)
    return [
        pair
        for key, files in here.items()
        if ambiguous or (len(files) == 1 and len(there.get(key, ())) == 1)
        for pair in zip(files, there.get(key, ()), strict=False)
    ]


def _last(file: str) -> str:
    return file.rpartition("/")[2]


def _title(one: Found, text: Written | Broken | None) -> str | None:
    if not isinstance(text, Written) or one.path is None:
        return None
    return text.front.title or _last(one.path)
