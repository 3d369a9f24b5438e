"""People and devices at the door of a service: each asks with the cookie or token that it was given."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tests.support.http import Reply
from tests.support.service import RpcError, Service

JSON = {"content-type": "application/json"}


@dataclass
class Person:
    """A browser (with a cookie), a program (with a token), or a stranger (with neither)."""

    service: Service
    fields: dict[str, str] = field(default_factory=dict)

    async def ask(self, method: str, target: str, body: object = None) -> Reply:
        data = b"" if body is None else json.dumps(body).encode()
        return await self.service.ask(method, target, data, fields={**(JSON if data else {}), **self.fields})

    async def query(self, procedure: str, **wanted: object) -> Any:
        return _result(await self.ask("GET", f"/trpc/{procedure}?input={quote(json.dumps(wanted))}"))

    async def mutate(self, procedure: str, **wanted: object) -> Any:
        return _result(await self.ask("POST", f"/trpc/{procedure}", wanted))

    async def me(self) -> Any:
        return json.loads((await self.ask("GET", "/auth/me")).body)


async def sign_in(service: Service, email: str, **more: object) -> Person:
    """A browser that signed in by dev-login."""
    reply = await Person(service).ask("POST", "/auth/dev-login", {"email": email, **more})
    assert reply.status == 200, reply.body
    return Person(service, {"cookie": cookie_of(reply)})


async def pair(person: Person, **capabilities: bool) -> Person:
    """A device of that person's."""
    code = (await person.mutate("devices.createPairingCode", capabilities=capabilities))["code"]
    reply = await Person(person.service).ask("POST", "/pair/claim", {"code": code, "name": "Phone", "kind": "mobile"})
    assert reply.status == 200, reply.body
    return Person(person.service, {"x-svc-device-token": json.loads(reply.body)["token"]})


def cookie_of(reply: Reply) -> str:
    """``svc_session=…`` as a browser sends it back."""
    (header,) = [value for name, value in reply.headers if name == "set-cookie"]
    return header.partition(";")[0]


def _result(reply: Reply) -> Any:
    answer = json.loads(reply.body)
    if "error" in answer:
        raise RpcError(answer["error"])
    return answer["result"].get("data")


async def is_in(person: Person) -> bool:
    return (await person.ask("GET", "/trpc/mail.accounts")).status == 200
