"""Builds the follower of a boot from the settings, with the exporter for write-back."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from svc.capabilities import door_of
from svc.gitops.exporting import Exporter
from svc.gitops.following import Follower, TokenFinder
from svc.gitops.forge import forge_of
from svc.gitops.git import Git, Mirror, Remote
from svc.gitops.git.commits import Person
from svc.gitops.git.ssh import Ssh
from svc.gitops.model import NAME
from svc.gitops.settings import (
    BRANCH,
    FORGE,
    MODE,
    PATH,
    POLL,
    SSH_KEY,
    SSH_KNOWN_HOSTS,
    USERNAME,
    WRITE_BACK,
    WRITEBACK_BRANCH,
)
from svc.gitops.side_branch import SideBranch
from svc.settings import PUBLIC_ORIGIN
from svc.workspace import Workspace

FOLDER: Final = "gitops"


def follower_of(workspace: Workspace, repo: str) -> Follower:
    config = workspace.config
    ssh = Ssh(key=config[SSH_KEY], known_hosts=config[SSH_KNOWN_HOSTS])
    remote = Remote(url=repo, username=config[USERNAME], ssh=ssh, token=TokenFinder(door_of(workspace, NAME)))
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
