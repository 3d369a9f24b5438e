"""Reads the content of a commit: names by ``ls-tree``, files by ``cat-file``. Nothing is checked out to the disk.

Names are bytes, as in git: the caller handles names that are no UTF-8, or no name for a page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import trio

from svc.gitops.git.child import Git
from svc.gitops.git.faults import GitFault
from svc.nursery import autojump_held

MAX_FILES: Final = 50_000
_AT_MOST_BYTES: Final = 48 * 1024 * 1024
_LONG_BYTES: Final = 50_000
"""Output longer than this is parsed in a thread, because it would hold the event loop too long."""
BATCH_BYTES: Final = 8 * 1024 * 1024
"""Content that is in memory at a time, unless a single file is larger."""
BATCH_FILES: Final = 4_000
_HEADER_BYTES: Final = 200

FILE_MODES: Final = frozenset({"100644", "100755", "100664"})
SYMLINK_MODE: Final = "120000"


class TooMuch(GitFault):
    """More files than a workspace follows."""

    def __init__(self) -> None:
        super().__init__("too_large", f"The repository has more than {MAX_FILES} files where pages are looked for.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name of a tree; a file's entry has a ``size``. ``name`` is the whole path below the tree that was asked
    for."""

    mode: str
    kind: str
    id: str
    size: int
    name: bytes

    @property
    def is_file(self) -> bool:
        return self.kind == "blob" and self.mode in FILE_MODES


async def top_entries(git: Git, commit: str, *, folder: str) -> dict[bytes, Entry]:
    """The entries of one folder by name, without those of its subfolders; none if there is no such folder."""
    tree = commit
    for part in folder.split("/") if folder else ():
        entries = await _listed(git, tree)
        found = next((entry for entry in entries if entry.name == part.encode() and entry.kind == "tree"), None)
        if found is None:
            return {}
        tree = found.id
    return {entry.name: entry for entry in await _listed(git, tree)}


async def entries_of(git: Git, tree: str) -> list[Entry]:
    """All files below a tree, by the tree's id. Raises :class:`TooMuch`."""
    return await _listed(git, tree, "-r")


async def _listed(git: Git, tree: str, *options: str) -> list[Entry]:
    try:
        printed = await git.run("ls-tree", *options, "-z", "-l", "--full-tree", tree, at_most_bytes=_AT_MOST_BYTES)
    except GitFault as fault:
        raise TooMuch from fault if fault.kind == "too_large" else None
    if printed.count(b"\0") > MAX_FILES:
        raise TooMuch
    if len(printed) < _LONG_BYTES:
        return _entries(printed)
    with autojump_held():
        return await trio.to_thread.run_sync(_entries, printed)


def _entries(printed: bytes) -> list[Entry]:
    return [_entry(line) for line in printed.split(b"\0")[:-1]]


def _entry(line: bytes) -> Entry:
    """``<mode> <kind> <id> <size>\\t<name>``."""
    fields, _, name = line.partition(b"\t")
    mode, kind, object_id, size = fields.decode("ascii").split()
    return Entry(mode=mode, kind=kind, id=object_id, size=0 if size == "-" else int(size), name=name)


async def blob(git: Git, id: str, *, at_most_bytes: int) -> bytes:
    """The content of one file."""
    return await git.run("cat-file", "blob", id, at_most_bytes=at_most_bytes)


async def blobs(git: Git, entries: Iterable[Entry]) -> AsyncIterator[tuple[Entry, bytes]]:
    """The content of each entry, in order: one process reads many. The caller has checked the sizes."""
    for batch in _batches(entries):
        size = sum(entry.size for entry in batch)
        printed = await git.run(
            *("cat-file", "--batch", "--buffer"),
            input="".join(f"{entry.id}\n" for entry in batch).encode(),
            at_most_bytes=size + _HEADER_BYTES * len(batch),
        )
        for pair in _contents(batch, printed):
            yield pair


def _batches(entries: Iterable[Entry]) -> Iterable[Sequence[Entry]]:
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        if batch and (size + entry.size > BATCH_BYTES or len(batch) == BATCH_FILES):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += entry.size
    if batch:
        yield batch


def _contents(batch: Sequence[Entry], printed: bytes) -> Iterable[tuple[Entry, bytes]]:
    """``<id> <kind> <size>\\n<content>\\n`` each; ``<id> missing\\n`` for what a broken repository lacks."""
    place = 0
    for entry in batch:
        end = printed.find(b"\n", place)
        fields = printed[place:end].split()
        if end < 0 or len(fields) != 3 or fields[0] != entry.id.encode() or fields[1] != b"blob":
            raise GitFault("damaged", f"The copy of the repository here lacks the object {entry.id}.")
        start, size = end + 1, int(fields[2])
        yield entry, printed[start : start + size]
        place = start + size + 1
