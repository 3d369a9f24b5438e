"""The bare copy of the followed repository, in the home: asks where the branch is at the remote, and fetches it.

Owns the folder and the ref :data:`UPSTREAM`. It is only a copy: a damaged one is made again.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from svc.gitops.git.child import Git
from svc.gitops.git.faults import GitFault
from svc.nursery import ThreadPool

UPSTREAM: Final = "refs/svc/upstream"
"""The remote's branch, as fetched last."""
NULL_ID: Final = "0" * 40

LS_REMOTE_WITHIN_S: Final = 60.0
LS_REMOTE_AT_MOST_BYTES: Final = 64 * 1024
TIDY_WITHIN_S: Final = 600.0
_TIDY_FROM_OBJECTS: Final = 4_000
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LEFTOVERS: Final = (
    "*.lock",
    "tmp_merge_*",
    "objects/pack/tmp_*",
    "objects/tmp_*",
    "objects/??/tmp_*",
    "objects/incoming-*",
)


@dataclass(frozen=True, kw_only=True)
class Mirror:
    git: Git
    branch: str
    threads: ThreadPool

    @property
    def ref(self) -> str:
        """The full name of the branch at the remote."""
        return f"refs/heads/{self.branch}"

    async def init(self) -> None:
        """At boot, while no other process holds the home: make sure that there is a repository, and remove locks of
        dead processes."""
        whole = await self.threads.run(_prepare, self.git.directory)
        if not whole:
            await self.git.run("init", "--quiet", "--bare", "--template=")

    async def start_over(self) -> None:
        """Delete the copy and begin with an empty one."""
        await self.threads.run(_remove, self.git.directory)
        await self.init()

    async def ls_remote(self) -> str | None:
        """The commit of the branch at the remote; ``None`` if there is no such branch. Raises :class:`GitFault`."""
        printed = await self.git.run_remote(
            *("ls-remote", "--quiet", "--refs", "--", self.git.remote.url, self.ref),
            within_s=LS_REMOTE_WITHIN_S,
            at_most_bytes=LS_REMOTE_AT_MOST_BYTES,
        )
        for line in printed.decode(errors="replace").splitlines():
            commit, _, name = line.partition("\t")
            if name == self.ref and _COMMIT.fullmatch(commit):
                return commit
        return None

    async def fetch(self) -> str:
        """Fetch the whole branch, even if it was moved by force; returns its commit now.

        Raises :class:`GitFault`; then :data:`UPSTREAM` is unchanged.
        """
        await self.git.run_remote(
            *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules"),
            *("--refmap=", "--update-shallow", "--", self.git.remote.url, f"+{self.ref}:{UPSTREAM}"),
        )
        commit = await self.upstream()
        assert commit is not None, "it was fetched"
        return commit

    async def upstream(self) -> str | None:
        """The commit that was fetched last; ``None`` before the first."""
        return await self.commit_at(UPSTREAM)

    async def commit_at(self, ref: str) -> str | None:
        printed = await self.git.run("for-each-ref", "--count=1", "--format=%(objectname)", ref)
        return printed.decode().strip() or None

    async def has(self, commit: str) -> bool:
        """Whether the copy has this commit, with its trees."""
        try:
            return await self.git.run("cat-file", "-t", commit) == b"commit\n"
        except GitFault as fault:
            if fault.kind in {"failed", "missing", "damaged"}:
                return False
            raise

    async def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether ``newer`` is a descendant of ``older``; it is not after a move by force."""
        if older == newer:
            return True
        try:
            found = await self.git.run("rev-list", "--max-count=1", older, f"^{newer}", "--")
        except GitFault as fault:
            if fault.kind in {"too_slow", "no_git"}:
                raise
            return False
        return not found.strip()

    async def tidy(self) -> None:
        """Pack what many small fetches have left, within this call: git's automatic packing would outlive the call."""
        await self.git.run(*("-c", f"gc.auto={_TIDY_FROM_OBJECTS}", "gc", "--auto", "--quiet"), within_s=TIDY_WITHIN_S)


def _prepare(directory: Path) -> bool:
    """Whether there is a repository already. Leftovers of a dead process are removed."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in _leftovers(directory):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(FileNotFoundError):
                path.unlink()
    return (directory / "HEAD").is_file() and (directory / "objects").is_dir() and (directory / "refs").is_dir()


def _leftovers(directory: Path) -> Iterator[Path]:
    for pattern in _LEFTOVERS:
        yield from list(directory.rglob(pattern) if pattern == "*.lock" else directory.glob(pattern))


def _remove(directory: Path) -> None:
    """First rename it in one step, so that a half removed folder is never taken for a repository."""
    aside = directory.with_name(f"{directory.name}.old")
    shutil.rmtree(aside, ignore_errors=True)
    with suppress(FileNotFoundError):
        os.rename(directory, aside)
    shutil.rmtree(aside, ignore_errors=True)
