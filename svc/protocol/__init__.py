"""The network protocols: HTTP/1.1 on h11, WebSocket on wsproto, tRPC, routing, guarding, static files, and the outgoing
client.

Features import only this face, except for the outgoing clients (``egress``, ``pinned``), which the worker plane does
not load. The protocol knows no feature, no store and no nursery: the caller hands in how a principal is found, the
context of a row's function and when to drain.
"""

from svc.protocol.application import Application
from svc.protocol.asgi import AsgiFace
from svc.protocol.cookies import clear_cookie, cookie, set_cookie
from svc.protocol.direct import is_readable
from svc.protocol.drain import Drain
from svc.protocol.forwarded import NEAR_NETWORKS, Forwarded
from svc.protocol.guard import Guard, LoopbackGuard, MachinesGuard, is_rpc
from svc.protocol.http1 import serve_connection
from svc.protocol.idle import Idle
from svc.protocol.limits import DEFAULT_LIMITS, Limits
from svc.protocol.link import Connect, Link, LinkAnswer, LinkFault, LinkStream
from svc.protocol.memory import stream_pair
from svc.protocol.message_bound import BoundConnection
from svc.protocol.messages import (
    JSON,
    SEQ_HEADER,
    BodyReader,
    FileBody,
    Headers,
    Producer,
    Request,
    Response,
    json_response,
    redirect,
)
from svc.protocol.response_head import encode_head
from svc.protocol.router import Router
from svc.protocol.rows import (
    NOTHING,
    PAGE,
    Access,
    Feed,
    Listener,
    Nothing,
    Procedure,
    ProcedureKind,
    Route,
    Says,
    SocketRoute,
    Tell,
    Wire,
)
from svc.protocol.security import secure_headers
from svc.protocol.socket import Nudge, Socket, SocketClosed, encode_text_frame
from svc.protocol.static import Asset, StaticTree
from svc.protocol.traffic import Traffic
from svc.protocol.trpc import RpcLayer
from svc.protocol.websocket import SocketLimits

__all__ = [
    "DEFAULT_LIMITS",
    "JSON",
    "NEAR_NETWORKS",
    "NOTHING",
    "PAGE",
    "SEQ_HEADER",
    "Access",
    "Application",
    "AsgiFace",
    "Asset",
    "BodyReader",
    "BoundConnection",
    "Connect",
    "Drain",
    "Feed",
    "FileBody",
    "Forwarded",
    "Guard",
    "Headers",
    "Idle",
    "Limits",
    "Link",
    "LinkAnswer",
    "LinkFault",
    "LinkStream",
    "Listener",
    "LoopbackGuard",
    "MachinesGuard",
    "Nothing",
    "Nudge",
    "Procedure",
    "ProcedureKind",
    "Producer",
    "Request",
    "Response",
    "Route",
    "Router",
    "RpcLayer",
    "Says",
    "Socket",
    "SocketClosed",
    "SocketLimits",
    "SocketRoute",
    "StaticTree",
    "Tell",
    "Traffic",
    "Wire",
    "clear_cookie",
    "cookie",
    "encode_head",
    "encode_text_frame",
    "is_readable",
    "is_rpc",
    "json_response",
    "redirect",
    "secure_headers",
    "serve_connection",
    "set_cookie",
    "stream_pair",
]
