"""People sign in through identity providers that we did not write; service and provider are processes of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.peers import emulator
from tests.peers.emulator import google
from tests.peers.needs import EMULATOR, OPENID, needs
from tests.peers.oidc_provider import CLIENT_ID, CLIENT_SECRET, OpenId, openid_provider
from tests.support.process import Reply, ServiceProcess

pytestmark = [pytest.mark.journey, pytest.mark.peer]

MIA = "mia@acme.test"
ACCOUNTS: dict[str, dict[str, object]] = {
    "mia": {"email": MIA, "email_verified": True, "name": "Mia"},
    "noa": {"email": "noa@acme.test", "email_verified": True, "name": "Noa"},
    "eve": {"email": MIA, "email_verified": False, "name": "Eve"},
    "tea": {"email": MIA, "email_verified": "true", "name": "Tea"},
}
LIES: list[tuple[dict[str, object], str]] = [
    ({"unsigned": True}, "algorithm"),
    ({"tamper": {"email": "eve@acme.test"}}, "signature"),
    ({"claims": {"iss": "http://127.0.0.1:1"}}, "issuer"),
    ({"claims": {"aud": "another"}}, "audience"),
    ({"claims": {"nonce": "another"}}, "nonce"),
    ({"claims": {"exp": 1}}, "time"),
    ({"claims": {"email_verified": "true"}}, "unverified"),
    ({"header": {"kid": "made-up"}}, "unknown-key"),
]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceProcess]:
    with ServiceProcess(tmp_path) as process:
        yield process


@dataclass
class Browser:
    service: ServiceProcess
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, target: str) -> Reply:
        sent = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        reply = self.service.request("GET", target, headers={"cookie": sent})
        for value in (value for name, value in reply.headers if name == "set-cookie"):
            name, _, content = value.partition(";")[0].partition("=")
            self.cookies[name] = content
        return reply

    def start(self, query: str = "") -> str:
        reply = self.get(f"/auth/idp/start{query}")
        assert reply.status == 302, reply.body
        return reply.header("location") or ""

    def come_back(self, location: str) -> Reply:
        parts = urlsplit(location)
        assert f"{parts.scheme}://{parts.netloc}" == self.service.base
        return self.get(f"{parts.path}?{parts.query}")

    def me(self) -> dict[str, str] | None:
        user: dict[str, str] | None = self.get("/auth/me").json()["user"]
        return user


def start(service: ServiceProcess, issuer: str, client_id: str = CLIENT_ID, client_secret: str = CLIENT_SECRET) -> None:
    service.start(
        SVC_IDP_ISSUER=issuer, IDP_CLIENT_ID=client_id, IDP_CLIENT_SECRET=client_secret, SVC_AUTH_RATE_LIMIT="1000"
    )


def callback(service: ServiceProcess) -> str:
    return f"{service.base}/auth/idp/callback"


def sign_in(service: ServiceProcess, idp: OpenId, account: str, query: str = "") -> tuple[Browser, Reply]:
    browser = Browser(service)
    return browser, browser.come_back(idp.sign_in(browser.start(query), account))


def reason(reply: Reply) -> str:
    location = reply.header("location") or ""
    assert location.startswith("/login?"), (reply.status, location, reply.body)
    return parse_qs(urlsplit(location).query)["error"][0]


@needs(OPENID)
def test_a_workspace_is_claimed_shared_and_closed_through_a_certified_provider(service: ServiceProcess) -> None:
    with openid_provider(redirect_uri=callback(service), accounts=ACCOUNTS) as idp:
        start(service, idp.base)
        assert reason(sign_in(service, idp, "eve")[1]) == "unverified"
        mia, reply = sign_in(service, idp, "mia", "?next=/p/mail")
        assert (reply.status, reply.header("location")) == (302, "/p/mail")
        me = mia.me()
        assert me
        assert (me["email"], me["role"], me["name"]) == (MIA, "admin", "Mia")

        assert reason(sign_in(service, idp, "noa")[1]) == "not-admitted"
        assert reason(sign_in(service, idp, "eve")[1]) == "unverified"
        assert reason(sign_in(service, idp, "tea")[1]) == "unverified"
        session = {"cookie": f"svc_session={mia.cookies['svc_session']}", "content-type": "application/json"}
        created = service.request("POST", "/trpc/auth.createInvite", b"{}", session).json()
        noa, reply = sign_in(service, idp, "noa", f"?invite={created['result']['data']['code']}")
        assert reply.header("location") == "/"
        assert (noa.me() or {})["role"] == "member"

        assert service.request("GET", "/trpc/mail.accounts").status == 401
        assert service.stop() == 0
        assert service.command("fsck").stdout == "ok\n"
        assert not [secret for secret in (CLIENT_SECRET, noa.cookies["svc_session"]) if secret in service.log()]


@pytest.mark.share(2)
@needs(OPENID)
@pytest.mark.parametrize(
    ("algorithm", "authentication", "in_token"),
    [
        ("RS256", "client_secret_basic", False),
        ("PS256", "client_secret_post", False),
        ("ES256", "client_secret_post", True),
        ("EdDSA", "client_secret_basic", True),
    ],
)
def test_a_provider_may_sign_ask_and_tell_in_its_own_way(
    service: ServiceProcess, algorithm: str, authentication: str, in_token: bool
) -> None:
    with openid_provider(
        redirect_uri=callback(service),
        accounts=ACCOUNTS,
        algorithm=algorithm,
        authentication=authentication,
        in_token=in_token,
    ) as idp:
        start(service, idp.base)
        mia, reply = sign_in(service, idp, "mia")
        assert reply.header("location") == "/", reply.header("location")
        assert (mia.me() or {})["email"] == MIA
        assert "SecurityWarning" not in service.log()


@needs(OPENID)
def test_who_turns_back_or_brings_an_old_or_stolen_callback_gets_nothing(service: ServiceProcess) -> None:
    with openid_provider(redirect_uri=callback(service), accounts=ACCOUNTS) as idp:
        start(service, idp.base)
        timid = Browser(service)
        assert reason(timid.come_back(idp.sign_in(timid.start(), "mia", abort=True))) == "no-consent"
        mia = Browser(service)
        back = idp.sign_in(mia.start(), "mia")
        assert Browser(service).come_back(back).status == 403
        assert mia.come_back(back).status == 403
        back = idp.sign_in(mia.start(), "mia")
        stolen = parse_qs(urlsplit(back).query)["code"][0]
        eve = Browser(service)
        own = parse_qs(urlsplit(idp.sign_in(eve.start(), "eve")).query)
        swapped = f"{callback(service)}?code={stolen}&state={own['state'][0]}&iss={own['iss'][0]}"
        assert reason(eve.come_back(swapped)) == "code-rejected"
        assert service.rows("select 1 from users") == []


@needs(OPENID)
def test_a_provider_that_lies_is_not_believed(service: ServiceProcess) -> None:
    accounts = {"mia": ACCOUNTS["mia"]}
    with openid_provider(redirect_uri=callback(service), accounts=accounts, provider="mock") as idp:
        start(service, idp.base)
        for how, why in LIES:
            idp.lie(**how)
            assert reason(sign_in(service, idp, "mia")[1]) == why, how
        assert service.rows("select 1 from users") == []
        idp.lie()
        assert sign_in(service, idp, "mia")[1].header("location") == "/"
        assert len(service.rows("select 1 from users")) == 1


@needs(EMULATOR)
def test_a_person_signs_in_with_google(service: ServiceProcess) -> None:
    with google(users=[MIA], redirect_uris=[callback(service)]) as peer:
        start(service, peer.base, emulator.CLIENT_ID, emulator.CLIENT_SECRET)
        mia = Browser(service)
        reply = mia.come_back(peer.authorize(mia.start("?next=/p/mail"), MIA))
        assert (reply.status, reply.header("location")) == (302, "/p/mail")
        assert (mia.me() or {})["email"] == MIA
        assert service.stop() == 0
