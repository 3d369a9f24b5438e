"""``/livez``, ``/readyz`` and ``/health``: does the process answer, and can it serve. Public, and open to any Host."""

from __future__ import annotations

from svc.protocol import Request, Response, Route, json_response
from svc.store import ReadTx
from svc.workspace import Call

_NOT_SERVING = frozenset({"failed", "restarting"})


async def livez(call: Call, request: Request) -> Response:
    return json_response({"status": "ok"})


async def readyz(call: Call, request: Request) -> Response:
    """200 only while everything that a request may need is there. One account's trouble is not the service's.

    On a full disk the service is ready all the same: who reads, or signs out, is served; ``database`` says ``full``.
    """
    database = await _database(call)
    checks = {
        "database": database,
        "migrations": "ok",  # the database is open, so they were applied: nothing runs on an older schema
        "engine": _engine(call, no_room=database == "full"),
    }
    status = _status(checks)
    return json_response({"status": status, "checks": checks}, status=200 if status == "ready" else 503)


async def _database(call: Call) -> str:
    if call.workspace.store.broken:
        return "failed"
    try:
        await call.workspace.store.read(_answers)
    except Exception as error:  # an edge: whatever it is, the answer is that it does not answer
        call.workspace.log.error("readyz.database_failed", error)
        return "failed"
    return "full" if call.workspace.store.full or call.workspace.blobs.full else "ok"


def _answers(tx: ReadTx) -> None:
    tx.value("select 1")


def _engine(call: Call, *, no_room: bool) -> str:
    """``no_room``: who only starts again because nothing can be written has not failed."""
    root = call.workspace.root
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


ROUTES: tuple[Route[Call], ...] = (
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
