"""Claiming, inviting and signing in, at the door of the whole service."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio

from svc.clock import DAY_MS, VirtualClock
from svc.identity import Identity, claim_links
from tests.identity.people import Person, cookie_of, sign_in
from tests.recorded_log import RecordedLog
from tests.support.service import HOST, RpcError, Service, open_service


async def test_a_fresh_instance_is_everybodys_and_has_no_sign_in(service: Service) -> None:
    stranger = Person(service)
    assert await stranger.me() == {"user": None, "mode": "unclaimed", "devLogin": True, "googleLogin": False}
    assert await stranger.query("mail.accounts") == []


async def test_the_first_sign_in_claims_and_from_then_on_strangers_are_turned_away(service: Service) -> None:
    mia = await sign_in(service, "Mia@Example.org")
    me = await mia.me()
    assert (me["mode"], me["user"]["email"], me["user"]["role"]) == ("claimed", "mia@example.org", "admin")
    stranger = Person(service)
    assert (await stranger.me())["user"] is None
    with pytest.raises(RpcError) as refused:
        await stranger.query("mail.accounts")
    assert refused.value.status == 401
    assert (await stranger.ask("GET", "/oauth/mail/start")).status == 401
    assert (await service.socket()).status == 401


async def test_of_a_hundred_first_sign_ins_at_once_one_is_the_admin(service: Service) -> None:
    replies = []

    async def knock(number: int) -> None:
        fields = {"content-type": "application/json"}
        body = json.dumps({"email": f"p{number}@example.org"}).encode()
        replies.append(await service.ask("POST", "/auth/dev-login", body, fields=fields))

    service.workspace.service(Identity).limiter.windows.limit = 1_000
    async with trio.open_nursery() as nursery:
        for number in range(100):
            nursery.start_soon(knock, number)
    assert sorted(reply.status for reply in replies) == [200] + [403] * 99
    assert await service.rows("select role from users") == [("admin",)]


async def test_a_link_from_this_machine_for_somebody_without_an_account_says_what_to_do(service: Service) -> None:
    await sign_in(service, "mia@example.org")
    workspace = service.workspace
    token = claim_links.make(workspace.home.spool, email="typo@example.org", now=workspace.clock.now())
    reply = await Person(service).ask("POST", "/auth/claim-link", {"token": token})
    assert reply.status == 403
    assert "typo@example.org" in reply.json["detail"]
    assert "svc invite" in reply.json["detail"]


async def test_what_was_there_before_the_claim_becomes_the_first_admins(service: Service) -> None:
    (thread,) = await service.synced("Hello")
    mia = await sign_in(service, "mia@example.org")
    assert [account["address"] for account in await mia.query("mail.accounts")] == ["mia@example.org"]
    assert (await mia.query("mail.thread", id=thread))["thread"]["subject"] == "Hello"
    assert [event["type"] for event in await mia.query("events.recent", type="mail-received")] == ["mail-received"]


async def test_a_member_sees_nothing_of_the_admins_mail_nor_the_admin_of_the_members(service: Service) -> None:
    (thread,) = await service.synced("Hello")
    mia = await sign_in(service, "mia@example.org")
    code = (await mia.mutate("auth.createInvite"))["code"]
    noa = await sign_in(service, "noa@example.org", invite=code)
    assert (await noa.me())["user"]["role"] == "member"
    assert await noa.query("mail.accounts") == []
    with pytest.raises(RpcError) as refused:
        await noa.query("mail.thread", id=thread)
    assert refused.value.code == "NOT_FOUND"
    with pytest.raises(RpcError) as forbidden:
        await noa.query("users.list")
    assert forbidden.value.code == "FORBIDDEN"
    assert await noa.query("events.recent", type="mail-received") == []


async def test_members_know_each_other_by_name_and_nobody_else_knows_them(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    people = await noa.query("users.directory")
    assert {one["email"] for one in people} == {"mia@example.org", "noa@example.org"}
    assert [set(one) for one in people] == [{"id", "name", "email"}] * 2
    with pytest.raises(RpcError) as refused:
        await Person(service).query("users.directory")
    assert refused.value.code == "UNAUTHORIZED"


@pytest.mark.parametrize("invite", [None, "", "wrong", "x" * 5_000])
async def test_without_an_invite_a_stranger_learns_only_that_one_is_needed(
    service: Service, invite: str | None
) -> None:
    await sign_in(service, "mia@example.org")
    body = {"email": "noa@example.org"} | ({} if invite is None else {"invite": invite})
    reply = await Person(service).ask("POST", "/auth/dev-login", body)
    assert reply.status == 403
    assert "invitation" in json.loads(reply.body)["detail"]


async def test_an_invite_is_used_once_also_by_two_at_once(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    code = (await mia.mutate("auth.createInvite"))["code"]
    replies = []

    async def redeem(email: str) -> None:
        replies.append(await Person(service).ask("POST", "/auth/dev-login", {"email": email, "invite": code}))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(redeem, "a@example.org")
        nursery.start_soon(redeem, "b@example.org")
    assert sorted(reply.status for reply in replies) == [200, 403]


async def test_a_locked_invite_is_for_that_address_in_any_case_and_for_no_other(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    code = (await mia.mutate("auth.createInvite", email="Noa@example.org"))["code"]
    for other in ("noah@example.org", "noa@example.com", "nöa@example.org"):
        reply = await Person(service).ask("POST", "/auth/dev-login", {"email": other, "invite": code})
        assert reply.status == 403
    assert (await (await sign_in(service, "NOA@example.org", invite=code)).me())["user"]["email"] == "noa@example.org"


async def test_a_late_or_revoked_invite_is_worth_nothing(service: Service, wall: VirtualClock) -> None:
    mia = await sign_in(service, "mia@example.org")
    late = (await mia.mutate("auth.createInvite", expiresInDays=1))["code"]
    revoked = (await mia.mutate("auth.createInvite"))["code"]
    rows = {row["expiresAt"]: row["id"] for row in await mia.query("auth.invites")}
    await mia.mutate("auth.revokeInvite", id=rows[max(rows)])
    wall.offset_ms += DAY_MS
    for code in (late, revoked):
        reply = await Person(service).ask("POST", "/auth/dev-login", {"email": "n@example.org", "invite": code})
        assert reply.status == 403


async def test_the_last_admin_stays_one(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    user = (await mia.me())["user"]["id"]
    with pytest.raises(RpcError) as refused:
        await mia.mutate("users.setRole", id=user, role="member")
    assert refused.value.code == "CONFLICT"


async def test_an_instance_that_others_can_reach_is_claimed_by_its_token_only(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    token = "a-long-random-claim-token"
    async with open_service(
        tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_HOST="192.0.2.7", SVC_CLAIM_TOKEN=token
    ) as service:
        stranger = Person(service)
        assert (await stranger.ask("GET", "/login")).status == 200
        with pytest.raises(RpcError) as refused:
            await stranger.query("mail.accounts")
        assert refused.value.status == 401
        for wrong in (None, "a-long-random-claim-tokeN"):
            body = {"email": "eve@example.org"} | ({} if wrong is None else {"invite": wrong})
            assert (await stranger.ask("POST", "/auth/dev-login", body)).status == 403
        mia = await sign_in(service, "mia@example.org", invite=token)
        assert (await mia.me())["user"]["role"] == "admin"
        again = await stranger.ask("POST", "/auth/dev-login", {"email": "eve@example.org", "invite": token})
        assert again.status == 403
        assert token not in str(await service.dump())


@pytest.mark.parametrize(
    "fields",
    [
        {"host": "mail.example.org"},
        {"x-forwarded-for": "198.51.100.7"},
        {"via": "1.1 caddy"},
        {"x-forwarded-proto": "https"},
        {"forwarded": "for=198.51.100.7"},
    ],
    ids=lambda fields: next(iter(fields)),
)
async def test_who_comes_through_a_proxy_is_not_the_unclaimed_administrator(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, fields: dict[str, str]
) -> None:
    origin = "https://mail.example.org"
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_PUBLIC_ORIGIN=origin) as service:
        host = fields.pop("host", HOST)
        assert (await service.get("/trpc/mail.accounts")).status == 200
        assert (await service.ask("GET", "/trpc/mail.accounts", host=host, fields=fields)).status == 401
        body = b'{"email":"eve@example.org"}'
        through = {"content-type": "application/json", **fields}
        assert (await service.ask("POST", "/auth/dev-login", body, host=host, fields=through)).status == 403
        assert (await sign_in(service, "mia@example.org")).fields


async def test_identity_turned_off_wins_over_cookies_and_claims(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        mia = await sign_in(service, "mia@example.org")
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_AUTH="off") as service:
        mia.service = service
        assert (await mia.me())["mode"] == "off"
        assert await Person(service).query("users.list")


@pytest.mark.parametrize("email", ["", "mia", "@example.org", "mia@", "a b@c.org", "a\n@b.org", "x" * 400 + "@b.org"])
async def test_what_is_no_address_is_refused(service: Service, email: str) -> None:
    assert (await Person(service).ask("POST", "/auth/dev-login", {"email": email})).status == 400


async def test_a_sign_in_replaces_the_session_that_the_browser_had(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    reply = await mia.ask("POST", "/auth/dev-login", {"email": "mia@example.org"})
    assert (await mia.me())["user"] is None
    renewed = Person(service, {"cookie": cookie_of(reply)})
    assert (await renewed.me())["user"]["email"] == "mia@example.org"
    assert len(await renewed.query("auth.sessions")) == 1
