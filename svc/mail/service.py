"""What other features ask of the running part of mail."""

from __future__ import annotations

from svc.mail.labelling.carrying_on import carry_on as tell_of_changes
from svc.mail.sending.tasks import JOB
from svc.mail.sync.engine import MailEngine
from svc.scheduler import Scheduler
from svc.workspace import Workspace


def carry_on(workspace: Workspace) -> None:
    """A change of threads, or a mail to send, is committed: wake whoever has to take it further."""
    tell_of_changes(workspace)
    workspace.service(Scheduler).nudge(JOB)


async def start_account(workspace: Workspace, account_id: str) -> None:
    """An account was connected: start its loop, or start it anew."""
    await workspace.service(MailEngine).start_account(account_id)


async def sync_now(workspace: Workspace, account_id: str) -> None:
    """One full step of an account's sync. Returns when it is done."""
    await workspace.service(MailEngine).sync_now(account_id)
