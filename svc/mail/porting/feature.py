"""Registers import and export with the mail feature: the provider for accounts kept here, and the importer as a
subsystem."""

from __future__ import annotations

from svc.mail.porting.importer import Importer
from svc.mail.porting.kept import mailbox
from svc.mail.providers.kinds import KEPT_HERE
from svc.mail.providers.table import Providers
from svc.mail.sync.engine import MailEngine
from svc.nursery import Subsystem
from svc.workspace import Workspace


def build(workspace: Workspace) -> None:
    workspace.service(Providers).add(KEPT_HERE, lambda account: mailbox(workspace.store, account), is_here=True)
    workspace.provide(Importer(workspace=workspace, engine=workspace.service(MailEngine)))


def subsystem(workspace: Workspace) -> Subsystem:
    return Subsystem(name="mail-import", run=workspace.service(Importer).run, independent=True)
