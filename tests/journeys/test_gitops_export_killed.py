"""The service killed at steps of an export: each edit is there once, and the next start carries out what waits."""

from __future__ import annotations

from contextlib import suppress
from http.client import HTTPException
from itertools import count
from pathlib import Path

import pytest

from tests.gitops.upstream import Upstream
from tests.journeys.test_gitops_killed import LOOK
from tests.sizes import GITOPS_FROM, GITOPS_STRIDE, HANGS_S
from tests.support.process import ServiceProcess, until

pytestmark = [pytest.mark.journey, pytest.mark.wall_clock]

START = "".join(f"line {n}\n\n" for n in range(6))


def test_a_death_in_an_export_loses_no_edit_and_repeats_none(tmp_path: Path) -> None:
    upstream = Upstream(tmp_path / "upstream.git")
    upstream.push({"pages/a.md": START})
    settings = {
        "PROVIDERS": "fake",
        "SVC_GITOPS_REPO": upstream.url,
        "SVC_GITOPS_POLL": "0",
        "SVC_GITOPS_MODE": "write-back",
    }
    with ServiceProcess(tmp_path) as service:
        order = service.die_at(0, of=LOOK)
        order.unlink()
        service.start(**settings)
        saved: list[str] = []
        deaths = 0
        for step in count(GITOPS_FROM, GITOPS_STRIDE):
            upstream.push({"pages/a.md": upstream.file("pages/a.md").replace("line 5", f"line 5 there {step}")})
            order.write_text(str(step))
            body = START.replace("line 1", f"saved before {step}")
            with suppress(OSError, HTTPException):  # the death may come before the answer
                service.mutate("pages.save", path="a", body=body)
                saved.append(body)
            has_died = ends(service)
            order.unlink()
            if not has_died:
                break
            deaths += 1
            service.start(**settings)
            until(lambda: is_done(service), what="the edit to be there", deadline_s=HANGS_S, tell=service.log)
            assert f"saved before {step}" in upstream.file("pages/a.md") or body not in saved
            upstream.push({"pages/a.md": START})  # so that each round begins alike
            service.mutate("gitops.sync")
            until(lambda: is_like(service, START), what="the sync", deadline_s=HANGS_S, tell=service.log)
        assert deaths
        names = upstream.git("log", "--format=%(trailers:key=Svc-Edit,valueonly,separator=)", "main").decode().split()
        assert len(names) == len(set(names))
        assert len(saved) <= len(names) <= len(saved) + 1
        service.kill()


def ends(service: ServiceProcess) -> bool:
    """Whether the death came before the export was over."""
    until(
        lambda: service.is_dead() or is_done(service),
        what="a death, or the end of the export",
        deadline_s=HANGS_S,
        tell=service.log,
    )
    return service.is_dead() and service.wait() == -9


def is_done(service: ServiceProcess) -> bool:
    try:
        status = service.query("gitops.status")
    except (OSError, HTTPException):
        return False
    return status["pending"] == 0 and not status["problem"]


def is_like(service: ServiceProcess, body: str) -> bool:
    return bool(service.query("pages.get", path="a")["body"] == body)
