"""What labelling adds to mail's rows: its job, and its place in the claim."""

from __future__ import annotations

from svc.mail.engine import MailEngine
from svc.mail.labelling import undo
from svc.mail.labelling.tasks import SNOOZE_JOB, Waker
from svc.scheduler import Job, Scheduler
from svc.store import Tx
from svc.workspace import Workspace


def build(workspace: Workspace) -> None:
    waker = Waker(store=workspace.store, engine=workspace.service(MailEngine))
    workspace.service(Scheduler).add(Job(name=SNOOZE_JOB, run=waker.run))


def claim(tx: Tx, user_id: str) -> None:
    undo.hand_over(tx, user_id=user_id)
