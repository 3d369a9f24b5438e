"""Following a repository: the first sync of many pages, a sync that changes one, and a look that finds nothing.

The limit is git alone: ``git clone --bare`` and reading every page (``ls-tree``, ``cat-file``), for one page ``git
fetch`` and ``git diff``, for nothing new ``git ls-remote``; from a repository on the same disk: no network hides
anything.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import trio

from benchmarks.broker import opened
from benchmarks.report import Table, median, milliseconds, paired_ratio
from svc.gitops import rows
from svc.gitops.following import Follower
from svc.gitops.forge import forge_of
from svc.gitops.git import Git, Mirror, Remote
from svc.gitops.model import GITOPS
from svc.pages import managed
from svc.store import Tx
from svc.workspace import Workspace

PAGES: Final = 10_000
QUICK_PAGES: Final = 1_000
ROUNDS: Final = 3
CHANGES: Final = 10
TEXT: Final = (
    "---\ntitle: Page {n}\ntags: [a, b]\n---\n\n" + "A line about tides and ropes, as long as lines are.\n" * 20
)


def run(quick: bool) -> Iterable[Table]:
    pages, rounds = (QUICK_PAGES, 1) if quick else (PAGES, ROUNDS)
    table = Table(title=f"Following a repository of {pages:,} pages", columns=("what", "svc, ms", "git, ms", "x git"))
    with tempfile.TemporaryDirectory() as directory:
        upstream = Path(directory) / "upstream.git"
        _make(upstream, pages)
        ours: dict[str, list[float]] = {}
        theirs: dict[str, list[float]] = {}
        for number in range(rounds):
            place = Path(directory) / str(number)
            place.mkdir()
            trio.run(_round, upstream, place, ours, theirs)
            shutil.rmtree(place)
    for name, times in ours.items():
        table.add(
            name, milliseconds(median(times)), milliseconds(median(theirs[name])), paired_ratio(times, theirs[name])
        )
    table.notes.append(f"{rounds} rounds, {CHANGES} changes and looks each; x git: medians of ratios")
    yield table


async def _round(upstream: Path, place: Path, ours: dict[str, list[float]], theirs: dict[str, list[float]]) -> None:
    copy = place / "git.git"
    first, one, none = "first sync", "one page changed", "nothing new"
    theirs.setdefault(first, []).append(_timed(lambda: _clone_and_read(upstream, copy)))
    async with opened(place / "home") as workspace:
        follower = await follower_of(workspace, upstream)
        began = time.perf_counter()
        await follower.look()
        ours.setdefault(first, []).append(time.perf_counter() - began)
        state = await workspace.store.read(rows.state)
        assert state is not None
        assert state.problem is None, state.problem
        for _ in range(CHANGES):
            commit_files(upstream, {"pages/folder-1/page-1.md": f"changed {time.perf_counter()}"})
            theirs.setdefault(one, []).append(_timed(lambda: _fetch_and_diff(upstream, copy)))
            began = time.perf_counter()
            await follower.look()
            ours.setdefault(one, []).append(time.perf_counter() - began)
            theirs.setdefault(none, []).append(
                _timed(lambda: git_here(copy, "ls-remote", upstream.as_uri(), "refs/heads/main"))
            )
            began = time.perf_counter()
            await follower.look()
            ours.setdefault(none, []).append(time.perf_counter() - began)


async def follower_of(workspace: Workspace, upstream: Path) -> Follower:
    async def no_token() -> str | None:
        return None

    def begin(tx: Tx) -> None:
        managed.set_manager(tx, GITOPS, editable=False)
        rows.follow(tx, source=str(upstream))

    await workspace.store.write(begin)
    remote = Remote(url=upstream.as_uri(), username="x", token=no_token)
    git = Git(directory=workspace.home.path / "repository.git", remote=remote, environ=os.environ)
    mirror = Mirror(git=git, branch="main", threads=workspace.threads)
    await mirror.init()
    return Follower(
        store=workspace.store,
        blobs=workspace.blobs,
        threads=workspace.threads,
        rng=workspace.rng,
        log=workspace.log,
        mirror=mirror,
        forge=forge_of(upstream.as_uri(), kind=None, branch="main", folder=""),
        folder="",
        poll_s=0,
    )


def _make(upstream: Path, pages: int) -> None:
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", str(upstream)], check=True)
    commit_files(upstream, {f"pages/folder-{n % 100}/page-{n}.md": TEXT.format(n=n) + str(n) for n in range(pages)})


def commit_files(upstream: Path, files: dict[str, str]) -> None:
    stream = b"commit refs/heads/main\ncommitter Mia <mia@example.org> 1790000000 +0000\ndata 1\nx\n"
    if git_here(upstream, "for-each-ref"):
        stream += b"from refs/heads/main^0\n"
    for name, text in files.items():
        stream += f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n".encode()
    git_here(upstream, "fast-import", "--quiet", "--force", input=stream)


def _clone_and_read(upstream: Path, copy: Path) -> None:
    subprocess.run(["git", "clone", "--quiet", "--bare", upstream.as_uri(), str(copy)], check=True)
    listed = git_here(copy, "ls-tree", "-rz", "main").split(b"\0")[:-1]
    ids = b"".join(line.split()[2] + b"\n" for line in listed)
    assert git_here(copy, "cat-file", "--batch", "--buffer", input=ids)


def _fetch_and_diff(upstream: Path, copy: Path) -> None:
    git_here(copy, "fetch", "--quiet", upstream.as_uri(), "+refs/heads/main:refs/heads/new")
    assert git_here(copy, "diff", "main", "new")
    git_here(copy, "update-ref", "refs/heads/main", "refs/heads/new")


def git_here(directory: Path, *args: str, input: bytes = b"") -> bytes:
    return subprocess.run(["git", "-C", str(directory), *args], input=input, capture_output=True, check=True).stdout


def _timed(work: object) -> float:
    assert callable(work)
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
