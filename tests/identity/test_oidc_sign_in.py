"""Signing in through an identity provider, at the door of the whole service. Only the provider is scripted."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from svc.clock import MINUTE_MS, VirtualClock
from svc.identity.oauth_states import begin_round_trip
from svc.principal import UNCLAIMED, system
from svc.store import Tx
from tests.identity.oidc_door import MIA, NOA, NOT_ADMITTED, Browser, invite, open_door, people, place, reason
from tests.identity.people import Person
from tests.identity.scripted_provider import ABSENT, CLIENT_SECRET, ISSUER, ScriptedProvider, key, signed
from tests.mail.scripted_http import answer
from tests.recorded_log import RecordedLog
from tests.support.service import ORIGIN, Service

# Getting in


async def test_the_first_sign_in_claims_the_instance_and_opens_a_session(door: Service, idp: ScriptedProvider) -> None:
    mia = Browser(door, idp)
    assert await Person(door).me() == {"user": None, "mode": "unclaimed", "devLogin": False, "googleLogin": True}
    reply = await mia.sign_in(**MIA)
    assert place(reply) == "/"
    (session,) = [value for name, value in reply.headers if name == "set-cookie" and value.startswith("svc_session=")]
    assert session.endswith("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax")
    me = await mia.person.me()
    assert (me["mode"], me["user"]["email"], me["user"]["name"]) == ("claimed", "mia@example.org", "Mia")
    assert me["user"]["role"] == "admin"
    assert await door.rows("select issuer, subject from identities") == [(ISSUER, "sub-1")]
    assert await door.rows("select kind, name from devices") == [("web-session", "Mosaic/1.0")]
    assert await door.rows("select 1 from oauth_states") == []


async def test_a_person_without_account_and_invite_is_told_so_and_nothing_else(
    door: Service, idp: ScriptedProvider
) -> None:
    await Browser(door, idp).sign_in(**MIA)
    before = await door.dump()
    for query in ("", "?invite=made-up", "?invite="):
        refused = reason(await Browser(door, idp).sign_in(query, **NOA))
        assert refused == NOT_ADMITTED
    after = await door.dump()
    for name in ("oauth_states", "capability_audit", "sqlite_sequence"):  # it began, and the client was used for it
        del before[name], after[name]
    assert after == before


async def test_an_invite_makes_a_member_once(door: Service, idp: ScriptedProvider) -> None:
    owner = Browser(door, idp)
    await owner.sign_in(**MIA)
    code = await invite(owner)
    noa = Browser(door, idp)
    assert place(await noa.sign_in(f"?invite={code}&next=/p/mail", **NOA)) == "/p/mail"
    assert (await noa.person.me())["user"]["role"] == "member"
    third = {"sub": "sub-3", "email": "ole@example.org"}
    assert reason(await Browser(door, idp).sign_in(f"?invite={code}", **third)) == NOT_ADMITTED
    assert await people(door) == [("mia@example.org", "admin"), ("noa@example.org", "member")]


async def test_an_invite_for_one_address_is_for_that_address(door: Service, idp: ScriptedProvider) -> None:
    owner = Browser(door, idp)
    await owner.sign_in(**MIA)
    code = await invite(owner, email="noa@example.org")
    refused = await Browser(door, idp).sign_in(f"?invite={code}&next=/p/mail", sub="sub-3", email="ole@example.org")
    assert reason(refused) == NOT_ADMITTED
    kept = parse_qs(urlsplit(place(refused)).query)
    assert (kept["invite"], kept["next"]) == ([code], ["/p/mail"])
    assert place(await Browser(door, idp).sign_in(f"?invite={code}", **NOA | {"email": "Noa@Example.org"})) == "/"


async def test_a_sign_in_ends_the_session_that_the_browser_had(door: Service, idp: ScriptedProvider) -> None:
    mia = Browser(door, idp)
    await mia.sign_in(**MIA)
    before = mia.person
    await mia.sign_in(**MIA)
    assert (await before.me())["user"] is None
    assert (await mia.person.me())["user"]["email"] == "mia@example.org"


async def test_two_tabs_may_sign_in_at_once(door: Service, idp: ScriptedProvider) -> None:
    mia = Browser(door, idp)
    first, second, third = await mia.start(), await mia.start("?next=/p/mail"), await mia.start("?next=/settings")
    idp.token_answer = answer(b"", status=503)
    assert reason(await mia.get(idp.consent(first))) == "provider-away"
    idp.token_answer = None
    assert place(await mia.get(idp.consent(third))) == "/settings"
    assert place(await mia.get(idp.consent(second))) == "/p/mail"
    assert len(await door.rows("select 1 from sessions")) == 1


# Who it is


async def test_an_identity_is_its_subject_whatever_becomes_of_its_address(door: Service, idp: ScriptedProvider) -> None:
    await Browser(door, idp).sign_in(**MIA)
    for claims in (
        {"sub": "sub-1", "email": "renamed@example.org"},
        {"sub": "sub-1", "email": "mia@example.org", "email_verified": False},
        {"sub": "sub-1", "email": ABSENT, "email_verified": ABSENT},
    ):
        again = Browser(door, idp)
        assert place(await again.sign_in(**claims)) == "/"
        assert (await again.person.me())["user"]["email"] == "mia@example.org"
    assert await people(door) == [("mia@example.org", "admin")]


async def test_another_identity_with_the_same_verified_address_is_linked(door: Service, idp: ScriptedProvider) -> None:
    await Browser(door, idp).sign_in(**MIA)
    again = Browser(door, idp)
    assert place(await again.sign_in(sub="sub-9", email=" MIA@Example.org")) == "/"
    assert await people(door) == [("mia@example.org", "admin")]
    assert await door.rows("select subject from identities order by subject") == [("sub-1",), ("sub-9",)]


@pytest.mark.parametrize("lookalike", ["mіa@example.org", "mia@exаmple.org", "mıa@example.org", "mia＠example.org"])
async def test_an_address_that_only_looks_the_same_is_another(
    door: Service, idp: ScriptedProvider, lookalike: str
) -> None:
    await Browser(door, idp).sign_in(**MIA)
    reason(await Browser(door, idp).sign_in(sub="sub-9", email=lookalike))
    assert await door.rows("select subject from identities") == [("sub-1",)]


@pytest.mark.parametrize("verified", [False, "true", 1, ABSENT])
async def test_an_address_that_is_not_verified_claims_links_and_redeems_nothing(
    door: Service, idp: ScriptedProvider, verified: object
) -> None:
    stranger = {"sub": "sub-9", "email": "mia@example.org", "email_verified": verified}
    assert reason(await Browser(door, idp).sign_in(**stranger)) == "unverified"
    assert await people(door) == []
    owner = Browser(door, idp)
    await owner.sign_in(**MIA)
    code = await invite(owner)
    known = reason(await Browser(door, idp).sign_in(f"?invite={code}", **stranger))
    unknown = reason(await Browser(door, idp).sign_in(f"?invite={code}", **stranger | {"email": "ole@example.org"}))
    assert known == unknown
    assert await people(door) == [("mia@example.org", "admin")]
    assert await door.rows("select subject from identities") == [("sub-1",)]
    assert await door.rows("select 1 from invites where used_at is not null") == []


@pytest.mark.parametrize("email", ["", " ", "mia", "@example.org", "mia@", "mia @example.org", "mia@example.org\r\nx"])
async def test_what_is_no_address_makes_no_user(door: Service, idp: ScriptedProvider, email: str) -> None:
    assert reason(await Browser(door, idp).sign_in(email=email))
    assert await people(door) == []


async def test_an_address_that_the_token_leaves_out_is_asked_for(door: Service, idp: ScriptedProvider) -> None:
    bare = {"email": ABSENT, "email_verified": ABSENT, "name": ABSENT}
    idp.userinfo = {"sub": "sub-1", "email": "mia@example.org", "email_verified": True, "name": "Mia"}
    mia = Browser(door, idp)
    assert place(await mia.sign_in(**bare)) == "/"
    assert (await mia.person.me())["user"]["name"] == "Mia"


@pytest.mark.parametrize(
    "userinfo",
    [
        {"sub": "sub-2", "email": "mia@example.org", "email_verified": True},
        {"email": "mia@example.org", "email_verified": True},
        {"sub": "sub-1", "email": "mia@example.org", "email_verified": "true"},
        {"sub": "sub-1", "email": ["mia@example.org"], "email_verified": True},
        None,
    ],
)
async def test_an_address_of_another_subject_or_unverified_counts_for_nothing(
    door: Service, idp: ScriptedProvider, userinfo: dict[str, object] | None
) -> None:
    idp.userinfo = userinfo
    assert reason(await Browser(door, idp).sign_in(email=ABSENT)) == "unverified"
    assert await people(door) == []


async def test_an_admin_is_tied_to_a_second_provider_only_by_a_session_of_their_own(
    door: Service, idp: ScriptedProvider
) -> None:
    mia = Browser(door, idp)
    await mia.sign_in(**MIA)

    def belongs_elsewhere(tx: Tx) -> None:
        tx.run("update identities set issuer = 'https://old.example.org'")

    await door.workspace.store.write(belongs_elsewhere)
    assert reason(await Browser(door, idp).sign_in(**MIA)) == "other-provider"
    assert len(await door.rows("select 1 from identities")) == 1
    assert place(await mia.sign_in(**MIA)) == "/"
    assert len(await door.rows("select 1 from identities")) == 2
    assert place(await Browser(door, idp).sign_in(**MIA)) == "/"


async def test_a_member_is_tied_to_a_second_provider_by_verified_address(door: Service, idp: ScriptedProvider) -> None:
    owner = Browser(door, idp)
    await owner.sign_in(**MIA)
    await Browser(door, idp).sign_in(f"?invite={await invite(owner)}", **NOA)

    def belongs_elsewhere(tx: Tx) -> None:
        tx.run("update identities set issuer = 'https://old.example.org' where subject = 'sub-2'")

    await door.workspace.store.write(belongs_elsewhere)
    assert place(await Browser(door, idp).sign_in(**NOA)) == "/"


# The round trip


async def test_a_callback_works_once(door: Service, idp: ScriptedProvider) -> None:
    mia = Browser(door, idp)
    back = idp.consent(await mia.start())
    assert place(await mia.get(back)) == "/"
    again = await mia.get(back)
    assert (again.status, again.json["code"]) == (403, "forbidden")
    assert len(await door.rows("select 1 from sessions")) == 1


async def test_a_callback_in_another_browser_is_refused_and_spent(door: Service, idp: ScriptedProvider) -> None:
    mia = Browser(door, idp)
    back = idp.consent(await mia.start())
    victim = Browser(door, idp)
    assert (await victim.get(back)).status == 403
    other = Browser(door, idp)
    await other.start()
    assert (await other.get(back)).status == 403
    assert (await mia.get(back)).status == 403
    assert idp.asked_for("/token") == 0
    assert await people(door) == []


async def test_a_state_that_is_stale_missing_or_made_up_is_refused(
    door: Service, idp: ScriptedProvider, wall: VirtualClock
) -> None:
    mia = Browser(door, idp)
    back = idp.consent(await mia.start())
    for target in ("/auth/idp/callback", "/auth/idp/callback?code=code-0", "/auth/idp/callback?code=code-0&state=x"):
        assert (await mia.get(target)).status == 403
    wall.offset_ms += 10 * MINUTE_MS
    assert (await mia.get(back)).status == 403
    assert idp.asked_for("/token") == 0


async def test_the_state_of_another_purpose_is_none_for_a_sign_in(door: Service, idp: ScriptedProvider) -> None:
    trip = await door.workspace.store.write(
        begin_round_trip, UNCLAIMED, purpose="mail", hint="", browser_key="k" * 43, payload=""
    )
    browser = Browser(door, idp, jar={"svc_login": ("k" * 43, "/auth/idp/")})
    assert (await browser.get(f"/auth/idp/callback?code=x&state={trip.state}")).status == 403


async def test_a_state_without_luggage_of_this_browser_opens_nothing(door: Service, idp: ScriptedProvider) -> None:
    trip = await door.workspace.store.write(
        begin_round_trip, system("login"), purpose="login", hint="", browser_key="k" * 43, payload="not sealed"
    )
    browser = Browser(door, idp, jar={"svc_login": ("k" * 43, "/auth/idp/")})
    assert reason(await browser.get(f"/auth/idp/callback?code=x&state={trip.state}")) == "code-rejected"


async def test_a_stolen_code_is_worth_nothing_in_another_round_trip(door: Service, idp: ScriptedProvider) -> None:
    victim, thief = Browser(door, idp), Browser(door, idp)
    stolen = parse_qs(urlsplit(idp.consent(await victim.start())).query)["code"][0]
    back = idp.consent(await thief.start(), code=stolen)
    assert reason(await thief.get(back)) == "code-rejected"
    assert await people(door) == []


async def test_a_code_used_twice_signs_in_once(door: Service, idp: ScriptedProvider) -> None:
    mia = Browser(door, idp)
    back = idp.consent(await mia.start())
    await mia.get(back)
    code = parse_qs(urlsplit(back).query)["code"][0]
    other = Browser(door, idp)
    assert reason(await other.get(idp.consent(await other.start(), code=code))) == "code-rejected"


async def test_a_trip_begins_on_the_canonical_origin(door: Service, idp: ScriptedProvider) -> None:
    elsewhere = Browser(door, idp, host="localhost:4780")
    reply = await elsewhere.get("/auth/idp/start?invite=a&next=/p/mail")
    assert place(reply) == f"{ORIGIN}/auth/idp/start?invite=a&next=/p/mail"
    assert not elsewhere.jar
    assert await door.rows("select 1 from oauth_states") == []
    location = await Browser(door, idp).start()
    assert parse_qs(urlsplit(location).query)["redirect_uri"] == [f"{ORIGIN}/auth/idp/callback"]


async def test_an_https_origin_gets_secure_cookies_and_its_own_callback(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, idp: ScriptedProvider
) -> None:
    public = "https://svc.example.org"
    token = "a-long-random-claim-token"
    async with open_door(tmp_path, wall, log, idp, SVC_PUBLIC_ORIGIN=public, SVC_CLAIM_TOKEN=token) as door:
        mia = Browser(door, idp, host="svc.example.org")
        begun = await mia.get(f"/auth/idp/start?invite={token}")
        assert parse_qs(urlsplit(place(begun)).query)["redirect_uri"] == [f"{public}/auth/idp/callback"]
        ended = await mia.get(idp.consent(place(begun)))
        cookies = [value for reply in (begun, ended) for name, value in reply.headers if name == "set-cookie"]
        assert len(cookies) == 2
        assert all("; HttpOnly; SameSite=Lax; Secure" in one for one in cookies)


async def test_nothing_that_opens_something_lies_in_the_database_or_the_log(
    door: Service, idp: ScriptedProvider, log: RecordedLog
) -> None:
    owner = Browser(door, idp)
    await owner.sign_in(**MIA)
    code = await invite(owner)
    noa = Browser(door, idp)
    location = await noa.start(f"?invite={code}")
    query = parse_qs(urlsplit(location).query)
    hidden = [code, query["state"][0], query["nonce"][0], noa.jar["svc_login"][0], CLIENT_SECRET, "S3CRET"]
    assert not [secret for secret in hidden if secret in str(await door.dump())]
    idp.sign = lambda claims: signed(claims, key("evil"), kid="one")
    reason(await noa.get(idp.consent(location)))
    hidden += ["code-1", "noa@example.org"]
    assert "identity.sign_in_refused" in log.events("warning")
    assert not [secret for secret in hidden if secret in log.text]


@pytest.mark.parametrize(
    ("wanted", "place_then"),
    [
        ("/p/mail?thread=a%2Fb#x", "/p/mail?thread=a%2Fb#x"),
        ("https://evil.example.org", "/"),
        ("//evil.example.org", "/"),
        ("/\t/evil.example.org", "/"),
        ("/auth/idp/start", "/"),
    ],
)
async def test_a_person_goes_on_where_they_were_and_nowhere_else(
    door: Service, idp: ScriptedProvider, wanted: str, place_then: str
) -> None:
    assert place(await Browser(door, idp).sign_in(f"?next={quote(wanted, safe='')}")) == place_then
