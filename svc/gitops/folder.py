"""Checks a folder on the disk as if it were a commit: what is wrong with it, by the rules of a sync. Writes nothing."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from svc import plugins
from svc.gitops.git import Entry
from svc.gitops.git.reading import MAX_FILES
from svc.gitops.model import Broken, Found, Problem, Written
from svc.gitops.naming import PAGES, PLUGINS, found
from svc.gitops.planning import plan, to_read, tree_of
from svc.gitops.tree import MAX_PLUGINS_BYTES, read_page

_SYMLINK: Final = "120000"


def problems_in(folder: Path) -> tuple[int, list[Problem]]:
    """The number of pages, and each problem. It can't check whether a grant names a user: only a service knows that."""
    root = folder / PAGES
    if not root.is_dir():
        return 0, [Problem(file=PAGES, reason="there is no such folder")]
    entries = list(_entries(root))
    if len(entries) > MAX_FILES:
        return 0, [Problem(file=PAGES, reason=f"it holds more than {MAX_FILES} files")]
    tree = tree_of([one for entry in entries if (one := found(entry)) is not None], {})
    texts = {one.file: _read(folder, one, tree.addresses) for one in to_read(tree, {})}
    planned = plan(tree, {}, texts)
    problems = [
        Problem(file=file, reason=broken.reason, line=broken.line) for file, broken in sorted(planned.broken.items())
    ]
    return len(planned.pages), [*problems, *_of_plugins(folder / PLUGINS)]


def _entries(root: Path) -> Iterator[Entry]:
    """The files as git would list them: no link is followed out of the folder."""
    for place, _, names in os.walk(root, followlinks=False):
        links = [name for name in os.listdir(place) if os.path.islink(os.path.join(place, name))]
        for name in sorted({*names, *links}):
            path = os.path.join(place, name)
            about = os.lstat(path)
            mode = _SYMLINK if stat.S_ISLNK(about.st_mode) else "100644" if stat.S_ISREG(about.st_mode) else "000000"
            relative = os.fsencode(os.path.relpath(path, root))
            identity = hashlib.sha256(relative).hexdigest()
            yield Entry(mode=mode, kind="blob", id=identity, size=about.st_size, name=relative)


def _read(folder: Path, one: Found, addresses: Mapping[str, str]) -> Written | Broken:
    try:
        return read_page((folder / one.file).read_bytes(), file=one.file, addresses=addresses)
    except OSError as error:
        return Broken(reason=f"it can't be read: {error.strerror}")


def _of_plugins(path: Path) -> list[Problem]:
    if not path.is_file():
        return []
    with path.open("rb") as file:
        text = file.read(MAX_PLUGINS_BYTES + 1).decode("utf-8", "replace")
    reason = plugins.problem_of(text)
    return [] if reason is None else [Problem(file=PLUGINS, reason=reason)]
