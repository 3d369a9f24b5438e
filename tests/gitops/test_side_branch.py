"""Commits on a branch of their own, for a pull request: it follows the main one, and is taken over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from svc.clock import VirtualClock
from svc.gitops.forge import forge_of
from tests.gitops.followed import following, looked, status
from tests.gitops.upstream import Upstream
from tests.recorded_log import RecordedLog
from tests.support.service import Service

pytestmark = pytest.mark.thorough

TEXT = "".join(f"line {n}\n\n" for n in range(6))


@pytest.fixture
async def beside(tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    upstream.push({"pages/plan.md": TEXT, "pages/other.md": "other\n"})
    settings = {"SVC_GITOPS_MODE": "write-back", "SVC_GITOPS_WRITEBACK_BRANCH": "workspace"}
    async with following(tmp_path, upstream.url, clock=wall, log=log, poll_s=0, **settings) as service:
        yield service


async def save(service: Service, text: str, path: str = "plan") -> None:
    await service.mutate("pages.save", path=path, body=text)


async def body(service: Service, path: str = "plan") -> Any:
    return (await service.query("pages.get", path=path))["body"]


def side(upstream: Upstream, file: str = "pages/plan.md") -> str:
    return upstream.file(file, "workspace")


async def test_commits_go_to_the_side_and_the_main_branch_stays(beside: Service, upstream: Upstream) -> None:
    main = upstream.head()
    await save(beside, TEXT.replace("line 1", "HERE"))
    found = await looked(beside)
    assert (found["problem"], found["pending"], found["writebackBranch"]) == (None, 0, "workspace")
    assert upstream.head() == main
    assert side(upstream) == TEXT.replace("line 1", "HERE")
    assert await body(beside) == TEXT.replace("line 1", "HERE")
    assert (await looked(beside))["commit"] == found["commit"]


async def test_it_follows_the_main_branch_by_lines(beside: Service, upstream: Upstream) -> None:
    await save(beside, TEXT.replace("line 1", "HERE"))
    await looked(beside)
    upstream.push({"pages/plan.md": TEXT.replace("line 4", "THERE"), "pages/new.md": "new\n", "pages/other.md": None})
    assert (await looked(beside))["problem"] is None
    both = TEXT.replace("line 1", "HERE").replace("line 4", "THERE")
    assert (side(upstream), await body(beside), await body(beside, "new")) == (both, both, "new\n")
    names = upstream.git("ls-tree", "-r", "--name-only", "workspace").decode().split()
    assert names == ["pages/new.md", "pages/plan.md"]
    await save(beside, both + "more\n")
    await looked(beside)
    assert side(upstream) == both + "more\n"


@pytest.mark.parametrize("squashed", [True, False])
async def test_where_all_was_taken_over_it_goes_on_from_there(
    beside: Service, upstream: Upstream, squashed: bool
) -> None:
    await save(beside, TEXT.replace("line 1", "HERE"))
    await looked(beside)
    if squashed:
        upstream.push({"pages/plan.md": side(upstream)})
    else:
        upstream.git("update-ref", "refs/heads/main", "refs/heads/workspace")
    found = await looked(beside)
    assert (await looked(beside))["commit"] == found["commit"]
    await save(beside, TEXT.replace("line 1", "HERE").replace("line 2", "AGAIN"))
    assert (await looked(beside))["problem"] is None
    assert side(upstream) == TEXT.replace("line 1", "HERE").replace("line 2", "AGAIN")
    assert upstream.git("merge-base", "main", "workspace").decode().strip() == upstream.head()


async def test_lines_that_both_changed_wait_for_a_choice_and_take_nothing_back(
    beside: Service, upstream: Upstream
) -> None:
    await save(beside, TEXT.replace("line 1", "HERE"))
    await save(beside, "other, too\n", "other")
    await looked(beside)
    upstream.push({"pages/plan.md": TEXT.replace("line 1", "THERE")})
    found = await looked(beside)
    assert [one["path"] for one in found["conflicts"]] == ["plan"]
    assert (side(upstream), await body(beside)) == (
        TEXT.replace("line 1", "THERE"),
        TEXT.replace("line 1", "HERE"),
    )
    assert side(upstream, "pages/other.md") == "other, too\n"
    await beside.mutate("gitops.resolve", path="plan", keep="here")
    found = await looked(beside)
    assert (found["conflicts"], found["pending"]) == ([], 0)
    assert side(upstream) == TEXT.replace("line 1", "HERE")
    assert (await status(beside))["problem"] is None


async def test_a_page_that_both_have_added_waits_for_a_choice(beside: Service, upstream: Upstream) -> None:
    await save(beside, "written here\n", "plan/new")
    await looked(beside)
    upstream.push({"pages/plan/new.md": "written there\n"})
    found = await looked(beside)
    assert [one["path"] for one in found["conflicts"]] == ["plan/new"]
    assert (side(upstream, "pages/plan/new.md"), await body(beside, "plan/new")) == (
        "written there\n",
        "written here\n",
    )
    await beside.mutate("gitops.resolve", path="plan/new", keep="text", text="written there\nwritten here\n")
    found = await looked(beside)
    assert (found["conflicts"], found["pending"]) == ([], 0)
    assert side(upstream, "pages/plan/new.md") == "written there\nwritten here\n"
    assert upstream.file("pages/plan/new.md") == "written there\n"


async def test_a_side_branch_that_others_deleted_is_made_again(beside: Service, upstream: Upstream) -> None:
    await save(beside, TEXT.replace("line 1", "HERE"))
    await looked(beside)
    upstream.push({"pages/plan.md": side(upstream)})
    upstream.git("update-ref", "-d", "refs/heads/workspace")
    await looked(beside)
    await save(beside, TEXT.replace("line 1", "AGAIN"))
    assert (await looked(beside))["problem"] is None
    assert side(upstream) == TEXT.replace("line 1", "AGAIN")


def test_each_forge_has_an_address_at_which_a_pull_request_begins() -> None:
    asked = {
        "https://github.com/team/space.git": "https://github.com/team/space/compare/main...svc%2Fedits?expand=1",
        "git@gitlab.example.org:team/space.git": "https://gitlab.example.org/team/space/-/merge_requests/new"
        "?merge_request[source_branch]=svc%2Fedits&merge_request[target_branch]=main",
        "https://codeberg.org/team/space": "https://codeberg.org/team/space/compare/main...svc%2Fedits",
    }
    for repository, address in asked.items():
        forge = forge_of(repository, kind=None, branch="main", folder="")
        assert forge.request_url("svc/edits") == address
