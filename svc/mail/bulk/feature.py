"""Builds the loop of bulk steps, and defines how such a step is taken back."""

from __future__ import annotations

from typing import Final

from svc.mail.bulk import actions
from svc.mail.bulk.choosing import Chooser
from svc.mail.bulk.tasks import BulkWorker
from svc.mail.labelling.carrying_on import carry_on
from svc.mail.search.procedures import Search
from svc.mail.sync.engine import MailEngine
from svc.nursery import Subsystem
from svc.reversal import Reversal
from svc.workspace import Workspace


def build(workspace: Workspace) -> None:
    workspace.provide(Chooser(store=workspace.store, search=workspace.service(Search)))
    workspace.provide(BulkWorker(store=workspace.store, engine=workspace.service(MailEngine), log=workspace.log))


def subsystem(workspace: Workspace) -> Subsystem:
    return Subsystem(name="mail-bulk", run=workspace.service(BulkWorker).run, independent=True)


def go_on(workspace: Workspace) -> None:
    """Wake the loops that send the changes to the provider, and the loop that goes on with the step."""
    carry_on(workspace)
    workspace.service(BulkWorker).wake.call()


REVERSAL: Final = Reversal(kind=actions.KIND, take_back=actions.take_back, is_open=actions.is_open, then=go_on)
