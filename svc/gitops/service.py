"""Gitops for one boot: the follower, if a repository is followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from svc import plugins
from svc.capabilities import door_of
from svc.config import Config
from svc.gitops import rows
from svc.gitops.model import GITOPS, NAME
from svc.gitops.settings import BRANCH, MODE, PATH, REPO, WRITE_BACK
from svc.gitops.webhook import Webhook
from svc.nursery import Subsystem
from svc.pages import managed
from svc.store import Tx
from svc.workspace import Workspace

if TYPE_CHECKING:
    from svc.gitops.following import Follower


@dataclass(frozen=True, kw_only=True)
class Gitops:
    follower: Follower | None


def build(workspace: Workspace) -> None:
    follower = _follower(workspace)
    workspace.provide(Gitops(follower=follower))
    workspace.provide(
        Webhook(door=door_of(workspace, NAME), follower=follower, branches=frozenset({workspace.config[BRANCH]}))
    )


def _follower(workspace: Workspace) -> Follower | None:
    repo = workspace.config[REPO]
    if repo is None:
        return None
    from svc.gitops.follower import follower_of  # late: only a followed repository needs merging and YAML

    return follower_of(workspace, repo)


async def boot(workspace: Workspace) -> None:
    workspace.store.write_now(_begin, workspace.config)


def _begin(tx: Tx, config: Config) -> None:
    """Set the manager of the pages, before any request can read one."""
    repo = config[REPO]
    if repo is None:
        if rows.state(tx) is not None:
            managed.forget_manager(tx, GITOPS)
            rows.leave(tx)
            plugins.pin(tx, None)
        return
    managed.set_manager(tx, GITOPS, editable=config[MODE] == WRITE_BACK)
    rows.follow(tx, source=f"{repo} {config[BRANCH]} {config[PATH]}")


async def subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    follower = workspace.service(Gitops).follower
    return [] if follower is None else [Subsystem(name=NAME, run=follower.run)]
