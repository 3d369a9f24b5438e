"""Builds the services that read and answer invitations."""

from __future__ import annotations

from svc.mail.invitations.answering import Invitations
from svc.mail.invitations.reading import InvitationReader
from svc.mail.sending.tasks import Delivery
from svc.workspace import Workspace


def build(workspace: Workspace) -> None:
    reader = InvitationReader(
        store=workspace.store,
        blobs=workspace.blobs,
        processes=workspace.processes,
        clock=workspace.clock,
        log=workspace.log,
    )
    workspace.provide(reader)
    workspace.provide(
        Invitations(
            store=workspace.store,
            blobs=workspace.blobs,
            processes=workspace.processes,
            reader=reader,
            delivery=workspace.service(Delivery),
            clock=workspace.clock,
        )
    )
