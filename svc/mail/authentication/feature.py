"""Builds the services of authentication: the checker, and the store of signing keys."""

from __future__ import annotations

from svc.mail.authentication.checking import Authenticator
from svc.mail.authentication.keys import SigningKeys, SystemRecords
from svc.mail.providers.table import Providers
from svc.workspace import Workspace


def build(workspace: Workspace) -> None:
    keys = SigningKeys(store=workspace.store, records=SystemRecords())
    workspace.provide(keys)
    workspace.provide(
        Authenticator(
            store=workspace.store,
            blobs=workspace.blobs,
            threads=workspace.threads,
            processes=workspace.processes,
            providers=workspace.service(Providers),
            keys=keys,
            log=workspace.log,
        )
    )
