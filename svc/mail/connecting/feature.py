"""Builds the services of connecting, and adds their providers to the table of providers."""

from __future__ import annotations

from svc.mail.connecting.connection import Connections
from svc.mail.connecting.passwords import Passwords
from svc.mail.providers.kinds import BY_PASSWORD
from svc.mail.providers.table import Providers
from svc.workspace import Workspace


def build(workspace: Workspace) -> None:
    connections = Connections.of(workspace)
    workspace.provide(connections)
    passwords = Passwords(workspace=workspace)
    workspace.provide(passwords)
    providers = workspace.service(Providers)
    for name, one in connections.kinds.items():
        providers.add(name, one.provider, authority=one.kind.authority)
    providers.add(BY_PASSWORD.name, passwords.provider)
