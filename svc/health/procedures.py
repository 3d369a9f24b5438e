"""The checks as the app shows them to an admin: the same rows as ``svc doctor`` and ``/readyz``."""

from __future__ import annotations

from svc.health.routes import Report, report_of
from svc.protocol import Nothing, Procedure
from svc.workspace import RequestContext


async def check(context: RequestContext, wanted: Nothing) -> Report:
    return await report_of(context)


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="health.check",
        kind="mutation",  # some checks use a credential, which leaves a row in the audit
        access="admin",
        input=Nothing,
        output=Report,
        call=check,
        summary="Run every check: what each found, and what to do.",
    ),
)
