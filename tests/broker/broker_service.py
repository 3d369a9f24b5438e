"""The service with runs that hold tokens, and servers on real sockets in place of the outside services."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import trio

from svc.clock import DAY_MS, VirtualClock
from svc.runs import begin
from svc.runs.leasing import lease
from svc.store import Tx
from svc.workflow import Json, Run, Workflow
from tests.protocol.raw_server import Script, Server, served
from tests.recorded_log import RecordedLog
from tests.support.http import Reply
from tests.support.service import Service, open_service

OWN: Final = "127.0.0.1:4782"
BROKER: Final = "/internal/broker"
KEY_A: Final = "canary-key-of-vendor-a"
KEY_B: Final = "canary-key-of-vendor-b"
KEYS: Final = {"a": KEY_A, "b": KEY_B}


@dataclass(frozen=True)
class Heard:
    """A request as a vendor got it."""

    line: str
    headers: Mapping[str, str]
    body: bytes

    @classmethod
    def read(cls, raw: bytes) -> Heard:
        head, _, body = raw.partition(b"\r\n\r\n")
        line, *fields = head.decode("latin-1").split("\r\n")
        return cls(
            line, {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in fields)}, body
        )


def checked(server: Server, script: Script, *, vendor: str) -> Script:
    """A vendor: it answers by ``script`` if the key is right, and otherwise with 401 and the key it was given."""

    async def answer(stream: trio.SocketStream) -> None:
        given = Heard.read(server.heard[-1]).headers
        key = given.get("x-api-key" if vendor == "a" else "authorization", "").removeprefix("Bearer ")
        if key == KEYS[vendor]:
            await script(stream)
        else:
            body = json.dumps({"error": {"message": f"invalid x-api-key: {key}"}})
            await stream.send_all(f"HTTP/1.1 401 Unauthorized\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

    return answer


@asynccontextmanager
async def vendor_with(script: Script, *, vendor: str) -> AsyncIterator[tuple[Server, str]]:
    async with served(script) as (server, url):
        server.script = checked(server, script, vendor=vendor)
        yield server, url


@asynccontextmanager
async def open_broker(
    directory: Path, *, clock: VirtualClock, log: RecordedLog, keys: bool = True, **settings: str
) -> AsyncIterator[Service]:
    """Real providers, so that requests go out over the network."""
    given = {"LLM_A_API_KEY": KEY_A, "LLM_B_API_KEY": KEY_B, "STT_API_KEY": "canary-stt"} if keys else {}
    async with open_service(directory, clock=clock, log=log, environ={**given, **settings}) as service:
        yield service


async def nothing(run: Run, input: Json) -> Json:
    return None


async def run_token(service: Service, *capabilities: str) -> str:
    """The token of a run that was granted these."""
    workflow = Workflow(name="scratch", version=1, title="", code=nothing, capabilities=capabilities)

    def mint(tx: Tx) -> str:
        run_id = begin(tx, None, workflow, None)
        token = next(leased.token for leased in lease(tx, "elsewhere") if leased.run.id == run_id)
        # No worker holds it, which would renew its lease.
        tx.run("update runs set due_at = :later where id = :id", later=tx.now + DAY_MS, id=run_id)
        return token

    return await service.workspace.store.write(mint)


def internal_fields(
    service: Service, run: str | None, fields: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    token = (service.workspace.home.path / "run" / "internal.token").read_text()
    said = {"authorization": f"Bearer {token}", **fields}
    return said if run is None else {"x-svc-run": run, **said}


async def ask(
    service: Service,
    path: str,
    body: object = None,
    *,
    run: str | None,
    method: str = "POST",
    fields: Mapping[str, str] = MappingProxyType({}),
) -> Reply:
    """One call of the worker plane. ``body`` is sent as JSON, or as it is where it is bytes."""
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    named = {"content-type": "application/json", **fields}
    return await service.ask(
        method,
        f"{BROKER}{path}",
        data,
        host=OWN,
        fields=internal_fields(service, run, named),
        listener=service.internal,
    )


async def begun(
    service: Service, path: str, body: object, *, run: str, declared: int | None = None
) -> trio.abc.HalfCloseableStream:
    """The same, with its answer still to be read from the stream."""
    data = json.dumps(body).encode()
    fields = internal_fields(service, run, {"host": OWN, "content-length": str(declared or len(data))})
    stream = await service.internal.connect()
    lines = [f"POST {BROKER}{path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    await stream.send_all("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
    return stream


async def usage(service: Service) -> tuple[Any, ...]:
    """Tokens in and out that all runs have used."""
    (row,) = await service.rows("select sum(input_tokens), sum(output_tokens) from runs")
    return row


async def audited(service: Service) -> list[tuple[Any, ...]]:
    rows = await service.rows(
        "select name, actor, outcome, run_id from capability_audit where run_id is not null order by seq"
    )
    return [tuple(row[:3]) for row in rows]
