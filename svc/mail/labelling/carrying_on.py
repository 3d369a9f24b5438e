"""Runs a change of threads, and wakes the loops that go on with it after the commit."""

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
    """Wake the loops that send the change to the provider, and the job that ends snoozes."""
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
    """Run an action on threads, once for each idempotency key, then :func:`carry_on`. Returns an empty answer."""
    await idempotency.write(context, procedure, wanted, NoneType, action, context.principal, *args, **kwargs)
    carry_on(context.workspace)
    return NOTHING
