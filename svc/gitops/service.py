"""Gitops of one boot: the follower, where a repository is followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from svc import plugins
from svc.capabilities import door_of
from svc.config import Config
from svc.gitops import rows
from svc.gitops.exporting import Exporter
from svc.gitops.following import Follower, TokenFinder
from svc.gitops.forge import forge_of
from svc.gitops.git import Git, Mirror, Remote
from svc.gitops.git.commits import Person
from svc.gitops.model import GITOPS
from svc.gitops.settings import BRANCH, FORGE, MODE, PATH, POLL, REPO, USERNAME, WRITEBACK_BRANCH
from svc.gitops.side_branch import SideBranch
from svc.gitops.webhook import Webhook
from svc.nursery import Subsystem
from svc.pages import managed
from svc.settings import PUBLIC_ORIGIN
from svc.store import Tx
from svc.workspace import Workspace

NAME: Final = "gitops"
FOLDER: Final = "gitops"
WRITE_BACK: Final = "write-back"


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
    config = workspace.config
    repo = config[REPO]
    if repo is None:
        return None
    remote = Remote(url=repo, username=config[USERNAME], token=TokenFinder(door_of(workspace, NAME)))
    git = Git(directory=workspace.home.path / FOLDER / "repository.git", remote=remote, environ=config.environ)
    mirror = Mirror(git=git, branch=config[BRANCH], threads=workspace.threads)
    return Follower(
        exporter=_exporter(workspace, mirror) if config[MODE] == WRITE_BACK else None,
        store=workspace.store,
        blobs=workspace.blobs,
        threads=workspace.threads,
        rng=workspace.rng,
        log=workspace.log,
        mirror=mirror,
        forge=forge_of(repo, kind=config[FORGE], branch=config[BRANCH], folder=config[PATH]),
        folder=config[PATH],
        poll_s=config[POLL],
    )


def _exporter(workspace: Workspace, mirror: Mirror) -> Exporter:
    config = workspace.config
    origin = config[PUBLIC_ORIGIN]
    committer = Person(name="svc", address=f"svc@{(urlsplit(origin).hostname if origin else None) or 'localhost'}")
    side = None
    if config[WRITEBACK_BRANCH] not in {None, config[BRANCH]}:
        side = SideBranch(
            mirror=mirror,
            branch=str(config[WRITEBACK_BRANCH]),
            committer=committer,
            store=workspace.store,
            folder=config[PATH],
        )
    return Exporter(mirror=mirror, store=workspace.store, folder=config[PATH], committer=committer, side=side)


async def boot(workspace: Workspace) -> None:
    workspace.store.write_now(_begin, workspace.config)


def _begin(tx: Tx, config: Config) -> None:
    """Whose the pages are from now on, before anybody can ask for one."""
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
