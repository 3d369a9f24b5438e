"""The rows of the surface: the app shell and its files, the probes, ``/trpc``, ``/ws`` and ``health.ping``."""

from __future__ import annotations

from typing import Literal

from svc import __version__
from svc.clock import rfc3339
from svc.feature import Feature
from svc.protocol import PAGE, SEQ_HEADER, Nothing, Procedure, Request, Response, Route, Says, SocketRoute, Wire
from svc.surface import listener, probes
from svc.surface.checks import CHECKS
from svc.surface.listener import Surface
from svc.surface.live import Frame, Listening, live, live_feed
from svc.surface.metrics import METRICS
from svc.worker.probes import ROWS as WORKER
from svc.workspace import RequestContext


class Pong(Wire, frozen=True):
    version: str
    time: str
    ok: Literal[True] = True


async def ping(context: RequestContext, wanted: Nothing) -> Pong:
    return Pong(version=__version__, time=rfc3339(context.workspace.clock.now()))


async def shell(context: RequestContext, request: Request) -> Response:
    return _surface(context).static.shell(request)


async def static_file(context: RequestContext, request: Request) -> Response:
    static, path = _surface(context).static, request.params["path"]
    if (asset := static.unprepared(path)) is not None:
        await context.workspace.threads.run(asset.prepare)
    return static.respond(request, path)


async def service_worker(context: RequestContext, request: Request) -> Response:
    return _surface(context).static.worker(request)


async def rpc(context: RequestContext, request: Request) -> Response:
    seq = context.workspace.store.outbox.head()  # before any call reads: none of them can know less
    response = await _surface(context).rpc.respond(context, request, context.principal_or_none)
    if request.method == "GET" and context.principal_or_none is not None:  # it tells a stranger when mail arrives
        response.headers.append((SEQ_HEADER, str(seq)))
    return response


def _surface(context: RequestContext) -> Surface:
    return context.workspace.service(Surface)


FILE = Says(answers={200: "*/*"})
WORKER_SCRIPT = Says(answers={200: "text/javascript"})
_SHELL_PATHS = ("/", "/login", "/p", "/p/*page", "/settings", "/settings/*section", "/plugins/*note")

_ROUTES: tuple[Route[RequestContext], ...] = (
    *(
        Route(method="GET", path=path, access="public", handle=shell, summary="The web application.", says=PAGE)
        for path in _SHELL_PATHS
    ),
    Route(
        method="GET",
        path="/static/*path",
        access="public",
        handle=static_file,
        summary="The web app's files.",
        says=FILE,
    ),
    Route(
        method="GET",
        path="/sw.js",
        access="public",
        handle=service_worker,
        summary="The app's service worker.",
        says=WORKER_SCRIPT,
    ),
    Route(method="GET", path="/trpc/*procedure", access="public", handle=rpc, summary="RPC queries (access by row)."),
    Route(
        method="POST", path="/trpc/*procedure", access="public", handle=rpc, summary="RPC mutations (access by row)."
    ),
)

FEATURE = Feature(
    name="surface",
    summary="The public listener, the app shell, the probes, RPC and live updates.",
    routes=(*_ROUTES, *probes.ROUTES),
    sockets=(SocketRoute(path="/ws", access="authenticated", handle=live, summary="Live updates from the outbox."),),
    procedures=(
        Procedure(
            name="health.ping",
            kind="query",
            access="public",
            input=Nothing,
            output=Pong,
            call=ping,
            summary="Whether the service answers, its version and its time.",
        ),
        Procedure(
            name="events.live",
            kind="subscription",
            access="authenticated",
            input=Listening,
            output=Frame,
            call=live_feed,
            summary="The frames of `/ws` for these topics, as they come; resumed where a link was lost.",
        ),
    ),
    metrics=METRICS,
    checks=CHECKS,
    build=listener.build,
    boot=listener.boot,
    subsystems=listener.subsystems,
    worker=WORKER,
)
