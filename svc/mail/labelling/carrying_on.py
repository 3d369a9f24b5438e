"""What has to be told once a change of threads is committed."""

from __future__ import annotations

from svc.mail.labelling.tasks import SNOOZE_JOB
from svc.mail.sync.engine import MailEngine
from svc.protocol import NOTHING, Nothing
from svc.scheduler import Scheduler
from svc.workspace import RequestContext, Workspace


def carry_on(workspace: Workspace) -> None:
    """Wake who takes the change to the provider, and who waits for the next snooze to end."""
    workspace.service(MailEngine).wake_outboxes()
    workspace.service(Scheduler).nudge(SNOOZE_JOB)


def done(context: RequestContext) -> Nothing:
    """The answer of a procedure that changed threads."""
    carry_on(context.workspace)
    return NOTHING
