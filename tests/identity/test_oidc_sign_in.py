"""Signing in through an identity provider, at the door of the whole service. Only the provider is scripted."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import trio

from svc.clock import MINUTE_MS, VirtualClock
from svc.identity.idp_routes import PROVIDER_AWAY, REFUSALS, REFUSED
from svc.identity.oauth_states import begin_round_trip
from svc.identity.oidc_refusal import RefusalCause
from svc.principal import UNCLAIMED, system
from svc.store import Tx
from svc.surface.assets import static_directory
from svc.workspace import Workspace
from tests.identity.oidc_world import ABSENT, CLIENT_ID, CLIENT_SECRET, ISSUER, ScriptedProvider, key, signed
from tests.identity.people import Person
from tests.mail.scripted_http import Answer, answer, no_answer
from tests.recorded_log import RecordedLog
from tests.support.http import Reply
from tests.support.service import HOST, ORIGIN, Service, open_service

NOT_ADMITTED = "not-admitted"
MIA = {"sub": "sub-1", "email": "mia@example.org", "name": "Mia"}
NOA = {"sub": "sub-2", "email": "noa@example.org", "name": "Noa"}


@pytest.fixture
def idp(wall: VirtualClock) -> ScriptedProvider:
    return ScriptedProvider(clock=wall)


@pytest.fixture
async def door(tmp_path: Path, wall: VirtualClock, log: RecordedLog, idp: ScriptedProvider) -> AsyncIterator[Service]:
    async with open_door(tmp_path, wall, log, idp) as opened:
        yield opened


@asynccontextmanager
async def open_door(
    directory: Path, wall: VirtualClock, log: RecordedLog, idp: ScriptedProvider, **settings: str
) -> AsyncIterator[Service]:
    wanted = {
        "IDP_CLIENT_ID": CLIENT_ID,
        "IDP_CLIENT_SECRET": CLIENT_SECRET,
        "SVC_IDP_ISSUER": ISSUER,
        "SVC_AUTH_RATE_LIMIT": "1000",
        **settings,
    }
    async with open_service(directory, clock=wall, log=log, egress=idp, environ=wanted) as opened:
        yield opened


@dataclass
class Browser:
    """A browser with its cookies: each goes back to the paths it was set for, and ends when it is told to."""

    service: Service
    idp: ScriptedProvider
    host: str = HOST
    jar: dict[str, tuple[str, str]] = field(default_factory=dict)

    async def get(self, target: str) -> Reply:
        path = target.partition("?")[0]
        sent = "; ".join(f"{name}={value}" for name, (value, under) in self.jar.items() if path.startswith(under))
        fields = {"user-agent": "Mosaic/1.0", **({"cookie": sent} if sent else {})}
        reply = await self.service.ask("GET", target, host=self.host, fields=fields)
        for header in (value for name, value in reply.headers if name == "set-cookie"):
            pair, *attributes = header.split("; ")
            name, _, value = pair.partition("=")
            under = next(one.removeprefix("Path=") for one in attributes if one.startswith("Path="))
            if "Max-Age=0" in attributes:
                self.jar.pop(name, None)
            else:
                self.jar[name] = (value, under)
        return reply

    async def start(self, query: str = "") -> str:
        """Knock; the screen at the provider."""
        reply = await self.get(f"/auth/idp/start{query}")
        assert reply.status == 302, reply.body
        location = reply.header("location")
        assert location
        assert location.startswith(f"{ISSUER}/auth?"), location
        return location

    async def sign_in(self, query: str = "", /, **claims: object) -> Reply:
        """The whole way, as somebody of whom the provider says ``claims``."""
        self.idp.claims = claims
        return await self.get(self.idp.consent(await self.start(query)))

    @property
    def person(self) -> Person:
        return Person(self.service, {"cookie": f"svc_session={self.jar['svc_session'][0]}"})


def place(reply: Reply) -> str:
    assert reply.status == 302, reply.body
    return reply.header("location") or ""


def reason(reply: Reply) -> str:
    """Why the person is back at the login page, without a session."""
    assert place(reply).startswith("/login?"), place(reply)
    assert not [value for name, value in reply.headers if name == "set-cookie" and value.startswith("svc_session")]
    (code,) = parse_qs(urlsplit(place(reply)).query)["error"]
    return code


async def people(service: Service) -> list[tuple[str, str]]:
    return [
        (email, role) for email, role in await service.rows("select email, role from users order by created_at, id")
    ]


async def invite(owner: Browser, **wanted: object) -> str:
    created = await owner.person.mutate("auth.createInvite", **wanted)
    return str(created["code"])


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


# What goes wrong


@pytest.mark.parametrize("claims", [{"nonce": "x"}, {"iss": "https://evil.example.org"}, {"aud": "x"}, {"sub": ABSENT}])
async def test_a_token_that_is_not_for_this_sign_in_opens_nothing(
    door: Service, idp: ScriptedProvider, log: RecordedLog, claims: dict[str, object]
) -> None:
    assert reason(await Browser(door, idp).sign_in(**claims)) in {"nonce", "issuer", "audience", "no-subject"}
    assert await people(door) == []
    assert "identity.sign_in_refused" in log.events("warning")


@pytest.mark.thorough
async def test_a_token_endpoint_that_gives_no_token_is_told_in_words(door: Service, idp: ScriptedProvider) -> None:
    cases: list[tuple[Answer, str]] = [
        (answer({"error": "invalid_client"}, status=401), "client-rejected"),
        (answer({"error": "unauthorized_client"}, status=400), "client-type"),
        (answer({"error": "deleted_client"}, status=401), "client-gone"),
        (answer({"error": "redirect_uri_mismatch"}, status=400), "redirect-unknown"),
        (answer({"error": "invalid_grant"}, status=400), "code-rejected"),
        (answer({"error": "slow_down"}, status=429), "provider-away"),
        (answer({"error": "invalid_grant"}, status=500), "provider-away"),
        (answer(b"<html>", status=400), "provider-away"),
        (answer(b"", status=302, location="https://evil.example.org"), "provider-away"),
        (answer(b"<html>Hotel WiFi</html>"), "provider-away"),
        (answer({"id_token": 7}), "provider-away"),
        (answer({"access_token": "S3CRET-access"}), "no-identity"),
        (no_answer(may_have_happened=True), "provider-away"),
    ]
    for token_answer, said in cases:
        idp.token_answer = token_answer
        assert reason(await Browser(door, idp).sign_in(**MIA)) == said, token_answer
        idp.token_answer = None
        assert place(await Browser(door, idp).sign_in(**MIA)) == "/", token_answer


async def test_a_provider_that_is_away_at_the_start_is_told_in_words(door: Service, idp: ScriptedProvider) -> None:
    idp.away = True
    reply = await Browser(door, idp).get("/auth/idp/start?invite=abc&next=/p/mail")
    assert reason(reply) == "provider-away"
    assert parse_qs(urlsplit(place(reply)).query)["invite"] == ["abc"]
    idp.away = False
    await Browser(door, idp).start()


@pytest.mark.parametrize(
    ("error", "said"), [("access_denied", "no-consent"), ("server_error", "ended"), ("<b>", "ended")]
)
async def test_a_person_who_turns_back_at_the_provider_is_told_what_happened(
    door: Service, idp: ScriptedProvider, error: str, said: str
) -> None:
    mia = Browser(door, idp)
    state = parse_qs(urlsplit(await mia.start()).query)["state"][0]
    reply = await mia.get(f"/auth/idp/callback?error={quote(error)}&state={state}")
    assert reason(reply) == said
    assert "<" not in place(reply)


@pytest.mark.parametrize(
    ("promised", "named", "goes_in"),
    [
        (False, {}, True),
        (False, {"iss": ISSUER}, True),
        (True, {"iss": ISSUER}, True),
        (True, {}, False),
        (True, {"iss": "https://evil.example.org"}, False),
        (False, {"iss": "https://evil.example.org"}, False),
    ],
)
async def test_an_answer_of_another_issuer_is_not_taken_for_the_one_that_was_asked(
    door: Service, idp: ScriptedProvider, promised: bool, named: dict[str, str], goes_in: bool
) -> None:
    idp.document = {"authorization_response_iss_parameter_supported": promised}
    mia = Browser(door, idp)
    reply = await mia.get(idp.consent(await mia.start(), **named))
    if goes_in:
        assert place(reply) == "/"
    else:
        assert reason(reply) == "another-service"
        assert idp.asked_for("/token") == 0


@pytest.mark.parametrize(
    ("offered", "by_header"),
    [
        (["client_secret_post"], False),
        (["client_secret_basic", "client_secret_post"], False),
        (["client_secret_basic"], True),
        (["private_key_jwt", "client_secret_basic"], True),
    ],
)
async def test_the_client_proves_itself_as_the_provider_wants(
    door: Service, idp: ScriptedProvider, offered: list[str], by_header: bool
) -> None:
    idp.document = {"token_endpoint_auth_methods_supported": offered}
    assert place(await Browser(door, idp).sign_in(**MIA)) == "/"
    assert [sent is not None for sent in idp.authorizations] == [by_header]


async def test_a_proof_that_this_server_can_not_give_is_told_in_words(door: Service, idp: ScriptedProvider) -> None:
    idp.document = {"token_endpoint_auth_methods_supported": ["private_key_jwt"]}
    assert reason(await Browser(door, idp).sign_in(**MIA)) == "client-rejected"


async def test_a_client_rotated_in_the_secrets_store_counts_at_once(door: Service, idp: ScriptedProvider) -> None:
    workspace: Workspace = door.workspace

    def rotate(tx: Tx, secret: str) -> None:
        row = json.dumps({"id": CLIENT_ID, "secret": secret}).encode()
        door.secrets.write(tx, "idp.oauth", row)

    await workspace.store.write(rotate, "old")
    assert reason(await Browser(door, idp).sign_in(**MIA)) == "client-rejected"
    await workspace.store.write(rotate, CLIENT_SECRET)
    assert place(await Browser(door, idp).sign_in(**MIA)) == "/"


async def test_without_a_provider_the_way_is_not_configured(service: Service) -> None:
    reply = await service.get("/auth/idp/start")
    assert (reply.status, reply.json["code"]) == (501, "not_configured")
    reply = await service.get("/auth/idp/callback?code=x&state=y")  # which was never begun here
    assert (reply.status, reply.json["code"]) == (403, "forbidden")


async def test_knocking_too_often_is_refused(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, idp: ScriptedProvider
) -> None:
    async with open_door(tmp_path, wall, log, idp, SVC_AUTH_RATE_LIMIT="4") as door:
        mia = Browser(door, idp)
        for _ in range(2):
            await mia.sign_in(**MIA)
        for target in ("/auth/idp/start", "/auth/idp/callback"):
            reply = await mia.get(target)
            assert reply.status == 429
            assert reply.header("retry-after")


async def test_of_many_first_sign_ins_at_once_one_is_the_admin(door: Service, idp: ScriptedProvider) -> None:
    numbers = iter(range(100))
    idp.sign = lambda claims: signed(
        claims | {"sub": f"s{(number := next(numbers))}", "email": f"p{number}@example.org"}, key("one")
    )
    browsers = [Browser(door, idp) for _ in range(20)]
    ended: list[str] = []

    async def claim(browser: Browser) -> None:
        ended.append(place(await browser.get(idp.consent(await browser.start()))))

    async with trio.open_nursery() as nursery:
        for browser in browsers:
            nursery.start_soon(claim, browser)
    assert sorted(one == "/" for one in ended) == [False] * 19 + [True]
    assert [role for _, role in await people(door)] == ["admin"]


# The words


def test_the_login_page_has_words_for_every_code_that_the_server_sends_it() -> None:
    page = (static_directory() / "identity" / "reasons.js").read_text()
    named = set(re.findall(r'^  "?([a-z-]+)"?:', page, flags=re.MULTILINE))
    assert named == {*get_args(RefusalCause), PROVIDER_AWAY, *REFUSALS.values()}
    assert REFUSED not in named  # it gets the general words
