"""Writing back: many edits of pages become commits in the repository.

The limit is git alone: the same texts, each written into a work tree and committed by ``git commit``, and one ``git
push`` of all; to a repository on the same disk. Ours merges each edit with what is there, knows it again by its name,
and brings the rows of the pages up to date.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import trio

from benchmarks.broker import opened
from benchmarks.gitops import TEXT, commit_files, follower_of, git_here
from benchmarks.report import Table, median, milliseconds, paired_ratio
from svc.gitops.exporting import Exporter
from svc.gitops.git.commits import Person
from svc.gitops.model import GITOPS
from svc.pages import managed, save_page
from svc.principal import AUTH_OFF
from svc.store import Tx

EDITS: Final = 1_000
QUICK_EDITS: Final = 100
PAGES: Final = 200
ROUNDS: Final = 1
WORDS: Final = TEXT.partition("---\n\n")[2]


def run(quick: bool) -> Iterable[Table]:
    edits, rounds = QUICK_EDITS if quick else EDITS, ROUNDS
    table = Table(title=f"Writing back {edits:,} edits", columns=("what", "svc, ms", "git, ms", "x git"))
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as directory:
            place = Path(directory)
            upstream = place / "upstream.git"
            git_here(place, "init", "--quiet", "--bare", "--initial-branch=main", str(upstream))
            commit_files(upstream, {_file(n): TEXT.format(n=n) for n in range(PAGES)})
            theirs.append(_by_hand(upstream, place / "work", edits))
            ours.append(trio.run(_exported, upstream, place / "home", edits))
    table.add(
        f"{edits:,} edits of {PAGES} pages",
        milliseconds(median(ours)),
        milliseconds(median(theirs)),
        paired_ratio(ours, theirs),
    )
    table.notes.append(f"{rounds} rounds; x git: medians of ratios; git: add, commit, and one push")
    yield table


async def _exported(upstream: Path, home: Path, edits: int) -> float:
    async with opened(home) as workspace:
        follower = await follower_of(workspace, upstream)
        await workspace.store.write(managed.set_manager, GITOPS, editable=True)
        await follower.look()
        for number in range(edits):
            await workspace.store.write(_edit, number)
        follower.exporter = Exporter(
            mirror=follower.mirror, store=workspace.store, folder="", committer=Person(name="svc", address="svc@here")
        )
        before = _commits(upstream)
        began = time.perf_counter()
        await follower.look()
        took = time.perf_counter() - began
        assert _commits(upstream) - before == edits
        return took


def _edit(tx: Tx, number: int) -> None:
    page = number % PAGES
    save_page(tx, AUTH_OFF, path=_path(page), title=None, body=f"Edit {number}\n\n{WORDS}")


def _by_hand(upstream: Path, work: Path, edits: int) -> float:
    subprocess.run(["git", "clone", "--quiet", upstream.as_uri(), str(work)], check=True)
    began = time.perf_counter()
    for number in range(edits):
        file = _file(number % PAGES)
        (work / file).write_text(f"By hand {number}\n\n{TEXT}")
        git_here(work, "add", "--", file)
        git_here(work, "-c", "user.name=Mia", "-c", "user.email=mia@example.org", "commit", "-qm", f"Change {number}")
    git_here(work, "push", "--quiet", "origin", "HEAD:by-hand")
    return time.perf_counter() - began


def _commits(upstream: Path) -> int:
    return int(git_here(upstream, "rev-list", "--count", "main"))


def _path(page: int) -> str:
    return f"folder-{page % 20}/page-{page}"


def _file(page: int) -> str:
    return f"pages/{_path(page)}.md"
