"""An export that stops at any of its steps, before or after its effect: repeated, it loses and doubles nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from svc.gitops.git import Git
from svc.nursery import ThreadPool
from tests.gitops.conftest import MakeMirror
from tests.gitops.pages_and_repository import PagesAndRepository, open_store
from tests.gitops.upstream import Upstream
from tests.pages.people_and_pages import MIA, NOA, OLE

pytestmark = pytest.mark.thorough

TEXT = "one\n\ntwo\n\nthree\n"


class _Ended(BaseException):
    """The process, as far as the export can tell."""


@pytest.fixture
async def pages(
    tmp_path: Path, threads: ThreadPool, upstream: Upstream, mirror_of: MakeMirror
) -> AsyncIterator[PagesAndRepository]:
    store = open_store(tmp_path / "svc.sqlite3", threads)
    upstream.push({"README.md": "not a page\n"})
    pages = PagesAndRepository(store, mirror=await mirror_of(upstream.url), upstream=upstream)
    await pages.follow(plan=TEXT, notes=TEXT, old=TEXT)
    for path in ("plan", "notes", "old"):
        pages.open_to_all(path)
    await pages.export()
    yield pages
    store.close_now()


def end_at(monkeypatch: pytest.MonkeyPatch, step: int, *, after: bool) -> list[int]:
    """Have the process end at that call of git. Returns how many were made, as it grows."""
    calls = [0]
    for name in ("run", "run_remote"):
        inner = getattr(Git, name)

        async def counted(git: Git, *args: str, inner: Any = inner, **options: Any) -> bytes:
            calls[0] += 1
            if calls[0] != step:
                return bytes(await inner(git, *args, **options))
            if after:
                await inner(git, *args, **options)
            raise _Ended

        monkeypatch.setattr(Git, name, counted)
    return calls


@pytest.mark.share(2)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_an_export_that_is_cut_off_at_any_step_is_done_once(
    pages: PagesAndRepository, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    step, ended = 1, True
    while ended:
        mark = f"{step} {after}"
        pages.save(NOA, "plan", TEXT.replace("one", f"first {mark}"), title="plan")
        pages.save(OLE, "plan", TEXT.replace("one", f"second {mark}"), title="plan")
        pages.save(NOA, "notes", TEXT.replace("two", mark), title="notes")
        pages.move(MIA, "old", f"moved {step}")
        before = len(pages.log())
        pages.upstream.push({"pages/plan.md": pages.upstream.file("pages/plan.md").replace("three", f"three {step}")})
        with monkeypatch.context() as patched:
            end_at(patched, step, after=after)
            try:
                await pages.export()
                ended = False
            except _Ended:
                ended = True
        await pages.export()
        assert (pages.waiting(), pages.conflicts()) == (0, [])
        assert pages.log()[before:] == [
            "Mia: Change",
            "Noa: Change plan",
            "Ole: Change plan",
            "Noa: Change notes",
            f"Mia: Move old to moved {step}",
        ]
        assert f"second {mark}" in pages.upstream.file("pages/plan.md")
        assert f"three {step}" in pages.upstream.file("pages/plan.md")
        assert mark in pages.upstream.file("pages/notes.md")
        pages.move(MIA, f"moved {step}", "old")
        await pages.export()
        step += 1
    assert step > 8, "it has more steps than that"
