"""What opens the service, for how long, and how it is taken away: cookies, device tokens, tickets."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from svc.clock import DAY_MS, MINUTE_MS, VirtualClock
from svc.identity import until_revoked
from svc.identity.model import MAX_LISTED_DEVICES, MAX_OPEN_PAIRING_CODES, TICKET_LIFETIME_S
from svc.identity.service import Identity
from svc.principal import UNCLAIMED, Principal
from svc.store import Tx
from tests.identity.people import Person, pair, sign_in
from tests.recorded_log import RecordedLog
from tests.support.http import read_to_end, replies
from tests.support.service import HOST, RpcError, Service, open_service


async def is_in(person: Person) -> bool:
    return (await person.ask("GET", "/trpc/mail.accounts")).status == 200


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


async def test_a_pairing_code_makes_one_device_with_its_capabilities(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    code = (await mia.mutate("devices.createPairingCode", capabilities={"terminal": True}))["code"]
    typed = f" {code.lower().replace('-', ' ')} "
    reply = await Person(service).ask("POST", "/pair/claim", {"code": typed, "name": "Phone"})
    answer = json.loads(reply.body)
    assert answer["capabilities"] == {"terminal": True}
    assert answer["token"].startswith("sdt_")
    assert set(answer) == {"token", "deviceId", "kind", "capabilities"}
    assert await is_in(Person(service, {"x-svc-device-token": answer["token"]}))
    assert answer["token"] not in str(await service.dump())
    again = await Person(service).ask("POST", "/pair/claim", {"code": code, "name": "Phone"})
    assert again.status == 403


async def test_a_capability_that_nobody_knows_is_refused_and_not_dropped(service: Service) -> None:
    """A client that asked for it would believe that it was granted."""
    mia = await sign_in(service, "mia@example.org")
    for wanted in ({"unknown": True}, {"terminal": True, "root": False}, {"Shell": True}, {"shell": "yes"}):
        with pytest.raises(RpcError) as refused:
            await mia.mutate("devices.createPairingCode", capabilities=wanted)
        assert refused.value.code == "BAD_REQUEST"
    assert await service.rows("select * from pairing_codes") == []


@pytest.mark.parametrize("kind", ["web-session", " web-session ", "Web-Session", "WEB-SESSION\t", "", "  "])
async def test_no_device_is_paired_as_a_browser_which_its_owner_would_look_for_elsewhere(
    service: Service, kind: str
) -> None:
    mia = await sign_in(service, "mia@example.org")
    code = (await mia.mutate("devices.createPairingCode"))["code"]
    reply = await Person(service).ask("POST", "/pair/claim", {"code": code, "name": "Phone", "kind": kind})
    assert (reply.status, reply.json["code"]) == (400, "invalid")
    good = await Person(service).ask("POST", "/pair/claim", {"code": code, "name": "Phone", "kind": "mobile"})
    assert good.status == 200  # the code was not used up


async def test_what_was_paired_as_a_browser_by_an_earlier_version_is_a_device_in_the_list(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        mia = await sign_in(service, "mia@example.org")
        phone = await pair(mia)

    database = sqlite3.connect(service.workspace.home.database)
    database.execute("update devices set kind = 'web-session' where token_digest is not null")
    database.execute("delete from _sqlite_migrations where name = 'm003_devices_by_their_kind'")
    database.commit()
    database.close()
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        mia, phone = Person(service, mia.fields), Person(service, phone.fields)
        assert await is_in(phone)
        assert [row["kind"] for row in await mia.query("devices.list") if row["name"] == "Phone"] == ["device"]


async def test_everything_that_can_act_for_a_person_is_listed_to_that_person_first(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    await pair(mia)

    def crowd(tx: Tx) -> None:
        for number in range(MAX_LISTED_DEVICES + 1):
            tx.run(
                """
                insert into devices (id, user_id, kind, name, capabilities, token_digest, created_at, last_seen_at)
                select :id, id, 'mobile', '', '{}', :id, :now, :now + 1 from users where email = 'noa@example.org'
                """,
                id=f"dev_{number}",
                now=tx.now,
            )

    await service.workspace.store.write(crowd)
    assert {"web-session", "mobile"} == {row["kind"] for row in (await mia.query("devices.list"))[:2]}
    assert len(await noa.query("devices.list")) == MAX_LISTED_DEVICES


async def test_a_person_has_so_many_open_pairing_codes_and_no_more(service: Service, wall: VirtualClock) -> None:
    mia = await sign_in(service, "mia@example.org")
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    codes = [(await mia.mutate("devices.createPairingCode"))["code"] for _ in range(MAX_OPEN_PAIRING_CODES)]
    refused = await mia.ask("POST", "/trpc/devices.createPairingCode", {})
    assert (refused.status, refused.json["error"]["data"]["code"]) == (429, "TOO_MANY_REQUESTS")
    assert refused.header("retry-after") == "300"
    await noa.mutate("devices.createPairingCode")  # each person has their own
    await Person(service).ask("POST", "/pair/claim", {"code": codes[0], "name": "Phone"})
    await mia.mutate("devices.createPairingCode")  # a used one is none
    with pytest.raises(RpcError):
        await mia.mutate("devices.createPairingCode")
    wall.offset_ms += 5 * MINUTE_MS
    await mia.mutate("devices.createPairingCode")


async def test_nobody_has_no_more_open_codes_than_somebody(service: Service) -> None:
    nobody = Person(service)
    for _ in range(MAX_OPEN_PAIRING_CODES):
        await nobody.mutate("devices.createPairingCode")
    with pytest.raises(RpcError) as refused:
        await nobody.mutate("devices.createPairingCode")
    assert refused.value.code == "TOO_MANY_REQUESTS"


async def test_a_device_paired_around_the_claim_is_the_first_admins(service: Service) -> None:
    nobody = Person(service)
    early = await pair(nobody)
    code = (await nobody.mutate("devices.createPairingCode"))["code"]
    mia = await sign_in(service, "mia@example.org")
    reply = await nobody.ask("POST", "/pair/claim", {"code": code, "name": "Phone"})
    late = Person(service, {"x-svc-device-token": json.loads(reply.body)["token"]})
    for device in (early, late):
        assert (await device.me())["user"] == (await mia.me())["user"]


async def test_before_the_claim_a_device_may_what_everybody_may_and_after_it_what_its_owner_may(
    service: Service,
) -> None:
    nobody = Person(service)
    await nobody.mutate("pages.save", path="plans", body="secret")
    phone, admins = await pair(nobody), await pair(nobody, admin=True)
    assert [page["path"] for page in await phone.query("pages.tree")] == ["plans"]
    assert (await phone.ask("GET", "/trpc/users.list")).status == 403
    assert (await admins.ask("GET", "/trpc/users.list")).status == 200
    mia = await sign_in(service, "mia@example.org")
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    await noa.mutate("pages.save", path="noas", body="secret")
    for device in (phone, admins):
        assert "noas" not in [page["path"] for page in await device.query("pages.tree")]


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


async def test_a_device_of_an_admin_is_no_admins_at_once_when_the_role_is_taken(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    (user,) = [row["id"] for row in await mia.query("users.list") if row["email"] == "noa@example.org"]
    await mia.mutate("users.setRole", id=user, role="admin")
    noa = await sign_in(service, "noa@example.org")
    phone = await pair(noa, admin=True)
    socket = await service.socket("/ws", fields=phone.fields)
    await mia.mutate("users.setRole", id=user, role="member")
    assert await socket.closed() == 4401
    assert (await phone.ask("GET", "/trpc/users.list")).status == 403


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


async def test_a_wrong_a_used_and_a_late_code_get_the_same_answer(service: Service, wall: VirtualClock) -> None:
    mia = await sign_in(service, "mia@example.org")
    used = (await mia.mutate("devices.createPairingCode"))["code"]
    await Person(service).ask("POST", "/pair/claim", {"code": used, "name": "Phone"})
    late = (await mia.mutate("devices.createPairingCode"))["code"]
    wall.offset_ms += 5 * MINUTE_MS
    bodies = {
        (await Person(service).ask("POST", "/pair/claim", {"code": code, "name": "Phone"})).body
        for code in ("WRONG-WRONG", used, late)
    }
    assert len(bodies) == 1
    assert json.loads(bodies.pop())["status"] == 403


async def test_a_revoked_device_is_out_at_its_next_request_and_its_socket_closes(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    phone = await pair(mia)
    ticket = json.loads((await phone.ask("POST", "/auth/socket-ticket")).body)["ticket"]
    socket = await service.socket(f"/ws?ticket={ticket}")
    assert socket.status == 101
    device = next(row for row in await mia.query("devices.list") if row["kind"] == "mobile")
    await mia.mutate("devices.revoke", id=device["id"])
    assert (await phone.ask("GET", "/trpc/mail.accounts")).status == 401
    assert await socket.closed() == 4401


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


async def test_a_device_is_noted_as_seen_once_an_hour_also_where_the_clock_was_set_back(
    service: Service, wall: VirtualClock
) -> None:
    mia = await sign_in(service, "mia@example.org")
    phone = await pair(mia)

    async def seen() -> int:
        ((at,),) = await service.rows("select last_seen_at from devices where kind = 'mobile'")
        return int(at or 0)

    assert await is_in(phone)
    first = await seen()
    assert first > 0
    wall.offset_ms += 59 * MINUTE_MS
    assert await is_in(phone)
    assert await seen() == first
    wall.offset_ms += MINUTE_MS
    assert await is_in(phone)
    later = await seen()
    assert later >= first + 60 * MINUTE_MS
    wall.offset_ms -= 3 * DAY_MS
    assert await is_in(phone)
    assert await seen() < first


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


async def test_a_device_can_pair_no_other_and_a_member_no_shell(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    phone = await pair(mia)
    with pytest.raises(RpcError) as refused:
        await phone.mutate("devices.createPairingCode")
    assert refused.value.code == "FORBIDDEN"
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    with pytest.raises(RpcError) as shell:
        await noa.mutate("devices.createPairingCode", capabilities={"shell": True})
    assert shell.value.code == "FORBIDDEN"


async def test_an_admins_device_acts_as_an_admin_only_where_that_was_ticked(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    noas = (await noa.me())["user"]["id"]
    every_other = {"approve": True, "shell": True, "terminal": True, "extensionAutomation": True, "mobilePush": True}
    for phone in (await pair(mia), await pair(mia, **every_other), await pair(mia, admin=False)):
        with pytest.raises(RpcError) as refused:
            await phone.mutate("users.setRole", id=noas, role="admin")
        assert refused.value.code == "FORBIDDEN"
        assert {row["userId"] for row in await phone.query("devices.list")} == {(await mia.me())["user"]["id"]}
    trusted = await pair(mia, admin=True)
    await trusted.mutate("users.setRole", id=noas, role="admin")
    assert {row["userId"] for row in await trusted.query("devices.list")} >= {noas}


async def test_only_an_admin_may_let_a_device_act_as_one_and_only_while_they_are_one(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    with pytest.raises(RpcError) as refused:
        await noa.mutate("devices.createPairingCode", capabilities={"admin": True})
    assert refused.value.code == "FORBIDDEN"
    await mia.mutate("users.setRole", id=(await noa.me())["user"]["id"], role="admin")
    noa = await sign_in(service, "noa@example.org")
    trusted = await pair(noa, admin=True)
    assert await trusted.query("users.list")
    await mia.mutate("users.setRole", id=(await noa.me())["user"]["id"], role="member")
    with pytest.raises(RpcError) as since:
        await trusted.query("users.list")
    assert since.value.code == "FORBIDDEN"


async def test_an_admin_sees_and_revokes_everybodys_devices_a_member_only_their_own(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    phone = await pair(noa)
    assert len(await mia.query("devices.list")) == 3
    own = await noa.query("devices.list")
    assert len(own) == 2
    mias = next(row["id"] for row in await mia.query("devices.list") if row["id"] not in {one["id"] for one in own})
    with pytest.raises(RpcError) as refused:
        await noa.mutate("devices.revoke", id=mias)
    assert refused.value.code == "NOT_FOUND"
    await mia.mutate("devices.revoke", id=next(row["id"] for row in own if row["kind"] == "mobile"))
    assert not await is_in(phone)
