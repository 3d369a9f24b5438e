"""The numbers of the surface: requests, how long they took, connections and sockets."""

from __future__ import annotations

from svc.metric import Metric, Values
from svc.surface.listener import Surface
from svc.workspace import Workspace


async def _requests(workspace: Workspace) -> Values:
    answers = workspace.service(Surface).traffic.answers
    return {(path, str(status)): count for (path, status), count in answers.items()}


async def _durations(workspace: Workspace) -> Values:
    return {(path,): durations for path, durations in workspace.service(Surface).traffic.durations.items()}


async def _sockets(workspace: Workspace) -> Values:
    return {(path,): count for path, count in workspace.service(Surface).traffic.sockets.items()}


async def _connections(workspace: Workspace) -> Values:
    count = workspace.service(Surface).open_connections
    return {} if count is None else {(): count}


METRICS = (
    Metric(
        name="svc_http_requests_total",
        kind="counter",
        help="Requests that were answered, by the path of their row; 101: sockets that were opened.",
        read=_requests,
        labels=("route", "status"),
    ),
    Metric(
        name="svc_http_request_seconds",
        kind="histogram",
        help="From the head of a request to the beginning of its answer.",
        read=_durations,
        labels=("route",),
    ),
    Metric(name="svc_sockets_open", kind="gauge", help="WebSockets now open.", read=_sockets, labels=("route",)),
    Metric(name="svc_http_connections", kind="gauge", help="Connections to the public port.", read=_connections),
)
