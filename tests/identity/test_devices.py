"""Devices: paired by a code, with capabilities, seen, listed and revoked."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from svc.clock import DAY_MS, MINUTE_MS, VirtualClock
from svc.identity.model import MAX_LISTED_DEVICES, MAX_OPEN_PAIRING_CODES
from svc.store import Tx
from tests.identity.people import Person, is_in, pair, sign_in
from tests.recorded_log import RecordedLog
from tests.support.service import RpcError, Service, open_service


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
