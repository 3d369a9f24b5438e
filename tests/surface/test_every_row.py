"""Every route, socket and procedure of the service, one row each here too: who may call it, and what it then says.

A row that a feature adds and this table does not know fails the test: nobody opens a entry without saying to whom.
"""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from svc.app import FEATURES
from svc.feature import routes_of
from svc.principal import UNCLAIMED, Principal
from svc.protocol import Access, Headers, Request, Response
from svc.protocol.messages import BytesBody
from tests.protocol.socket_client import upgrade_request
from tests.support.service import HOST, ORIGIN, PORT, Service
from tests.surface.every_row import (
    ASKS_FOR_MORE,
    MEMBER,
    OPEN_TO_ANY_SITE,
    PROBES,
    PROCEDURES,
    ROUTES,
    SOCKETS,
    SUBSCRIPTIONS,
    Entry,
    call_entry,
    entries,
    target_of,
)


def test_the_table_knows_every_row_of_the_service() -> None:
    routes = {f"{row.method} {row.path}": row.access for row in routes_of(FEATURES, "public")}
    sockets = {row.path: row.access for feature in FEATURES for row in feature.sockets}
    procedures = {row.name: (row.kind, row.access) for feature in FEATURES for row in feature.procedures}
    assert routes == {name: entry.access for name, entry in ROUTES.items()}
    assert sockets == SOCKETS
    assert procedures == {
        **{
            name: ("query" if entry.method == "GET" else "mutation", entry.access) for name, entry in PROCEDURES.items()
        },
        **{name: ("subscription", access) for name, access in SUBSCRIPTIONS.items()},
    }


def test_what_is_open_to_any_host_or_any_site_is_known_by_name() -> None:
    rows = [row for feature in FEATURES for row in feature.routes]
    assert {f"{row.method} {row.path}" for row in rows if row.host_exempt} == PROBES
    assert {f"{row.method} {row.path}" for row in rows if row.csrf_exempt} == OPEN_TO_ANY_SITE


@pytest.fixture
async def furnished(service: Service) -> Service:
    """With one mailbox and a mail in it."""
    await service.synced("Hello")
    return service


@pytest.mark.thorough
async def test_whoever_reaches_an_unclaimed_instance_gets_what_each_row_declares(furnished: Service) -> None:
    answers = {name: (await call_entry(furnished, entry)).status for name, entry in entries()}
    assert answers == {name: entry.status for name, entry in entries()}


@pytest.mark.thorough
@pytest.mark.parametrize("principal", [None, MEMBER], ids=["nobody", "member"])
async def test_a_row_is_closed_to_whom_it_is_not_for(furnished: Service, principal: Principal | None) -> None:
    application = furnished.application_for(principal)
    for name, entry in entries():
        refused = refusal_of(entry.access, principal)
        response = await application(request_for(entry))
        if refused is not None:
            assert response.status == refused, name
        elif name not in ASKS_FOR_MORE:
            assert response.status not in (401, 403), name


@pytest.mark.parametrize("path", SOCKETS)
async def test_a_socket_is_refused_before_its_handshake_to_whom_it_is_not_for(service: Service, path: str) -> None:
    for principal in (None, MEMBER, UNCLAIMED):
        request = upgrade_request(host=HOST)
        request.target = path
        outcome = await service.application_for(principal).upgrade(request)
        refused = refusal_of(SOCKETS[path], principal)
        assert (outcome.status if isinstance(outcome, Response) else None) == refused


def refusal_of(access: Access, principal: Principal | None) -> int | None:
    if access == "public":
        return None
    if principal is None:
        return 401
    return 403 if access in {"admin", "terminal"} and not principal.is_admin else None


def request_for(entry: Entry) -> Request:
    fields = [("host", HOST), ("content-type", "application/json")]
    body = BytesBody(json.dumps(entry.wanted).encode() if entry.method == "POST" else b"")
    return Request(method=entry.method, target=target_of(entry), headers=Headers(fields), body=body)


@pytest.mark.thorough
async def test_a_foreign_host_reaches_nothing_but_the_probes(furnished: Service) -> None:
    before = await furnished.dump()
    for name, entry in entries():
        expected = 200 if name in PROBES else 421
        assert (await call_entry(furnished, entry, host=f"evil.example:{PORT}")).status == expected, name
    for path in SOCKETS:
        assert (await furnished.socket(path, host=f"evil.example:{PORT}")).status == 421
    assert await furnished.dump() == before


