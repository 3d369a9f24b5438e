"""Every route, socket and procedure, asked by everybody who can ask: as they really come, with a cookie or a token.

``every_row.py`` holds the table of rows; a new row has to stand there. This file holds who asks, and what each of
them gets from it: the plain answer where the row is for them, else 401 to nobody and 403 to whom it is not for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from svc.clock import VirtualClock
from svc.protocol import Access
from tests.identity.people import Person, pair, sign_in
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, Service, open_service
from tests.surface.every_row import SOCKETS, call_entry, entries, target_of

OUTSIDE: dict[Access, int] = {"public": 0, "authenticated": 401, "admin": 401, "terminal": 401}
MEMBERS: dict[Access, int] = {"public": 0, "authenticated": 0, "admin": 403, "terminal": 403}
ANYWHERE: dict[Access, int] = {"public": 0, "authenticated": 0, "admin": 0, "terminal": 0}
ADMINS: dict[Access, int] = {**ANYWHERE, "terminal": 403}
WITH_TERMINALS: dict[Access, int] = {**MEMBERS, "terminal": 0}
REFUSALS: dict[str, dict[Access, int]] = {
    "anonymous-unclaimed": ANYWHERE,
    "anonymous-claimed": OUTSIDE,
    "member": MEMBERS,
    "admin": ANYWHERE,
    "device of a member": MEMBERS,
    "device of an admin": MEMBERS,
    "device of an admin, as an admin": ADMINS,
    "device of an admin, with terminals": WITH_TERMINALS,
    "revoked device": OUTSIDE,
    "SVC_AUTH=off": ANYWHERE,
    "SVC_AUTH=off, with a foreign token": ANYWHERE,
}
"""What each gets instead of the row's answer; 0: nothing instead."""

TO_A_SESSION = {"POST /auth/logout": 204, "POST /mcp": 403}
TO_A_DEVICE = {
    "POST /auth/socket-ticket": 200,
    "devices.createPairingCode": 403,
    "pages.setTrusted": 403,
    "mcp.connect": 403,
    "mcp.allow": 403,
    "mcp.signIn": 403,
    "mcp.setClient": 403,
    "GET /oauth/mcp/start": 403,
    "GET /oauth/mcp/callback": 403,
}
EXCEPTIONS: dict[str, dict[str, int]] = {
    "member": TO_A_SESSION,
    "admin": TO_A_SESSION,
    "device of a member": {**TO_A_DEVICE, "approvals.decide": 403},
    "device of an admin": {**TO_A_DEVICE, "approvals.decide": 403},
    "device of an admin, as an admin": TO_A_DEVICE,
    "device of an admin, with terminals": {**TO_A_DEVICE, "approvals.decide": 403},
}
"""Rows that tell one principal from another beyond their access: what is for a cookie, and what is for a token."""

LAST = "POST /auth/logout"  # whoever asks for that is somebody else afterwards


@asynccontextmanager
async def asking(principal: str, directory: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Person]:
    """That principal before a service with one mailbox in it."""
    settings = {"SVC_AUTH": "off"} if principal.startswith("SVC_AUTH=off") else {}
    async with open_service(directory, clock=wall, log=log, PROVIDERS="fake", environ=settings) as service:
        await service.synced("Hello")
        yield await person_for(principal, service)


async def person_for(principal: str, service: Service) -> Person:
    if principal in ("anonymous-unclaimed", "SVC_AUTH=off"):
        return Person(service)
    if principal == "SVC_AUTH=off, with a foreign token":
        return Person(service, {"x-svc-device-token": "sdt_foreign"})
    admin = await sign_in(service, MIA)
    member = await sign_in(service, "noa@example.org", invite=(await admin.mutate("auth.createInvite"))["code"])
    if principal == "anonymous-claimed":
        return Person(service)
    if principal == "revoked device":
        device = await pair(admin)
        named = next(row for row in await admin.query("devices.list") if row["kind"] == "mobile")
        await admin.mutate("devices.revoke", id=named["id"])
        return device
    owner = admin if "admin" in principal else member
    if not principal.startswith("device"):
        return owner
    return await pair(owner, admin=principal.endswith("as an admin"), terminal=principal.endswith("with terminals"))


@pytest.mark.share(3)
@pytest.mark.thorough
@pytest.mark.parametrize("principal", REFUSALS)
async def test_each_principal_gets_from_each_row_and_socket_what_it_declares(
    principal: str, tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    expected = {
        name: EXCEPTIONS.get(principal, {}).get(name) or REFUSALS[principal][entry.access] or entry.status
        for name, entry in entries()
    }
    async with asking(principal, tmp_path, wall, log) as person:
        for path, access in SOCKETS.items():
            socket = await person.service.socket(path, fields=person.fields)
            assert socket.status == (REFUSALS[principal][access] or 101)
            await socket.client.stream.aclose()
        in_order = sorted(entries(), key=lambda row: row[0] == LAST)
        found = {name: (await call_entry(person.service, entry, **person.fields)).status for name, entry in in_order}
    assert found == expected


@pytest.mark.share(3)
@pytest.mark.thorough
@pytest.mark.parametrize("principal", [name for name, refused in REFUSALS.items() if refused["admin"]])
async def test_what_is_refused_changes_nothing_and_head_tells_no_more_than_get(
    principal: str, tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with asking(principal, tmp_path, wall, log) as person:
        refused = [entry for _, entry in entries() if REFUSALS[principal][entry.access]]
        assert refused
        before = await person.service.dump()
        for entry in refused:
            await call_entry(person.service, entry, **person.fields)
            if entry.method == "GET" and not entry.target.startswith("/trpc/"):  # HEAD says 204 to anybody there
                head = await person.ask("HEAD", target_of(entry))
                assert (head.status, head.body) == (REFUSALS[principal][entry.access], b"")
        assert await person.service.dump() == before


@pytest.mark.thorough
async def test_a_session_that_was_signed_out_is_nobody_from_then_on(service: Service) -> None:
    mia = await sign_in(service, MIA)
    assert (await mia.ask("POST", "/auth/logout")).status == 204
    for name, entry in entries():
        if entry.access != "public":
            assert (await call_entry(service, entry, **mia.fields)).status == 401, name


async def test_a_good_cookie_beside_a_bad_token_is_who_the_cookie_says(service: Service) -> None:
    mia = await sign_in(service, MIA)
    both = Person(service, {**mia.fields, "x-svc-device-token": "sdt_foreign"})
    assert (await both.me())["user"] == (await mia.me())["user"]
    stale = Person(service, {"cookie": "svc_session=stale", **(await pair(mia)).fields})
    assert (await stale.me())["user"] == (await mia.me())["user"]
