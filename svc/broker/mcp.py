"""``/internal/broker/mcp/:server(/*)`` and ``stdio-env``: MCP servers as declared, with their credentials added."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from svc.broker import headers
from svc.broker.asking import Call, call_of, wanted
from svc.broker.forwarding import HEAD_S, IDLE_S, Passing, Streamed, forwarded
from svc.broker.in_flight import MAX_BODY_BYTES, InFlight
from svc.broker.llm import PREFIX
from svc.broker.mcp_servers import FromCapability, LocalServer, McpServers, RemoteServer, Value
from svc.broker.outside import Outside
from svc.broker.redaction import Redactor
from svc.errors import Conflict, Forbidden
from svc.protocol import Request, Response, Route, Wire, json_response
from svc.protocol.rows import Method
from svc.settings import PROFILE
from svc.switches import STDIO_MCP, is_on
from svc.workspace import RequestContext

KEPT_FOR_SERVERS: Final = "mcp."
"""The prefix of the credentials that any user's declaration may name."""

_SEGMENTS_BEFORE: Final = len(f"{PREFIX}/mcp/server".split("/"))
_METHODS: Final[tuple[Method, ...]] = ("GET", "POST", "DELETE")
_PASSES: Final = frozenset({"last-event-id"})
_PREFIXES: Final = ("mcp-",)
_UNAUTHENTICATED: Final = 401
_FORBIDDEN: Final = 403


class StdioEnvInput(Wire, frozen=True):
    server: str


class StdioEnvOut(Wire, frozen=True):
    env: dict[str, str]


async def pass_on(context: RequestContext, request: Request) -> Response:
    call = await call_of(context, request)
    with (slot := call.enter(request)):
        name = request.params["server"]
        await call.demand(KEPT_FOR_SERVERS + name, purpose="mcp")
        server = await call.workspace.service(McpServers).find(call.grant.principal, name)
        if not isinstance(server, RemoteServer):
            raise Conflict(f"{name} is a program that the worker runs; it has no address.")
        passed = headers.of_call(request.headers, allowed=_PASSES, prefixes=_PREFIXES)
        body = await request.read(MAX_BODY_BYTES)
        values, secrets = await filled(call, server.headers, server=name, by_admin=server.by_admin)
        redactor = Redactor(secrets)
        fields = passed | {field.lower(): value for field, value in values.items()}
        send = partial(_send, call, server, request.method, address(server.url, request), body=body)
        in_flight = call.workspace.service(InFlight)
        return await forwarded(
            partial(_signed, server, send, fields, redactor),
            redactor=redactor,
            shown=_PREFIXES,
            passing=lambda answer: Passing(answer=answer, redactor=redactor, slot=slot, in_flight=in_flight),
        )


async def _signed(
    server: RemoteServer,
    send: Callable[[Mapping[str, str]], Awaitable[Streamed]],
    fields: Mapping[str, str],
    redactor: Redactor,
) -> Streamed:
    """Send the call with the token that a person granted there, if the server wants one. After a 401 nothing was done,
    so it is sent once more.
    """
    if server.sign_in is None:
        return await send(fields)
    token = await server.sign_in.token()
    answer = await send(_bearing(fields, token, redactor))
    if answer.status == _UNAUTHENTICATED and token is not None:
        await answer.aclose()
        token = await server.sign_in.renewed(token)
        answer = await send(_bearing(fields, token, redactor))
    challenge = ", ".join(answer.headers.all("www-authenticate"))
    if answer.status == _UNAUTHENTICATED or (answer.status == _FORBIDDEN and challenge):
        await server.sign_in.challenged(challenge)
    return answer


def _bearing(fields: Mapping[str, str], token: str | None, redactor: Redactor) -> Mapping[str, str]:
    if token is None:
        return fields
    redactor.cover(token)
    return {**fields, "authorization": f"Bearer {token}"}


async def _send(
    call: Call, server: RemoteServer, method: str, url: str, fields: Mapping[str, str], *, body: bytes
) -> Streamed:
    """Only a server that may be inside is reached in this machine's own network, and none under the profile ``cloud``:
    all others are reached by the client that connects to public servers alone."""
    workspace = call.workspace
    if server.may_be_inside and workspace.config[PROFILE] == "local":
        return await workspace.egress.open(method, url, headers=fields, body=body, head_s=HEAD_S, idle_s=IDLE_S)
    pinned = workspace.service(Outside).pinned
    return await pinned.open(method, url, headers=fields, body=body, head_s=HEAD_S, idle_s=IDLE_S)


def address(declared: str, request: Request) -> str:
    """The declared address, followed by the path that the run wrote after the server's name."""
    parts = urlsplit(declared)
    rest = request.raw_path.split("/")[_SEGMENTS_BEFORE:]
    path = parts.path.rstrip("/") + "/" + "/".join(rest) if rest else parts.path
    query = "&".join(part for part in (parts.query, request.raw_query) if part)
    return urlunsplit((parts.scheme, parts.netloc, path, query, ""))


async def filled(
    call: Call, declared: Mapping[str, Value], *, server: str, by_admin: bool
) -> tuple[dict[str, str], list[str]]:
    """The declared values with their credentials filled in, and the credentials. Raises 403 and 501."""
    values: dict[str, str] = {}
    secrets: list[str] = []
    for field, value in declared.items():
        if isinstance(value, FromCapability):
            if not by_admin and not value.name.startswith(KEPT_FOR_SERVERS):
                raise Forbidden(f"Only an admin's declaration may name {value.name}.", data={"reason": "not_granted"})
            found = await call.credential(value.name, purpose=f"mcp {server}")
            if len(found) != 1:
                raise Conflict(f"{value.name} has several fields: it can't stand for one value.")
            secrets += found.values()
            values[field] = secrets[-1]
        else:
            values[field] = value
    return values, secrets


async def stdio_env(context: RequestContext, request: Request) -> Response:
    call = await call_of(context, request)
    name = (await wanted(request, StdioEnvInput)).server
    await call.demand(KEPT_FOR_SERVERS + name, purpose="stdio-env")
    if not is_on(call.workspace.config, STDIO_MCP):
        raise Forbidden("MCP servers run as programs under SVC_PROFILE=local only.", data={"reason": "profile"})
    servers = call.workspace.service(McpServers)
    server = await servers.find(call.grant.principal, name)
    if not isinstance(server, LocalServer):
        raise Conflict(f"{name} is reached at an address; nothing is started for it.")
    servers.use_spawn(call.grant.run_id, name)
    env, _ = await filled(call, server.env, server=name, by_admin=True)
    return json_response(StdioEnvOut(env=env))


ROUTES: Final[tuple[Route[RequestContext], ...]] = (
    *(
        Route(
            method=method,
            path=f"{PREFIX}/mcp/:server{rest}",
            access="authenticated",
            handle=pass_on,
            summary="A declared MCP server, with its headers put in.",
            listener="internal",
        )
        for rest in ("", "/*path")
        for method in _METHODS
    ),
    Route(
        method="POST",
        path=f"{PREFIX}/stdio-env",
        access="authenticated",
        handle=stdio_env,
        summary="The environment of an MCP server that the worker may start, once.",
        listener="internal",
    ),
)
