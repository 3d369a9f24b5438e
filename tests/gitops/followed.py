"""A workspace that follows a repository, on virtual time."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import trio

from svc.app import all_invariants
from svc.clock import Clock
from svc.gitops.service import Gitops
from tests.recorded_log import RecordedLog
from tests.support.service import Service, open_service

POLL_S: Final = 300


@asynccontextmanager
async def following(
    directory: Path, url: str, *, clock: Clock, log: RecordedLog, poll_s: int = POLL_S, **settings: str
) -> AsyncIterator[Service]:
    environ = {"SVC_GITOPS_REPO": url, "SVC_GITOPS_POLL": str(poll_s), "PATH": os.environ["PATH"], **settings}
    async with open_service(directory, clock=clock, log=log, environ=environ) as service:
        yield service


async def status(service: Service) -> Any:
    return await service.query("gitops.status")


async def synced(service: Service, commit: str) -> Any:
    """The status, once the workspace is at that commit."""
    while True:
        found = await status(service)
        if found["commit"] == commit and found["problem"] is None:
            return found
        await trio.sleep(1)


async def looked(service: Service) -> Any:
    """The status after one more look, whatever came of it."""
    follower = service.workspace.service(Gitops).follower
    assert follower is not None
    await follower.look()
    return await status(service)


async def page(service: Service, path: str) -> Any:
    return await service.query("pages.get", path=path)


async def broken_rules(service: Service) -> list[str]:
    """What ``svc fsck`` would say of the tables."""
    rules = [rule for rule in all_invariants() if rule.yields != "blobs"]
    return await service.workspace.store.read(lambda tx: [said for rule in rules for said in rule.check(tx)])


async def paths(service: Service) -> list[str]:
    return [path for (path,) in await service.rows("select path from pages order by path")]
