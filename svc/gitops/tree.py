"""Reads a commit: the files in the folder for pages, their contents, and who changed them last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from svc.clock import SECOND_MS
from svc.gitops import front_matter_edit, line_ends, links
from svc.gitops.front_matter import Refused, front_matter
from svc.gitops.git import Entry, Git, GitFault, blob, blobs, entries_of, top_entries
from svc.gitops.model import MAX_FILE_BYTES, Broken, Found, Origin, Written
from svc.gitops.naming import PAGES, PLUGINS, found
from svc.nursery import ThreadPool

MAX_PLUGINS_BYTES: Final = 256 * 1024
PARSED_AT_ONCE: Final = 500
LOG_WITHIN_S: Final = 60.0
LOG_COMMITS: Final = 20_000
_RENAMES_AT_MOST: Final = 1_000
_LINKED: Final = "git-lfs.github.com/spec/v1"
_FIELDS: Final = "%x01%H%x02%an%x02%ae%x02%ct%x02"


@dataclass(frozen=True, kw_only=True)
class Listing:
    """``has_pages``: whether the folder for pages exists."""

    found: tuple[Found, ...]
    plugins: Entry | None
    has_pages: bool


async def listing_of(git: Git, commit: str, *, folder: str, threads: ThreadPool) -> Listing:
    """List the files of a commit. Raises :class:`GitFault`."""
    top = await top_entries(git, commit, folder=folder)
    pages, plugins = top.get(PAGES.encode()), top.get(PLUGINS.encode())
    has_pages = pages is not None and pages.kind == "tree"
    entries = await entries_of(git, pages.id) if pages is not None and has_pages else []
    judged = await threads.run(_judged, entries)
    is_plain = plugins is not None and plugins.is_file and plugins.size <= MAX_PLUGINS_BYTES
    return Listing(found=judged, plugins=plugins if is_plain else None, has_pages=has_pages)


def _judged(entries: Sequence[Entry]) -> tuple[Found, ...]:
    return tuple(one for entry in entries if (one := found(entry)) is not None)


async def texts_of(
    git: Git, wanted: Sequence[Found], *, addresses: Mapping[str, str], threads: ThreadPool
) -> dict[str, Written | Broken]:
    """The texts of these pages' files, with links translated to addresses here."""
    texts: dict[str, Written | Broken] = {}
    waiting: list[tuple[str, bytes]] = []

    async def parse() -> None:
        texts.update(await threads.run(_parsed, list(waiting), addresses))
        waiting.clear()

    entries = [Entry(mode="100644", kind="blob", id=one.blob, size=one.size, name=one.file.encode()) for one in wanted]
    async for entry, content in blobs(git, entries):
        waiting.append((entry.name.decode(), content))
        if len(waiting) == PARSED_AT_ONCE:
            await parse()
    await parse()
    return texts


def _parsed(files: Sequence[tuple[str, bytes]], addresses: Mapping[str, str]) -> dict[str, Written | Broken]:
    return {file: read_page(content, file=file, addresses=addresses) for file, content in files}


def read_page(content: bytes, *, file: str, addresses: Mapping[str, str]) -> Written | Broken:
    """A page's file, or why it can't be read."""
    try:
        text = line_ends.in_lf(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        return Broken(reason="it is not UTF-8 text", line=content.count(b"\n", 0, error.start) + 1)
    if "\0" in text:
        return Broken(reason="it holds a NUL character", line=text.count("\n", 0, text.index("\0")) + 1)
    try:
        front = front_matter(text)
    except Refused as fault:
        return fault.broken
    body = links.shown(front_matter_edit.shown(text), file=file, addresses=addresses)
    return Written(front=front, body=body)


async def content_of(git: Git, one: Found) -> bytes | Broken:
    """The content of a file besides pages."""
    content = await blob(git, one.blob, at_most_bytes=MAX_FILE_BYTES)
    if len(content) < 1_024 and _LINKED.encode() in content[:100]:
        return Broken(reason="it lies in Git LFS, which is not followed")
    return content


async def plugins_text(git: Git, entry: Entry | None) -> str | None:
    if entry is None:
        return None
    return (await blob(git, entry.id, at_most_bytes=MAX_PLUGINS_BYTES)).decode("utf-8", "replace")


# Changes between commits


async def renames_between(git: Git, old: str, new: str, *, folder: str) -> dict[str, str]:
    """Old name to new name of the files that git takes for renamed; empty if it can't tell."""
    try:
        printed = await git.run(
            *("diff-tree", "-r", "-z", "-M50%", f"-l{_RENAMES_AT_MOST}", "--diff-filter=R", "--name-status"),
            *(old, new, "--", _pages_folder(folder)),
        )
    except GitFault:
        return {}
    parts = printed.decode("utf-8", "surrogateescape").split("\0")
    below = f"{folder}/" if folder else ""
    pairs = zip(parts[1::3], parts[2::3], strict=False)
    return {old.removeprefix(below): new.removeprefix(below) for old, new in pairs}


async def origins_of(
    git: Git, files: Iterable[str], *, since: str | None, until: str, folder: str
) -> tuple[dict[str, Origin], Origin]:
    """The commit that changed each of the files last, as far as it is found in a bounded history; and the newest
    commit."""
    head = next(iter(_commits(await git.run("log", "-1", f"--format={_FIELDS}", until, "--"))))[0]
    wanted = set(files)
    if not wanted:
        return {}, head
    span = until if since is None else f"{since}..{until}"
    try:
        printed = await git.run(
            *("log", "-z", "--no-renames", "--name-only", f"--max-count={LOG_COMMITS}", f"--format={_FIELDS}"),
            *(span, "--", _pages_folder(folder)),
            within_s=LOG_WITHIN_S,
        )
    except GitFault as fault:
        if fault.kind not in {"too_slow", "too_large", "failed", "damaged"}:
            raise
        return {}, head
    below = f"{folder}/" if folder else ""
    origins: dict[str, Origin] = {}
    for origin, names in _commits(printed):
        for name in names:
            file = name.removeprefix(below)
            if file in wanted:
                origins.setdefault(file, origin)
    return origins, head


def _commits(printed: bytes) -> Iterable[tuple[Origin, Sequence[str]]]:
    """Newest first, each with the names that it changed."""
    for record in printed.decode("utf-8", "replace").split("\x01")[1:]:
        commit, author, address, at, names = record.split("\x02", 4)
        seconds = int(at) if at.isdigit() and len(at) < 12 else 0
        origin = Origin(commit=commit, author=_plain(author), address=_plain(address), at=seconds * SECOND_MS)
        yield origin, [name for name in names.lstrip("\0\n").split("\0") if name]


def _plain(text: str) -> str:
    """A printable form of a commit's names, which are a stranger's text."""
    return "".join(sign for sign in text if sign.isprintable())[:200]


def _pages_folder(folder: str) -> str:
    return f"{folder}/{PAGES}" if folder else PAGES
