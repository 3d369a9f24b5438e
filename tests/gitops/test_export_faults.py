"""Edits wait while a fault blocks their export; when it is over, each edit is there once."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from svc.clock import VirtualClock
from svc.gitops.git import Git
from tests.gitops.followed import broken_rules, following, looked, page
from tests.gitops.upstream import Upstream
from tests.recorded_log import RecordedLog
from tests.support.service import Service

pytestmark = pytest.mark.thorough

TEXT = "".join(f"line {n}\n\n" for n in range(6))
WRITE_BACK = {"SVC_GITOPS_MODE": "write-back"}


@pytest.fixture
async def both(tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    upstream.push({"pages/plan.md": TEXT, "pages/notes.md": TEXT})
    async with following(tmp_path, upstream.url, clock=wall, log=log, poll_s=0, **WRITE_BACK) as service:
        yield service
        assert await broken_rules(service) == []


async def edit(service: Service, line: int, word: str, path: str = "plan") -> str:
    body: str = (await page(service, path))["body"].replace(f"line {line}", word)
    await service.mutate("pages.save", path=path, body=body)
    return body


def subjects(upstream: Upstream) -> list[str]:
    return upstream.git("log", "--reverse", "--no-merges", "--format=%s", "main").decode().splitlines()


def names(upstream: Upstream) -> list[str]:
    """Of the edits that are there."""
    said = upstream.git("log", "--format=%(trailers:key=Svc-Edit,valueonly,separator=)", "main").decode().split()
    return sorted(said)


async def carried_out(service: Service, upstream: Upstream, *, edits: int) -> Any:
    found = await looked(service)
    assert (found["problem"], found["pending"], found["conflicts"]) == (None, 0, [])
    assert len(names(upstream)) == len(set(names(upstream))) == edits
    return found


async def test_a_hook_that_refuses_a_push_keeps_the_edits_and_says_why(both: Service, upstream: Upstream) -> None:
    hook = upstream.directory / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'commits need a ticket' >&2\nexit 1\n")
    hook.chmod(0o755)
    first = await edit(both, 1, "HERE")
    found = await looked(both)
    assert "does not take the change. Git says: commits need a ticket" in found["problem"]
    assert (found["pending"], upstream.file("pages/plan.md")) == (1, TEXT)
    upstream.push({"pages/notes.md": "from there\n"})
    assert "commits need a ticket" in (await looked(both))["problem"]
    assert (await page(both, "notes"))["body"] == "from there\n", "what is new there comes here all the same"
    assert (await page(both, "plan"))["body"] == first
    second = await edit(both, 3, "HERE, too")
    hook.unlink()
    await carried_out(both, upstream, edits=2)
    assert upstream.file("pages/plan.md") == second


async def test_a_remote_that_is_away_while_edits_wait_gets_them_all_in_order(both: Service, upstream: Upstream) -> None:
    away = upstream.directory.with_name("away.git")
    upstream.directory.rename(away)
    await edit(both, 1, "one")
    assert (await looked(both))["problem"]
    await edit(both, 2, "two")
    await both.mutate("pages.move", path="notes", to="old/notes")
    await edit(both, 3, "three", path="old/notes")
    found = await looked(both)
    assert (bool(found["problem"]), found["pending"]) == (True, 4)
    away.rename(upstream.directory)
    await carried_out(both, upstream, edits=4)
    assert subjects(upstream)[1:] == ["Change plan", "Change plan", "Move notes to old/notes", "Change old/notes"]
    assert upstream.file("pages/old/notes.md") == TEXT.replace("line 3", "three")


@pytest.mark.parametrize("command", ["fast-import", "hash-object", "push"])
async def test_a_disk_that_is_full_while_edits_are_carried_out_loses_none(
    both: Service, upstream: Upstream, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """The bound on written files stands in for a full disk, also in the repository that is pushed to."""
    with monkeypatch.context() as patched:
        for name in ("run", "run_remote"):
            patched.setattr(Git, name, _bounded(getattr(Git, name), command))
        body = await edit(both, 1, "HERE")
        body = await edit(both, 2, os.urandom(60_000).hex())
        found = await looked(both)
        if command != "hash-object":  # which only writes what a merge has left behind
            assert found["problem"]
            assert found["pending"] == 2
            assert upstream.file("pages/plan.md") == TEXT
    await carried_out(both, upstream, edits=2)
    assert upstream.file("pages/plan.md") == body


def _bounded(inner: Any, command: str) -> Any:
    async def run(git: Git, *args: str, **options: Any) -> bytes:
        bound = {"file_at_most_bytes": 512} if args[0] == command else {}
        return bytes(await inner(git, *args, **(options | bound)))

    return run


@pytest.mark.parametrize("harm", ["objects", "emptied", "gone"])
async def test_a_copy_that_is_damaged_while_edits_wait_is_made_again_and_they_are_carried_out(
    both: Service, upstream: Upstream, tmp_path: Path, harm: str
) -> None:
    """Also those made upon a text that stood in no commit: what is here after a merge that nobody pushed yet."""
    await edit(both, 1, "first")
    upstream.push({"pages/plan.md": TEXT.replace("line 4", "THERE")})
    await looked(both)
    body = await edit(both, 2, "second")
    await edit(both, 3, "third", path="notes")
    copy = tmp_path / "home" / "gitops" / "repository.git"
    shutil.rmtree(copy / "objects" if harm == "objects" else copy)
    if harm == "objects":
        (copy / "objects").mkdir()
    elif harm == "emptied":
        copy.mkdir()
    upstream.push({"pages/new.md": "new\n"})
    await carried_out(both, upstream, edits=3)
    assert upstream.file("pages/plan.md") == body
    assert (await page(both, "new"))["body"] == "new\n"
