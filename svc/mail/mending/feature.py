"""Builds the mender of mail, and gives it to the healer."""

from __future__ import annotations

from svc.healing import Healer
from svc.mail.mending.tasks import MailMender
from svc.mail.sync.engine import MailEngine
from svc.mail.sync.fetch import Preparer
from svc.workspace import Workspace


def build(workspace: Workspace) -> None:
    def preparer(account_id: str) -> Preparer:
        return Preparer(
            account_id=account_id,
            blobs=workspace.blobs,
            threads=workspace.threads,
            processes=workspace.processes,
            clock=workspace.clock,
            log=workspace.log,
        )

    mender = MailMender(
        store=workspace.store,
        blobs=workspace.blobs,
        threads=workspace.threads,
        loop=workspace.service(MailEngine).loop,
        preparer=preparer,
    )
    workspace.service(Healer).add(mender)
