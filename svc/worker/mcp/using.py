"""One use of a server, within a step: connect, list its tools, and call one if it is still what was agreed to.

A server may change at any time, so its list is read before each call, and a changed list is reported to the trusted
plane.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import trio

from svc.protocol import LinkFault
from svc.worker.mcp.client import Client, words
from svc.worker.mcp.http import reached
from svc.worker.mcp.pins import Seen, digest_of
from svc.worker.mcp.sandbox import sandbox_of
from svc.worker.mcp.stdio import started
from svc.worker.mcp.terms import CALL_S, CONNECT_S, FOUND_PATH, ORDER_PATH, ServerFault
from svc.workflow import Json, Run

MAX_OUTPUT_BYTES: Final = 128 * 1024
"""The part of an MCP tool's answer that the model gets. Beyond: it is cut, and says so."""
_MAX_ORDER_BYTES: Final = 256 * 1024
_OK, _MULTIPLE = 200, 300
CHANGED: Final = (
    "This tool is not what its owner has agreed to any more: the server has changed it. It was not called. A person "
    "has to look at it in Settings, MCP servers."
)
UNKNOWN: Final = "Whether it was done is not known."
NOT_CALLED: Final = "It was not called."


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """How a server is reached. ``launch``: the digest of that. ``never``: what no program may see, whatever its page
    says."""

    kind: Literal["stdio", "http"]
    launch: str
    command: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    never: str = ""


async def look(run: Run, server: str) -> str | None:
    """Report the server's tools to the trusted plane. Returns why it can't be used, in words, or ``None``."""
    try:
        order = await _order(run, server)
        with trio.fail_after(CONNECT_S):
            async with _connected(run, server, order) as client:
                seen = await _seen(client)
        await _tell(run, server, {"launch": order.launch, "seen": msgspec.to_builtins(seen)})
    except ServerFault as fault:
        return str(fault)
    except trio.TooSlowError:
        return f"It is not ready after {CONNECT_S:g} seconds, and was given up."
    return None


async def call_tool(run: Run, server: str, tool: str, arguments: Json, digest: str) -> Json:
    """``{"result": …}`` or ``{"error": …}`` for the model. Whatever the server does, this returns in time, with a
    text."""
    is_asked = False
    try:
        order = await _order(run, server)
        with trio.fail_after(CONNECT_S + CALL_S):
            async with _connected(run, server, order) as client:
                with trio.fail_after(CONNECT_S):
                    seen = await _seen(client)
                wanted = [one for one in seen.tools if digest_of(order.launch, seen.version, one) == digest]
                if not wanted or wanted[0].name != tool:
                    await _tell(run, server, {"launch": order.launch, "seen": msgspec.to_builtins(seen)})
                    return _no("changed", CHANGED)
                is_asked = True
                said = await client.call(wanted[0], arguments)
    except ServerFault as fault:
        return _no("unavailable", f"{server}: {fault} {UNKNOWN if fault.sent else NOT_CALLED}")
    except trio.TooSlowError:
        return _no("unavailable", f"{server}: it took too long. {UNKNOWN if is_asked else NOT_CALLED}")
    text = _cut(said.text)
    return _no("failed", text or "It failed, and said not why.") if said.failed else {"result": text}


@asynccontextmanager
async def _connected(run: Run, server: str, order: Order) -> AsyncIterator[Client]:
    if order.kind == "http":
        async with reached(run, server) as http:
            yield Client(http)
        return
    environ = await _asked(run, "/stdio-env", {"server": server})
    sandbox = sandbox_of(order.command, environ["env"], read=order.read, write=order.write, never=Path(order.never))
    async with started(order.command, environ["env"], sandbox) as stdio:
        yield Client(stdio)


async def _seen(client: Client) -> Seen:
    about = await client.greet()
    tools, left_out = await client.tools()
    return msgspec.structs.replace(about, tools=tools, left_out=left_out)


async def _order(run: Run, server: str) -> Order:
    return msgspec.convert(await _asked(run, ORDER_PATH, {"server": server}), Order)


async def _tell(run: Run, server: str, found: Json) -> None:
    await _asked(run, FOUND_PATH, {"server": server, **found})


async def _asked(run: Run, path: str, body: Json) -> Any:
    """The trusted plane's answer. Raises :class:`ServerFault` with its words."""
    try:
        answer = await run.broker(path, msgspec.json.encode(body), headers={"content-type": "application/json"})
        try:
            data = bytearray()
            while (piece := await answer.receive()) and len(data) <= _MAX_ORDER_BYTES:
                data += piece
        finally:
            await answer.aclose()
        said = msgspec.json.decode(bytes(data) or b"{}")
    except (LinkFault, msgspec.DecodeError) as fault:
        raise ServerFault(f"svc itself gave no answer: {fault}.") from None
    if _OK <= answer.status < _MULTIPLE:
        return said
    raise ServerFault(words(said.get("detail") or f"svc answers {answer.status}"))


def _cut(text: str) -> str:
    data = text.encode()
    if len(data) <= MAX_OUTPUT_BYTES:
        return text
    kept = data[:MAX_OUTPUT_BYTES].decode("utf-8", "ignore")
    return f"{kept}\n[Cut: it has {len(data)} bytes.]"


def _no(code: str, message: str) -> Json:
    return {"error": {"code": code, "message": message}}
