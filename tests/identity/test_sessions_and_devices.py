"""What opens the service, for how long, and how it is taken away: cookies, device tokens, tickets."""

from __future__ import annotations

import json

import pytest
import trio

from svc.clock import DAY_MS, MINUTE_MS, VirtualClock
from tests.identity.people import Person, pair, sign_in
from tests.service import RpcError, Service


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
    code = (await mia.mutate("devices.createPairingCode", capabilities={"terminal": True, "unknown": True}))["code"]
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


async def test_a_device_paired_around_the_claim_is_the_first_admins(service: Service) -> None:
    nobody = Person(service)
    early = await pair(nobody)
    code = (await nobody.mutate("devices.createPairingCode"))["code"]
    mia = await sign_in(service, "mia@example.org")
    reply = await nobody.ask("POST", "/pair/claim", {"code": code, "name": "Phone"})
    late = Person(service, {"x-svc-device-token": json.loads(reply.body)["token"]})
    for device in (early, late):
        assert (await device.me())["user"] == (await mia.me())["user"]


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
