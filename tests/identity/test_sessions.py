"""What opens the service, for how long, and how it ends: cookies and socket tickets."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import trio

from svc.clock import DAY_MS, MINUTE_MS, VirtualClock
from svc.identity import until_revoked
from svc.identity.model import TICKET_LIFETIME_S
from svc.identity.service import Identity
from svc.principal import UNCLAIMED, Principal
from tests.identity.people import Person, is_in, pair, sign_in
from tests.support.http import read_to_end, replies
from tests.support.service import HOST, RpcError, Service


async def test_a_session_cookie_is_hidden_from_scripts_and_kept_as_a_digest_only(service: Service) -> None:
    reply = await Person(service).ask("POST", "/auth/dev-login", {"email": "mia@example.org"})
    (cookie,) = [value for name, value in reply.headers if name == "set-cookie"]
    name, _, rest = cookie.partition("=")
    assert name == "svc_session"
    assert {"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"} <= set(rest.split("; "))
    assert rest.partition(";")[0] not in str(await service.dump())


async def test_a_session_lives_thirty_days_from_its_last_use(service: Service, wall: VirtualClock) -> None:
    mia = await sign_in(service, "mia@example.org")
    for _ in range(3):
        wall.offset_ms += 29 * DAY_MS
        assert await is_in(mia)
    wall.offset_ms += 30 * DAY_MS
    assert not await is_in(mia)


async def test_a_browser_keeps_its_cookie_as_long_as_its_session_lives(service: Service, wall: VirtualClock) -> None:
    """Thirty days from the last use, not from the sign-in: the browser is given the cookie anew."""
    mia = await sign_in(service, "mia@example.org")

    async def given(target: str, method: str = "GET", body: object = None) -> list[str]:
        reply = await mia.ask(method, target, body)
        return [value.partition(";")[0] for name, value in reply.headers if name == "set-cookie"]

    same = mia.fields["cookie"]
    assert await given("/auth/me") == [same]  # whenever the app is opened
    assert await given("/trpc/mail.accounts") == []
    wall.offset_ms += 29 * DAY_MS
    assert await given("/trpc/mail.accounts") == [same]  # and in an open one, once an hour
    assert await given("/trpc/mail.accounts") == []
    wall.offset_ms += 60 * MINUTE_MS
    assert await given("/static/app.js") == []  # a cache in front would keep it for others
    wall.offset_ms += 60 * MINUTE_MS
    (another,) = await given("/auth/dev-login", "POST", {"email": "mia@example.org"})
    assert another != same  # the old one, at its end, does not come after the new one
    assert await given("/auth/me") == []


async def test_a_late_answer_does_not_bring_back_the_cookie_of_a_session_that_was_replaced(
    service: Service, wall: VirtualClock
) -> None:
    mia = await sign_in(service, "mia@example.org")
    wall.offset_ms += 2 * 60 * MINUTE_MS
    before = await service.rows("select last_seen_at from sessions")
    body = b'{"path": "notes", "body": "long"}'
    lines = [
        "POST /trpc/pages.save HTTP/1.1",
        f"host: {HOST}",
        f"cookie: {mia.fields['cookie']}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
    ]
    stream = await service.listener.connect()
    await stream.send_all("\r\n".join(lines).encode() + b"\r\n\r\n" + body[:9])
    while await service.rows("select last_seen_at from sessions") == before:
        await trio.lowlevel.checkpoint()  # it was let in once this is noted
    await mia.ask("POST", "/auth/dev-login", {"email": "mia@example.org"})
    await stream.send_all(body[9:])
    (reply,) = replies(await read_to_end(stream), ["POST"])
    assert (reply.status, reply.header("set-cookie")) == (200, None)


async def test_reading_does_not_write_a_session_each_time(service: Service, wall: VirtualClock) -> None:
    mia = await sign_in(service, "mia@example.org")
    before = await service.rows("select last_seen_at, expires_at from sessions")
    wall.offset_ms += 10 * MINUTE_MS
    assert await is_in(mia)
    assert await service.rows("select last_seen_at, expires_at from sessions") == before
    wall.offset_ms += 60 * MINUTE_MS
    assert await is_in(mia)
    assert await service.rows("select last_seen_at, expires_at from sessions") != before


@pytest.mark.parametrize(
    "cookie",
    ["svc_session=foreign", "svc_session=", "svc_session", "svc_session=a; svc_session=b", 'svc_session="x', ";;;="],
)
async def test_a_foreign_cookie_is_no_session_and_no_error(service: Service, cookie: str) -> None:
    assert (await Person(service, {"cookie": cookie}).me())["mode"] == "unclaimed"
    await sign_in(service, "mia@example.org")
    assert not await is_in(Person(service, {"cookie": cookie}))
    assert (await Person(service, {"cookie": cookie}).ask("GET", "/login")).status == 200


async def test_a_doubled_cookie_counts_as_none(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    assert not await is_in(Person(service, {"cookie": f"{mia.fields['cookie']}; {mia.fields['cookie']}"}))


async def test_signing_out_ends_the_session_and_its_sockets(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    socket = await service.socket(cookie=mia.fields["cookie"])
    assert socket.status == 101
    reply = await mia.ask("POST", "/auth/logout")
    assert reply.status == 204
    assert not await is_in(mia)
    assert await socket.closed() == 4401


async def test_one_session_can_end_another_of_the_same_person_only(service: Service) -> None:
    laptop = await sign_in(service, "mia@example.org")
    phone = await sign_in(service, "mia@example.org")
    code = (await laptop.mutate("auth.createInvite"))["code"]
    noa = await sign_in(service, "noa@example.org", invite=code)
    other = next(row["id"] for row in await laptop.query("auth.sessions") if not row["current"])
    with pytest.raises(RpcError) as refused:
        await noa.mutate("auth.revokeSession", id=other)
    assert refused.value.code == "NOT_FOUND"
    await laptop.mutate("auth.revokeSession", id=other)
    assert not await is_in(phone)
    assert await is_in(laptop)


async def test_the_claim_ends_what_was_open_for_everybody(service: Service) -> None:
    phone = await pair(Person(service))
    ticket = json.loads((await phone.ask("POST", "/auth/socket-ticket")).body)["ticket"]
    sockets = [await service.socket("/ws"), await service.socket(f"/ws?ticket={ticket}")]
    mia = await sign_in(service, "mia@example.org")
    assert [await socket.closed() for socket in sockets] == [4401, 4401]
    hers = await service.socket(cookie=mia.fields["cookie"])
    await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    await hers.hear()
    assert await hers.hear_all() == []


async def test_another_role_ends_no_session_and_counts_from_the_next_request_on(service: Service) -> None:
    """Their open sockets do end: they were opened with other rights."""
    mia = await sign_in(service, "mia@example.org")
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    noas = (await noa.me())["user"]["id"]
    for role, status in (("admin", 200), ("member", 403)):
        socket = await service.socket(cookie=noa.fields["cookie"])
        await mia.mutate("users.setRole", id=noas, role=role)
        assert await socket.closed() == 4401
        assert (await noa.ask("GET", "/trpc/users.list")).status == status


async def test_an_admin_who_gives_up_the_role_gets_no_more_news_of_admins(service: Service) -> None:
    """The session goes on, but its open sockets were opened with other rights."""
    mia = await sign_in(service, "mia@example.org")
    await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    users = {row["email"]: row["id"] for row in await mia.query("users.list")}
    await mia.mutate("users.setRole", id=users["noa@example.org"], role="admin")
    socket = await service.socket(cookie=mia.fields["cookie"])
    await mia.mutate("users.setRole", id=users["mia@example.org"], role="member")
    assert await socket.closed() == 4401
    assert await is_in(mia)
    assert (await mia.ask("GET", "/trpc/users.list")).status == 403


async def test_an_end_that_came_before_anybody_listened_is_found(service: Service) -> None:
    store = service.workspace.store
    mia = await sign_in(service, "mia@example.org")
    await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    users = {row["email"]: row["id"] for row in await mia.query("users.list")}
    ((device,),) = await service.rows(f"select device_id from sessions where user_id = '{users['mia@example.org']}'")
    session = Principal(user_id=users["mia@example.org"], device_id=str(device), is_admin=True, via="session")
    revoked = replace(session, device_id="dev_gone")
    await pair(mia, admin=True)
    ((device,),) = await service.rows("select id from devices where kind = 'mobile'")
    phone = replace(session, device_id=str(device), via="device", capabilities={"admin": True})
    for ended in (UNCLAIMED, revoked, *(replace(one, is_admin=False) for one in (session, phone))):
        with trio.fail_after(1):
            await until_revoked(store, ended)
    for lasting in (session, phone):
        with trio.move_on_after(1) as waited:
            await until_revoked(store, lasting)
        assert waited.cancelled_caught


async def test_a_revoked_browser_is_signed_out_and_leaves_no_session(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    other = await sign_in(service, "mia@example.org")
    assert await service.rows("select count(*) from sessions") == [(2,)]
    (here,) = [row["deviceId"] for row in await other.query("auth.sessions") if row["current"]]
    await mia.mutate("devices.revoke", id=here)
    assert (await other.ask("GET", "/trpc/mail.accounts")).status == 401
    assert (await mia.ask("GET", "/trpc/mail.accounts")).status == 200
    assert await service.rows("select count(*) from sessions") == [(1,)]


async def test_a_socket_ticket_opens_one_socket_within_thirty_seconds_for_a_good_device(
    service: Service, wall: VirtualClock
) -> None:
    mia = await sign_in(service, "mia@example.org")
    phone = await pair(mia)

    async def ticket() -> str:
        answer = json.loads((await phone.ask("POST", "/auth/socket-ticket")).body)
        assert set(answer) == {"ticket", "expiresAt"}
        return str(answer["ticket"])

    used, late = await ticket(), await ticket()
    assert (await service.socket(f"/ws?ticket={used}")).status == 101
    assert (await service.socket(f"/ws?ticket={used}")).status == 401
    await trio.sleep(30)
    assert (await service.socket(f"/ws?ticket={late}")).status == 401
    assert (await service.get(f"/trpc/mail.accounts?ticket={await ticket()}")).status == 401
    assert (await mia.ask("POST", "/auth/socket-ticket")).status == 403


async def test_tickets_are_bounded_and_late_ones_are_swept_by_the_next(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    mia = await sign_in(service, "mia@example.org")
    await pair(mia)
    identity = service.workspace.service(Identity)
    device = Principal(user_id="usr_x", device_id="dev_x", is_admin=False, via="device")
    monkeypatch.setattr("svc.identity.service.MAX_TICKETS", 3)
    for _ in range(4):
        identity.issue_ticket(device)
    assert len(identity._tickets) == 3
    await trio.sleep(TICKET_LIFETIME_S)
    identity.issue_ticket(device)
    assert len(identity._tickets) == 1


async def test_what_opens_is_remembered_for_so_many_and_no_more(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc.identity.remembered.MAX_REMEMBERED", 2)
    mia = await sign_in(service, "mia@example.org")
    phones = [await pair(mia) for _ in range(3)]
    for phone in phones:
        assert await is_in(phone)
        assert await is_in(phone)
    assert len(service.workspace.service(Identity)._devices._opened) == 2
    assert await is_in(phones[0])


@pytest.mark.parametrize("token", ["", "sdt_", "sdt_wrong", "x" * 4_000, "Bearer sdt_x"])
async def test_a_wrong_token_is_nobody_even_where_nothing_is_claimed(service: Service, token: str) -> None:
    reply = await service.get("/trpc/mail.accounts", **{"x-svc-device-token": token})
    assert reply.status == 401
