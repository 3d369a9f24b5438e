"""The service killed at steps of a sync: what is here is one whole tree, and the next start ends the sync."""

from __future__ import annotations

from contextlib import suppress
from http.client import HTTPException
from itertools import count, cycle
from pathlib import Path

import pytest

from tests.gitops.upstream import Upstream
from tests.sizes import GITOPS_FROM, GITOPS_STRIDE, HANGS_S
from tests.support.process import ServiceProcess, until

pytestmark = [pytest.mark.journey, pytest.mark.wall_clock]

LOOK = "svc.gitops.following.Follower._look"
TREES = (
    {"pages/a.md": "one", "pages/gone.md": "x", "pages/new.md": None, "pages/p.png": b"one"},
    {"pages/a.md": "two", "pages/gone.md": None, "pages/new.md": "![p](p.png)", "pages/p.png": b"two"},
)
PATHS = ({"a", "gone"}, {"a", "new"})


def test_a_death_in_a_sync_leaves_one_whole_tree(tmp_path: Path) -> None:
    upstream = Upstream(tmp_path / "upstream.git")
    upstream.push({path: content for path, content in TREES[0].items() if content is not None})
    settings = {"PROVIDERS": "fake", "SVC_GITOPS_REPO": upstream.url, "SVC_GITOPS_POLL": "0"}
    with ServiceProcess(tmp_path) as service:
        order = service.die_at(0, of=LOOK)
        order.unlink()
        service.start(**settings)
        deaths = 0
        for step, to in zip(count(GITOPS_FROM, GITOPS_STRIDE), cycle((1, 0)), strict=False):
            commit = upstream.push(TREES[to])
            order.write_text(str(step))
            with suppress(OSError, HTTPException):  # the death may come before the answer
                service.mutate("gitops.sync")
            if not dies(service, commit):
                break
            deaths += 1
            order.unlink()
            assert what_is_here(service) in PATHS
            service.start(**settings)
            assert service.query("gitops.status")["commit"] == commit
            assert what_is_here(service) == PATHS[to], what_was_done(service, upstream)
        assert deaths
        service.kill()


def dies(service: ServiceProcess, commit: str) -> bool:
    """Whether the death came before the sync was over."""
    found: list[bool] = []

    def told() -> bool:
        if service.is_dead():
            found.append(True)
        else:
            with suppress(OSError, HTTPException):
                if service.query("gitops.status")["commit"] == commit:
                    found.append(False)
        return bool(found)

    until(told, what="a death, or the end of the sync", deadline_s=HANGS_S, tell=service.log)
    if found[0]:
        assert service.wait() == -9
    return found[0]


def what_was_done(service: ServiceProcess, upstream: Upstream) -> str:
    """All that tells a wrong tree there from a wrong sync of it."""
    trash = service.rows("select id, path, deleted_at from page_trash")
    pages = service.rows("select id, path, created_at from pages")
    files = service.rows("select file, page_id, path, blob, seen_blob, digest, problem from gitops_files")
    tree = (
        upstream.git("log", "--name-status", upstream.branch).decode() + upstream.git("ls-tree", "-r", "HEAD").decode()
    )
    return "\n".join(map(str, [*pages, "trash:", *trash, "files:", *files, tree, service.log()]))


def what_is_here(service: ServiceProcess) -> set[str]:
    rows = service.rows(
        "select p.path, r.body from pages p join page_revisions r on r.page_id = p.id and r.revision = p.revision"
    )
    bodies: dict[str, str] = dict(rows)
    assert bodies["a"] == ("two" if "new" in bodies else "one")
    files = service.rows("select size from files")
    assert len(files) == 1
    return set(bodies)