async def test_a_name_that_only_looks_like_ours_is_foreign(service: Service) -> None:
    for host in ("127.0.0.1.nip.io", "localhost.evil.example", f"user@{HOST}", "127.0.0.2"):
        assert (await service.ask("GET", "/auth/me", host=host)).status in (400, 421), host
    for host in ("localhost", f"localhost:{PORT}", "127.0.0.1", f"[::1]:{PORT}", f"LOCALHOST:{PORT}", "127.0.0.1:81"):
        assert (await service.ask("GET", "/auth/me", host=host)).status == 200, host


async def test_a_page_of_another_site_can_change_nothing_and_hear_nothing(furnished: Service) -> None:
    before = await furnished.dump()
    for name, entry in entries():
        if entry.method == "POST":
            expected = entry.status if name in OPEN_TO_ANY_SITE else 403
            assert (await call_entry(furnished, entry, origin="https://evil.example")).status == expected, name
    assert await furnished.dump() == before


FOREIGN: dict[str, dict[str, str]] = {
    "another site": {"origin": "https://evil.example"},
    "a sandboxed page": {"origin": "null"},
    "another scheme": {"origin": f"https://{HOST}"},
    "another port": {"origin": "http://127.0.0.1:4781"},
    "no origin, but a browser's word": {"sec-fetch-site": "cross-site"},
    "a neighbour's page": {"sec-fetch-site": "same-site"},
}


async def test_however_another_site_shows_it_is_refused(service: Service) -> None:
    for manner, fields in FOREIGN.items():
        assert (await call_entry(service, ROUTES["POST /trpc/*procedure"], **fields)).status == 403, manner
        for path in SOCKETS:
            assert (await service.socket(path, fields=fields)).status == 403, manner


@pytest.mark.thorough
async def test_our_own_page_may_do_what_it_is_for(furnished: Service) -> None:
    for name, entry in entries():
        if entry.method == "POST":
            assert (await call_entry(furnished, entry, origin=ORIGIN)).status == entry.status, name
    for path in SOCKETS:
        assert (await furnished.socket(path, origin=ORIGIN)).status == 101


@pytest.mark.thorough
async def test_reading_changes_nothing(furnished: Service) -> None:
    """Not one row, whatever is read, by GET and by HEAD; also of what is there."""
    (thread_id,) = await furnished.synced(
        "With a file", attachments=[{"filename": "a.txt", "mime": "text/plain", "text": "a"}]
    )
    ((file_id,),) = await furnished.rows("select id from files")
    found = [
        f"/trpc/mail.thread?input={quote(json.dumps({'id': thread_id}))}",
        f"/files/{file_id}/content",
        "/oauth/mail/start?email=mia@example.org",
        "/trpc/mail.archive?input=" + quote(json.dumps({"threadIds": [thread_id]})),  # a mutation, asked for by GET
    ]
    await furnished.query("mail.thread", id=thread_id)  # its cleaned HTML is kept once it was read
    before = await furnished.dump()
    for target in [*found, *(target_of(entry) for _, entry in entries() if entry.method == "GET")]:
        for method in ("GET", "HEAD"):
            assert (await furnished.ask(method, target)).status < 502
    assert await furnished.dump() == before


async def test_an_unknown_address_is_not_found_and_says_so_in_its_protocol(service: Service) -> None:
    plain, rpc = await service.get("/nothing"), await service.get("/trpc/mail.nothing")
    assert (plain.status, plain.json["code"]) == (404, "not_found")
    assert plain.header("content-type") == "application/problem+json"
    assert rpc.status == 404
    assert rpc.json["error"]["data"]["code"] == "NOT_FOUND"


@pytest.mark.thorough
async def test_every_answer_carries_its_request_id_and_the_browsers_orders(furnished: Service) -> None:
    seen = set()
    for name, entry in entries():
        reply = await call_entry(furnished, entry)
        seen.add(reply.header("x-request-id"))
        assert reply.header("x-content-type-options") == "nosniff", name
        assert reply.header("referrer-policy") == "no-referrer", name
        assert "default-src 'none'" in (reply.header("content-security-policy") or ""), name
    assert None not in seen
    assert len(seen) == len(list(entries()))
