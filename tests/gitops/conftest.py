"""An upstream, and a copy of it in a home."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from svc.gitops.git import Git, Mirror, Remote
from svc.nursery import ThreadPool
from tests.gitops.upstream import Upstream

MakeMirror = Callable[..., Awaitable[Mirror]]


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    return Upstream(tmp_path / "upstream.git")


def git_of(directory: Path, url: str, *, token: str | None = None, **environ: str) -> Git:
    async def find() -> str | None:
        return token

    remote = Remote(url=url, username="x-access-token", token=find)
    return Git(directory=directory, remote=remote, environ={"PATH": os.environ["PATH"], **environ})


@pytest.fixture
def mirror_of(tmp_path: Path, threads: ThreadPool) -> MakeMirror:
    async def make(url: str, *, token: str | None = None, **environ: str) -> Mirror:
        git = git_of(tmp_path / "mirror.git", url, token=token, **environ)
        mirror = Mirror(git=git, branch="main", threads=threads)
        await mirror.init()
        return mirror

    return make
