"""A change of threads, and what has to be told once it is committed."""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Concatenate, ParamSpec

from svc import idempotency
from svc.idempotency import Repeatable
from svc.mail.labelling.tasks import SNOOZE_JOB
from svc.mail.sync.engine import MailEngine
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing
from svc.scheduler import Scheduler
from svc.store import Tx
from svc.workspace import RequestContext, Workspace

P = ParamSpec("P")


def carry_on(workspace: Workspace) -> None:
    """Wake who takes the change to the provider, and who waits for the next snooze to end."""
    workspace.service(MailEngine).wake_outboxes()
    workspace.service(Scheduler).nudge(SNOOZE_JOB)


async def act(
    context: RequestContext,
    procedure: str,
    wanted: Repeatable,
    action: Callable[Concatenate[Tx, Principal, P], None],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Nothing:
    """Do what the caller asks of threads, once for its key, and have it carried on. The answer of such a procedure."""
    await idempotency.write(context, procedure, wanted, NoneType, action, context.principal, *args, **kwargs)
    carry_on(context.workspace)
    return NOTHING
