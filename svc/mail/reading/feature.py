"""Builds the reader of threads."""

from __future__ import annotations

from svc.mail.authentication.checking import Authenticator
from svc.mail.reading.reader import Reader
from svc.workspace import Workspace


def build(workspace: Workspace) -> None:
    workspace.provide(
        Reader(
            store=workspace.store,
            blobs=workspace.blobs,
            threads=workspace.threads,
            processes=workspace.processes,
            authenticator=workspace.service(Authenticator),
            log=workspace.log,
        )
    )
