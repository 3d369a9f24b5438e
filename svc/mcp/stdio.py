"""``svc mcp``: the same tools for clients that start a program. It sends each input line to ``POST /mcp``, and prints
the answer.

It is a client like any other: it knows an address and a token, and no home. It ends when its standard input ends.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec
import trio

from svc.command import OK, Argument, Command, Invocation
from svc.mcp.settings import TOKEN, URL
from svc.nursery import open_task_group
from svc.protocol.egress import Egress, EgressFault, EgressResponse
from svc.worker.mcp import protocol

ANSWER_S: Final = 120.0
"""One answer of the service. Beyond: the client is told that there was none."""
MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
"""An answer that `svc mcp` passes on. Beyond: the client is told that there was none."""
AT_A_TIME: Final = 8
FAILURE: Final = 1
_JSON: Final = "application/json"
_UNAUTHENTICATED: Final = 401
_OK: Final = 200


@dataclass(frozen=True, kw_only=True)
class Service:
    """Its address, and the token for it."""

    url: str
    headers: Mapping[str, str]
    level: str
    egress: Egress

    async def post(self, body: bytes) -> EgressResponse:
        """Raises :class:`EgressFault`."""
        return await self.egress.request(
            "POST",
            f"{self.url.rstrip('/')}/mcp?level={self.level}",
            headers=self.headers,
            body=body,
            deadline_s=ANSWER_S,
            limit_bytes=MAX_ANSWER_BYTES,
        )


async def serve(url: str, token: str | None, *, level: str) -> int:
    headers = {"content-type": _JSON, "accept": _JSON, **({"x-svc-device-token": token} if token else {})}
    async with Egress() as egress:
        service = Service(url=url, headers=headers, level=level, egress=egress)
        problem = await _problem(service, token)
        if problem:
            print(problem, file=sys.stderr)
            return FAILURE
        limiter, lock = trio.CapacityLimiter(AT_A_TIME), trio.Lock()
        async with open_task_group() as nursery:
            lines = trio.wrap_file(sys.stdin.buffer)
            while line := await lines.readline(protocol.MAX_MESSAGE_BYTES + 1):
                if line.strip():
                    await limiter.acquire_on_behalf_of(task := object())
                    nursery.start_soon(_pass_on, service, line, lock, limiter, task)
    return OK


async def _problem(service: Service, token: str | None) -> str:
    """Why the service can't be used, in words; empty if it can."""
    try:
        answer = await service.post(b'{"jsonrpc":"2.0","id":0,"method":"ping"}')
    except (EgressFault, ValueError) as fault:
        return f"No svc answers at {service.url} ({fault}). Set {URL.name}."
    if answer.status == _UNAUTHENTICATED:
        what = "does not open it (it is unknown or revoked)" if token else "is not set"
        return f"{service.url} wants the token of a device, and {TOKEN.name} {what}. Pair one under Settings, Devices."
    return "" if answer.status == _OK else f"{service.url} answers {answer.status} to MCP."


async def _pass_on(service: Service, line: bytes, lock: trio.Lock, limiter: trio.CapacityLimiter, task: object) -> None:
    try:
        told = await _told(service, line)
    finally:
        limiter.release_on_behalf_of(task)
    if told:
        async with lock:
            await trio.to_thread.run_sync(_write, told)


async def _told(service: Service, line: bytes) -> bytes:
    try:
        asked = protocol.read(line)
    except protocol.Fault as fault:
        return msgspec.json.encode(protocol.refusal(None, fault))
    try:
        answer = await service.post(line)
    except EgressFault as fault:
        return _fault(asked, f"No answer of {service.url}: {fault}")
    if answer.body and (answer.headers.get("content-type") or "").startswith(_JSON):
        return answer.body
    return b"" if answer.status < 300 else _fault(asked, f"{service.url} answers {answer.status}.")


def _fault(asked: protocol.Message, words: str) -> bytes:
    if asked.id is None:
        return b""
    return msgspec.json.encode(protocol.refusal(asked.id, protocol.Fault(protocol.INTERNAL_ERROR, words)))


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line.replace(b"\n", b" ") + b"\n")
    sys.stdout.buffer.flush()


def run(invocation: Invocation) -> int:
    config = invocation.config
    return trio.run(_serve, config[URL], config[TOKEN], str(invocation.given["level"]))


async def _serve(url: str, token: str | None, level: str) -> int:
    return await serve(url, token, level=level)


COMMAND: Final = Command(
    name="mcp",
    summary="serve this workspace's tools to an MCP client, through standard input and output",
    run=run,
    arguments=(
        Argument(name="--level", choices=("read", "mail", "full"), default="full", help="which tools are shown (full)"),
    ),
    bears_faults=True,
)
