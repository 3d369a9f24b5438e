"""``/livez``, ``/readyz`` and ``/health``: whether the process answers, and whether it can serve. Public, for any
Host."""

from __future__ import annotations

from typing import Final, Literal

from svc.health import Found, checks_of, context_of, run_checks
from svc.protocol import Request, Response, Route, Says, Wire, json_response
from svc.workspace import RequestContext


class Live(Wire, frozen=True):
    status: Literal["ok"] = "ok"


class ReadyState(Wire, frozen=True):
    """``checks``: one word for each check; `ok` if it is well."""

    status: Literal["ready", "starting", "draining", "failed"]
    checks: dict[str, str]


LIVE: Final = Says(answers={200: Live})
READY: Final = Says(answers={200: ReadyState, 503: ReadyState})


async def livez(context: RequestContext, request: Request) -> Response:
    return json_response(Live())


async def readyz(context: RequestContext, request: Request) -> Response:
    """200 only while everything that a request may need works. Trouble with one account does not count.

    The checks are rows of the features, those that are meant to be shown here. On a full disk the service is still
    ready, because it can serve reads and sign-outs; ``database`` is then ``full``.
    """
    workspace = context.workspace
    rows = [row for row in checks_of(workspace.features) if row.readyz != "never"]
    found = await run_checks(context_of(workspace), rows)
    checks = {one.check.name: word for one in found if (word := _public(one))}
    status = _status(checks)
    return json_response(ReadyState(status=status, checks=checks), status=200 if status == "ready" else 503)


def _public(found: Found) -> str:
    """The public word for a finding, never the reason. Some findings are left out while all is well."""
    if found.finding.state == "ok" and found.check.readyz == "trouble":
        return ""
    return found.finding.public or ("failed" if found.finding.state == "failed" else "ok")


def _status(checks: dict[str, str]) -> Literal["ready", "starting", "draining", "failed"]:
    verdicts: tuple[Literal["failed", "draining", "starting"], ...] = ("failed", "draining", "starting")
    for verdict in verdicts:
        if verdict in checks.values():
            return verdict
    return "ready"


ROUTES: tuple[Route[RequestContext], ...] = (
    Route(
        method="GET",
        path="/livez",
        access="authenticated",
        handle=livez,
        summary="Process liveness, for the worker plane.",
        listener="internal",
    ),
    Route(
        method="GET",
        path="/readyz",
        access="authenticated",
        handle=readyz,
        summary="Readiness, for the worker plane.",
        listener="internal",
    ),
    Route(
        method="GET",
        path="/livez",
        access="public",
        handle=livez,
        summary="Process liveness.",
        host_exempt=True,
        says=LIVE,
    ),
    Route(
        method="GET",
        path="/readyz",
        access="public",
        handle=readyz,
        summary="Readiness: database, migrations, engine.",
        says=READY,
        host_exempt=True,
    ),
    Route(
        method="GET",
        path="/health",
        access="public",
        handle=readyz,
        summary="Alias of readiness.",
        says=READY,
        host_exempt=True,
    ),
)
