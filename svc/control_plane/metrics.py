"""The numbers of the escrow service, for Prometheus. None of them names a tenant, a cell or a credential."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Final

from svc import __version__
from svc.control_plane.plane import Plane
from svc.control_plane.settings import METRICS_TOKEN
from svc.errors import Unauthenticated
from svc.exposition import CONTENT_TYPE, Values, text_of
from svc.protocol import Request, Response
from svc.settings import is_loopback


@dataclass(frozen=True, kw_only=True)
class _Number:
    name: str
    kind: str
    help: str
    labels: tuple[str, ...] = ()


async def metrics(plane: Plane, request: Request) -> Response:
    if not _may(plane, request):
        raise Unauthenticated("Only from this machine, or with the token that is set for it.")
    pool = plane.database.statistics()
    values: list[tuple[_Number, Values]] = [
        (_INFO, {(__version__,): 1}),
        (_ANSWERS, {(path, str(status)): n for (path, status), n in plane.traffic.answers.items()}),
        (_SECONDS, {(path,): took for path, took in plane.traffic.durations.items()}),
        (_CALLS, {(action, outcome): n for (action, outcome), n in plane.outcomes.items()}),
        (_FLIGHT, {(): plane.calls}),
        (_WAITING, {(): plane.database.waiting}),
        (
            _POOL,
            {
                ("open",): pool.get("pool_size", 0),
                ("idle",): pool.get("pool_available", 0),
                ("most",): pool.get("pool_max", 0),
            },
        ),
        (_FAULTS, {("lost",): pool.get("connections_lost", 0), ("refused",): pool.get("connections_errors", 0)}),
        (_DRAINING, {(): int(plane.draining)}),
    ]
    text = text_of(values)
    return Response(headers=[("content-type", CONTENT_TYPE), ("cache-control", "no-store")], body=text.encode())


def _may(plane: Plane, request: Request) -> bool:
    token = plane.config[METRICS_TOKEN]
    said = request.headers.get("authorization") or ""
    if token is not None and hmac.compare_digest(said.encode(), f"Bearer {token}".encode()):
        return True
    forwarded = any(name == "forwarded" or name.startswith("x-forwarded-") for name, _ in request.headers.items())
    return is_loopback(request.peer) and not forwarded


_INFO: Final = _Number(name="svc_escrow_info", kind="gauge", help="The version that runs.", labels=("version",))
_ANSWERS: Final = _Number(
    name="svc_escrow_requests_total",
    kind="counter",
    help="Requests that were answered, by the path of their row.",
    labels=("route", "status"),
)
_SECONDS: Final = _Number(
    name="svc_escrow_request_seconds",
    kind="histogram",
    help="From the head of a request to the beginning of its answer.",
    labels=("route",),
)
_CALLS: Final = _Number(
    name="svc_escrow_calls_total",
    kind="counter",
    help="What calls of credentials came to, as the audit has it; unknown-token stands in no audit.",
    labels=("action", "outcome"),
)
_FLIGHT: Final = _Number(name="svc_escrow_calls_in_flight", kind="gauge", help="Calls that are worked on.")
_WAITING: Final = _Number(name="svc_escrow_calls_waiting", kind="gauge", help="Calls that wait for a connection.")
_POOL: Final = _Number(
    name="svc_escrow_connections", kind="gauge", help="Connections to the database.", labels=("which",)
)
_FAULTS: Final = _Number(
    name="svc_escrow_connections_failed_total",
    kind="counter",
    help="Connections that broke in the pool, and those that could not be made.",
    labels=("how",),
)
_DRAINING: Final = _Number(name="svc_escrow_draining", kind="gauge", help="1 while the service shuts down.")
