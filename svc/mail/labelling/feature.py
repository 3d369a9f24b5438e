"""Defines and builds the job of labelling, which ends snoozes."""

from __future__ import annotations

from typing import Final

from svc.clock import Millis
from svc.job import Job
from svc.mail.labelling.tasks import SNOOZE_JOB, Waker
from svc.mail.sync.engine import MailEngine
from svc.workspace import Workspace


def build(workspace: Workspace) -> None:
    waker = Waker(store=workspace.store, engine=workspace.service(MailEngine))
    workspace.provide(waker)


async def _wake(workspace: Workspace) -> Millis | None:
    return await workspace.service(Waker).run()


JOB: Final = Job(name=SNOOZE_JOB, summary="Brings back snoozed threads whose time has come.", run=_wake)
