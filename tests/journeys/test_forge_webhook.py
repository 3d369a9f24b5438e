"""A forge that we did not write tells of a push, in its own words and signature: the page follows at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gitops.upstream import Upstream
from tests.peers.forge import forge
from tests.peers.needs import EMULATOR, needs
from tests.sizes import HANGS_S
from tests.support.process import ServiceProcess, until

pytestmark = [pytest.mark.journey, pytest.mark.peer, pytest.mark.wall_clock, needs(EMULATOR)]

SECRET = "a secret of the forge"


def test_a_push_that_a_forge_tells_of_is_here_at_once(tmp_path: Path) -> None:
    upstream = Upstream(tmp_path / "upstream.git")
    upstream.push({"pages/a.md": "one"})
    with ServiceProcess(tmp_path) as service, forge(tmp_path) as there:
        service.start(
            PROVIDERS="fake",
            SVC_GITOPS_REPO=upstream.url,
            SVC_GITOPS_POLL="0",
            SVC_GITOPS_WEBHOOK_SECRET=SECRET,
        )
        strange = there.add_hook(f"{service.base}/gitops/webhook", secret="another secret")
        commit = upstream.push({"pages/a.md": "two"})
        assert there.push(strange) == 403
        assert service.query("gitops.status")["commit"] != commit
        ours = there.add_hook(f"{service.base}/gitops/webhook", secret=SECRET)
        assert there.ping(ours) in {200, 202}
        assert there.push(ours) == 202
        until(
            lambda: service.query("gitops.status")["commit"] == commit,
            what="the pushed commit",
            deadline_s=HANGS_S,
            tell=service.log,
        )
        assert service.rows("select body from page_revisions order by revision desc limit 1") == [("two",)]
        assert SECRET not in service.log()
