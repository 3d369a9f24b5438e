"""The route by which ``svc doctor`` asks a running service: on the internal listener, which only this machine
reaches."""

from __future__ import annotations

from typing import Final

from svc.health.model import CheckOut, check_out
from svc.health.running import checks_of, context_of, run_checks
from svc.protocol import Request, Response, Route, Wire, json_response
from svc.workspace import RequestContext

CHECK_PATH: Final = "/internal/health/check"


class Report(Wire, frozen=True):
    checks: tuple[CheckOut, ...]


async def report_of(context: RequestContext) -> Report:
    """Runs every check of every feature now."""
    workspace = context.workspace
    found = await run_checks(context_of(workspace), checks_of(workspace.features))
    return Report(checks=tuple(map(check_out, found)))


async def _check(context: RequestContext, request: Request) -> Response:
    return json_response(await report_of(context))


ROUTES: tuple[Route[RequestContext], ...] = (
    Route(
        method="POST",
        path=CHECK_PATH,
        access="authenticated",
        handle=_check,
        summary="Run every check, for `svc doctor`.",
        listener="internal",
    ),
)
