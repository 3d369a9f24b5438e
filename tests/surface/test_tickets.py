"""A socket ticket stands in a URL, which is logged more often than a header: it opens one socket, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import quote

import pytest

from tests.identity.people import JSON, Person, pair, sign_in
from tests.support.http import Reply
from tests.support.service import MIA, Service
from tests.surface.every_row import PROCEDURES, SOCKETS, call_entry, entries

UPGRADES: list[dict[str, str]] = [
    {},
    {"upgrade": "websocket"},
    {"upgrade": "websocket", "connection": "upgrade"},
    {
        "upgrade": "websocket",
        "connection": "upgrade",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    },
]


def said(reply: Reply) -> bytes:
    """Without what differs each time: metrics and times."""
    return b"" if reply.body.startswith(b"# HELP") else reply.body.partition(b'"time"')[0]


async def ticket_of(device: Person) -> str:
    reply = await device.ask("POST", "/auth/socket-ticket")
    return str(json.loads(reply.body)["ticket"])


@pytest.mark.share(2)
@pytest.mark.thorough
@pytest.mark.parametrize("fields", UPGRADES, ids=[" ".join(fields) or "plain" for fields in UPGRADES])
async def test_a_ticket_opens_no_route_and_no_procedure_and_is_not_spent_on_one(
    service: Service, fields: dict[str, str]
) -> None:
    """A ticket gives no rights to an anonymous caller."""
    device = await pair(await sign_in(service, MIA), admin=True, terminal=True)
    ticket, *others = [await ticket_of(device) for _ in SOCKETS]
    before = await service.dump()
    for name, entry in entries():
        nobody = await call_entry(service, entry)
        mark = "&" if "?" in entry.target else "?"
        if entry.method == "GET" and entry.wanted:
            entry = replace(entry, target=f"{entry.target}?input={quote(json.dumps(entry.wanted))}", wanted={})
            mark = "&"
        found = await call_entry(service, replace(entry, target=f"{entry.target}{mark}ticket={ticket}"), **fields)
        assert (found.status, said(found)) == (nobody.status, said(nobody)), name
    assert await service.dump() == before
    for path, unspent in zip(SOCKETS, (ticket, *others), strict=True):
        assert (await service.socket(f"{path}?ticket={unspent}")).status == 101


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_ticket_opens_no_batch(service: Service, method: str) -> None:
    ticket = await ticket_of(await pair(await sign_in(service, MIA), admin=True))
    names = [name for name, entry in PROCEDURES.items() if entry.method == method and entry.access != "public"]
    for first in range(0, len(names), 40):
        batch = names[first : first + 40]
        target = f"/trpc/{','.join(batch)}?batch=1&ticket={ticket}"
        fields = {**JSON, "upgrade": "websocket", "connection": "upgrade"}
        reply = await service.ask(method, target, b"{}" if method == "POST" else b"", fields=fields)
        assert reply.status == 401
        assert {answer["error"]["data"]["code"] for answer in json.loads(reply.body)} == {"UNAUTHORIZED"}


async def test_a_ticket_is_its_devices_as_the_device_is_when_it_is_used(service: Service) -> None:
    """Between the two the owner may have lost a role, and the device its owner's trust."""
    mia = await sign_in(service, MIA)
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    phone = await pair(noa)
    ticket = await ticket_of(phone)
    named = next(row for row in await noa.query("devices.list") if row["kind"] == "mobile")
    await noa.mutate("devices.revoke", id=named["id"])
    assert (await service.socket(f"/ws?ticket={ticket}")).status == 401
