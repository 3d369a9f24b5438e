"""A few procedures of every kind, and requests to them: what the tRPC tests share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import trio

from svc.errors import Conflict, Refusal
from svc.log import Log
from svc.principal import Principal
from svc.protocol.messages import BytesBody, Headers, Request, Response, pour
from svc.protocol.rows import NOTHING, Access, Nothing, Procedure, ProcedureKind, Wire
from svc.protocol.trpc import RpcLayer

ADMIN = Principal(user_id="usr_a", device_id="dev_a", is_admin=True, via="session")
MEMBER = Principal(user_id="usr_m", device_id="dev_m", is_admin=False, via="session")


class GreetInput(Wire, frozen=True):
    name: str
    times_over: int = 1


class OptionalInput(Wire, frozen=True):
    section: str = "inbox"


class Greeting(Wire, frozen=True):
    hello_text: str
    odd: float = float("nan")


class AddInput(Wire, frozen=True):
    amount: int
    delay_s: float = 0


@dataclass
class SomeProcedures:
    """``seen`` is what procedures did, in order."""

    log: Log
    seen: list[str] = field(default_factory=list)
    running: int = 0
    most_running: int = 0

    def __post_init__(self) -> None:
        self.layer: RpcLayer[str] = RpcLayer(self.procedures(), log=self.log)

    def procedures(self) -> list[Procedure[str]]:
        def row(name: str, kind: ProcedureKind, call: Any, wanted: type, access: Access = "public") -> Procedure[str]:
            return Procedure(
                name=name,
                kind=kind,
                access=access,
                input=wanted,
                output=object,
                call=call,
                summary="",
            )

        return [
            row("health.ping", "query", self.ping, Nothing),
            row("greet", "query", self.greet, GreetInput),
            row("list", "query", self.list, OptionalInput),
            row("nothing", "query", self.nothing, Nothing),
            row("mine", "query", self.ping, Nothing, access="authenticated"),
            row("theirs", "query", self.ping, Nothing, access="admin"),
            row("bug", "query", self.bug, Nothing),
            row("unsayable", "query", self.unsayable, Nothing),
            row("conflict", "query", self.conflict, Nothing),
            row("busy", "query", self.busy, Nothing),
            row("slow", "query", self.slow, AddInput),
            row("add", "mutation", self.add, AddInput, access="authenticated"),
            row("touch", "mutation", self.touch, OptionalInput),
        ]

    async def ping(self, context: str, wanted: Nothing) -> str:
        return "pong"

    async def greet(self, context: str, wanted: GreetInput) -> Greeting:
        return Greeting(hello_text=" ".join([wanted.name] * wanted.times_over))

    async def list(self, context: str, wanted: OptionalInput) -> list[str]:
        return [wanted.section]

    async def nothing(self, context: str, wanted: Nothing) -> None:
        return None

    async def bug(self, context: str, wanted: Nothing) -> str:
        raise ValueError("the secret reason")

    async def unsayable(self, context: str, wanted: Nothing) -> str:
        return "\ud800"

    async def conflict(self, context: str, wanted: Nothing) -> str:
        raise Conflict("Somebody was faster \ud800.", data={"revision": 7, "code": "mine"})

    async def busy(self, context: str, wanted: Nothing) -> str:
        raise Refusal(code="rate_limited", headers={"retry-after": "3"})

    async def slow(self, context: str, wanted: AddInput) -> int:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await trio.sleep(wanted.delay_s)
        self.running -= 1
        return wanted.amount

    async def add(self, context: str, wanted: AddInput) -> int:
        self.seen.append(f"begin {wanted.amount}")
        await trio.sleep(wanted.delay_s)
        self.seen.append(f"end {wanted.amount}")
        return wanted.amount + 1

    async def touch(self, context: str, wanted: OptionalInput) -> Nothing:
        self.seen.append(f"touch {wanted.section}")
        return NOTHING

    async def ask(self, request: Request, principal: Principal | None = MEMBER) -> tuple[int, Any]:
        response = await self.layer.respond("context", request, principal)
        return response.status, json.loads(await body_of(response))


def query(path: str, given: object = ..., *, batch: bool = False, raw: str | None = None, **headers: str) -> Request:
    """A GET; ``given`` is JSON for ``input``, ``raw`` its text as it is."""
    text = raw if raw is not None else None if given is ... else json.dumps(given)
    parts = [*(["batch=1"] if batch else []), *([] if text is None else [f"input={quote(text)}"])]
    target = f"/trpc/{path}" + (f"?{'&'.join(parts)}" if parts else "")
    return Request(method="GET", target=target, headers=_headers(headers), id="r1")


def mutation(path: str, body: bytes = b"", *, batch: bool = False, **headers: str) -> Request:
    fields = {"content_type": "application/json", **headers}
    target = f"/trpc/{path}" + ("?batch=1" if batch else "")
    return Request(method="POST", target=target, headers=_headers(fields), body=BytesBody(body), id="r1")


async def body_of(response: Response) -> bytes:
    if isinstance(response.body, bytes):
        return response.body
    return b"".join(await pieces_of(response))


async def pieces_of(response: Response) -> list[bytes]:
    """What is written of a body that comes in pieces."""
    assert not isinstance(response.body, bytes)
    found: list[bytes] = []

    async def write(piece: bytes) -> None:
        found.append(piece)

    await pour(response.body, write)
    return found


def _headers(fields: Mapping[str, str]) -> Headers:
    return Headers([(name.replace("_", "-"), value) for name, value in fields.items() if value])
