"""Builds the eraser of accounts, as a service and a subsystem."""

from __future__ import annotations

from svc.feature import erases_of
from svc.mail.health.tasks import Eraser
from svc.nursery import Subsystem
from svc.workspace import Workspace


def build(workspace: Workspace) -> None:
    workspace.provide(Eraser(store=workspace.store, log=workspace.log, erases=erases_of(workspace.features)))


def subsystem(workspace: Workspace) -> Subsystem:
    return Subsystem(name="mail-erasing", run=workspace.service(Eraser).run, independent=True)
