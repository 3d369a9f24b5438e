"""Merges two texts by lines, from their common base: git's own merge, in LF, on three small files.

The caller brings texts in LF, because for git a changed line end is a changed line. If both changed the same lines, or
adjacent lines, the result is a conflict, and no merged text is kept.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from pathlib import Path
from typing import Final

from svc.gitops.git.child import Git
from svc.nursery import ThreadPool

MERGE_WITHIN_S: Final = 30.0
_MOST_CONFLICTS: Final = 127  # git reports no higher number; a status from 128 on is an error


async def merge(git: Git, threads: ThreadPool, *, base: str, ours: str, theirs: str) -> str | None:
    """The text with both changes; ``None`` if they conflict."""
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    label = secrets.token_hex(8)  # a page may be about git, and contain conflict markers of its own
    folder = await threads.run(_lay_out, git.directory, {"ours": ours, "base": base, "theirs": theirs})
    try:
        merged = await git.run(
            *("merge-file", "-p", "--quiet", *("-L", label) * 3),
            *(str(folder / name) for name in ("ours", "base", "theirs")),
            within_s=MERGE_WITHIN_S,
            statuses=range(_MOST_CONFLICTS + 1),
        )
    finally:
        await threads.run(shutil.rmtree, folder, True)
    text = merged.decode()
    return None if label in text else text


def _lay_out(directory: Path, texts: dict[str, str]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tmp_merge_", dir=directory))
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    return folder
