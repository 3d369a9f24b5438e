"""``/livez``, ``/readyz`` and ``/health``: does the process answer, and can it serve. Public, and open to any Host."""

from __future__ import annotations

from svc.nursery import Root
from svc.protocol import Request, Response, Route, json_response
from svc.store import Following, Lag, ReadTx, damage, lags
from svc.workspace import RequestContext, ScrubbedContext

_NOT_SERVING = frozenset({"failed", "restarting"})


async def livez(context: RequestContext, request: Request) -> Response:
    return json_response({"status": "ok"})


async def readyz(context: RequestContext, request: Request) -> Response:
    """200 only while everything that a request may need is there. One account's trouble is not the service's.

    On a full disk the service is ready all the same: who reads, or signs out, is served; ``database`` says ``full``.
    """
    database = await _database(context)
    checks = {
        "database": database,
        "migrations": "ok",  # the database is open, so they were applied: nothing runs on an older schema
        "engine": engine_state(context.workspace.root, no_room=database == "full"),
        "consumers": "failed" if database == "failed" else await _consumers(context),
    }
    if database != "failed" and (damaged := await _damaged(context)):
        checks["blobs"] = damaged
    status = _status(checks)
    return json_response({"status": status, "checks": checks}, status=200 if status == "ready" else 503)


async def _database(context: RequestContext) -> str:
    if context.workspace.store.broken:
        return "failed"
    try:
        await context.workspace.store.read(_answers)
        no_room = await context.workspace.blobs.is_full()
    except Exception as error:  # an edge: whatever it is, the answer is that it does not answer
        context.workspace.log.error("readyz.database_failed", error)
        return "failed"
    return "full" if no_room or context.workspace.store.full else "ok"


async def _damaged(context: RequestContext) -> str:
    """In words, if there is any: a damaged item is that item's trouble, and the service's readiness is not in it."""
    found = await context.workspace.store.read(damage.counts)
    if not found.damaged:
        return ""
    return f"{found.damaged} damaged, {found.lost} of them can't be mended"


async def _consumers(context: RequestContext) -> str:
    """Which durable consumers are behind: that delays, it keeps nobody from being served. Why one fails, the log tells:
    everybody may read this."""
    following = context.workspace.service(Following)
    behind = [_told(lag) for lag in await context.workspace.store.read(lags, following.rows) if _is_behind(lag)]
    return "; ".join(behind) or "ok"


def _is_behind(lag: Lag) -> bool:
    return lag.events > 0 or lag.passed_over > 0


def _told(lag: Lag) -> str:
    waiting = f"{lag.name}: {lag.events} events wait" + (", it fails and tries again" if lag.problem else "")
    return waiting + (f", {lag.passed_over} could not be dealt with" if lag.passed_over else "")


def _answers(tx: ReadTx) -> None:
    tx.value("select 1")


def engine_state(root: Root, *, no_room: bool = False) -> str:
    """``no_room``: who only starts again because nothing can be written has not failed."""
    if root.draining:
        return "draining"
    phases = {name: state.phase for name, state in root.states().items() if not name.startswith("mail:")}
    if any(phase == "starting" for phase in phases.values()):
        return "starting"
    if any(phase in _NOT_SERVING and not (no_room and phase == "restarting") for phase in phases.values()):
        return "failed"
    return "ok"


def _status(checks: dict[str, str]) -> str:
    for verdict in ("failed", "draining", "starting"):
        if verdict in checks.values():
            return verdict
    return "ready"


async def worker_livez(context: ScrubbedContext, request: Request) -> Response:
    return json_response({"status": "ok"})


async def worker_readyz(context: ScrubbedContext, request: Request) -> Response:
    engine = engine_state(context.workspace.root)
    status = _status({"engine": engine})
    return json_response({"status": status, "checks": {"engine": engine}}, status=200 if status == "ready" else 503)


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
    Route(method="GET", path="/livez", access="public", handle=livez, summary="Process liveness.", host_exempt=True),
    Route(
        method="GET",
        path="/readyz",
        access="public",
        handle=readyz,
        summary="Readiness: database, migrations, engine.",
        host_exempt=True,
    ),
    Route(
        method="GET",
        path="/health",
        access="public",
        handle=readyz,
        summary="Alias of readiness.",
        host_exempt=True,
    ),
)

WORKER_ROUTES: tuple[Route[ScrubbedContext], ...] = (
    Route(
        method="GET",
        path="/livez",
        access="authenticated",
        handle=worker_livez,
        summary="Process liveness.",
        listener="internal",
    ),
    Route(
        method="GET",
        path="/readyz",
        access="authenticated",
        handle=worker_readyz,
        summary="Whether the worker's subsystems run.",
        listener="internal",
    ),
)
