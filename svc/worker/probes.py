"""``/livez`` and ``/readyz`` on the worker's control port: whether the process answers, and whether its subsystems
run."""

from __future__ import annotations

from typing import Final

from svc.nursery import verdict_on
from svc.protocol import Request, Response, Route, json_response
from svc.worker.rows import WorkerRows
from svc.workspace import ScrubbedContext


async def livez(context: ScrubbedContext, request: Request) -> Response:
    return json_response({"status": "ok"})


async def readyz(context: ScrubbedContext, request: Request) -> Response:
    engine = verdict_on(context.workspace.root)
    ready = engine == "ok"
    said = {"status": "ready" if ready else engine, "checks": {"engine": engine}}
    return json_response(said, status=200 if ready else 503)


ROWS: Final = WorkerRows(
    routes=(
        Route(
            method="GET",
            path="/livez",
            access="authenticated",
            handle=livez,
            summary="Process liveness.",
            listener="internal",
        ),
        Route(
            method="GET",
            path="/readyz",
            access="authenticated",
            handle=readyz,
            summary="Whether the worker's subsystems run.",
            listener="internal",
        ),
    )
)
