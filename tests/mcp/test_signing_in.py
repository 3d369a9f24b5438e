"""Sign-ins at MCP servers: with the official SDK's server and its authorization server, and with hostile ones."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx2
import msgspec
import pytest
import trio

from svc.clock import VirtualClock
from svc.mcp.signing.discovery import Challenge, Discovering, NoSignIn, by_document, challenge_of
from svc.mcp.signing.way import Way
from svc.protocol import Headers
from svc.protocol.egress import EgressResponse
from tests.mcp.sdk_servers import granting, guarded_by
from tests.mcp.using import AGENT, allow, connect, looked, server, used
from tests.peers.needs import OPENID, needs
from tests.peers.oidc_provider import openid_provider
from tests.recorded_log import RecordedLog
from tests.support.service import HOST, RpcError, Service, open_service

SETTINGS: Final = "/settings/mcp"
NAME: Final = "svc.example.org"


@pytest.fixture
async def there(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        yield service


async def begun(service: Service, name: str = "odd", *, host: str = HOST) -> tuple[str, str]:
    """Where the browser is sent to, and the cookie that it gets."""
    shown = await service.mutate("mcp.signIn", name=name)
    reply = await service.ask("GET", shown["start"], host=host)
    assert reply.status == 302, reply.body
    return str(reply.header("location")), str(reply.header("set-cookie")).partition(";")[0]


async def consented(service: Service, host: str = HOST) -> tuple[str, str]:
    """Where the authorization server sends the browser back to, and its cookie."""
    location, cookie = await begun(service, host=host)
    async with httpx2.AsyncClient() as browser:
        answer = await browser.get(location)
    assert answer.status_code == 302, answer.text
    parts = urlsplit(answer.headers["location"])
    return f"{parts.path}?{parts.query}", cookie


async def signed_in(service: Service, host: str = HOST) -> str:
    """Where the browser ends."""
    back, cookie = await consented(service, host)
    reply = await service.get(back, cookie=cookie)
    assert reply.status == 302, reply.body
    return str(reply.header("location"))


@pytest.mark.thorough
@pytest.mark.wall_clock
async def test_a_server_that_wants_a_sign_in_gets_one_that_renews_itself_and_can_end(
    there: Service, log: RecordedLog
) -> None:
    async with granting() as notes:
        await there.mutate("pages.save", path="mcp/odd", body=f"---\nurl: {notes.url}\n---\n")
        await there.mutate("pages.save", path="agents/user", body=AGENT)
        with pytest.raises(RpcError, match="no such MCP server"):
            await there.mutate("mcp.signIn", name="odd")  # nobody has agreed to reach it
        found = await connect(there)
        assert (found["state"], found["signIn"]) == ("failed", "wanted")
        assert "sign in at its card" in found["problem"]
        host = urlsplit(notes.url).netloc
        shown = await there.mutate("mcp.signIn", name="odd")
        assert (shown["place"], shown["server"], shown["scopes"], shown["wantsClient"]) == (
            host,
            host,
            ["notes"],
            False,
        )
        location, _ = await begun(there)
        asked = {name: value for name, (value,) in parse_qs(urlsplit(location).query).items()}
        assert (asked["resource"], asked["code_challenge_method"], asked["scope"]) == (notes.url, "S256", "notes")
        assert len(notes.clients) == 1, "it is registered once"

        notes.lasts_s = 30  # less than the margin: each use renews it
        assert await signed_in(there) == SETTINGS
        found = await looked(there)
        assert (found["state"], found["signIn"], [one["tool"] for one in found["tools"]]) == (
            "ready",
            "done",
            ["tells"],
        )
        await allow(there)
        said = await used(there, {}, tool="mcp.odd.tells")
        assert "The access is ***" in said, "what a server repeats is masked"
        first = next(iter(notes.refreshes))
        await used(there, {}, tool="mcp.odd.tells")
        assert first not in notes.refreshes, "the refresh token was changed for another"
        notes.lasts_s = 3_600
        await used(there, {}, tool="mcp.odd.tells")
        notes.accesses.clear()  # it refuses an access token that should be good: another one is fetched, once
        await used(there, {}, tool="mcp.odd.tells")
        assert len(notes.refreshes) == 1

        notes.accesses.clear()
        notes.refreshes.clear()
        notes.clients.clear()
        assert "Settings, MCP servers" in await used(there, {}, tool="mcp.odd.tells")
        found = await server(there)
        assert found["signIn"] == "ended"
        assert found["signInProblem"]
        assert await signed_in(there) == SETTINGS, "with another client, for the first is not known there any more"
        assert (await looked(there))["signIn"] == "done"

        # Another address is another server: it is not shown what this one has granted.
        async with granting() as other:
            await there.mutate("pages.save", path="mcp/odd", body=f"---\nurl: {other.url}\n---\n", revision=1)
            assert (await connect(there))["signIn"] == "wanted"
            assert other.accesses == {}
        await there.mutate("pages.save", path="mcp/odd", body=f"---\nurl: {notes.url}\n---\n", revision=2)
        await connect(there)
        await signed_in(there)
        await looked(there)
        await there.mutate("mcp.signOut", name="odd")
        assert notes.accesses == {}, "it was given back"
        assert (await server(there))["signIn"] == "none"
        everything = str(await there.dump()) + log.text + str(await there.query("mcp.servers"))
        assert not [one for one in notes.said if one in everything], "no token is in a table, a log or a page"


@pytest.mark.wall_clock
async def test_a_way_back_that_is_not_ours_or_comes_twice_is_refused(there: Service) -> None:
    async with granting() as notes:
        await there.mutate("pages.save", path="mcp/odd", body=f"---\nurl: {notes.url}\n---\n")
        await connect(there)
        back, cookie = await consented(there)
        stale = f"{SETTINGS}?signIn=stale"
        assert (await there.get(back)).header("location") == stale, "another browser"
        assert (await there.get(back, cookie=cookie)).header("location") == stale, "that state is used up"
        reply = await there.get("/oauth/mcp/callback?code=x&state=y", cookie=cookie)
        assert reply.header("location") == stale
        notes.issuer = "https://evil.example"
        assert await signed_in(there) == f"{SETTINGS}?server=odd&signIn=mixed-up"
        notes.issuer = None
        back, cookie = await consented(there)
        state = parse_qs(urlsplit(back).query)["state"][0]
        denied = f"/oauth/mcp/callback?error=access_denied&error_description=x&state={state}"
        reply = await there.get(denied, cookie=cookie)
        assert reply.header("location") == f"{SETTINGS}?server=odd&signIn=no-consent"
        back, cookie = await consented(there)
        await there.mutate("pages.save", path="mcp/odd", body="---\nurl: https://evil.example/\n---\n", revision=1)
        reply = await there.get(back, cookie=cookie)
        assert reply.header("location") == f"{SETTINGS}?server=odd&signIn=changed"
        assert notes.accesses == {}


@pytest.mark.wall_clock
async def test_a_place_that_reads_who_we_are_finds_it_at_our_address(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    own: dict[str, Any] = {"SVC_PUBLIC_ORIGIN": f"https://{NAME}", "SVC_AUTH": "off"}
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", **own) as there, granting() as notes:

        async def read(address: str) -> bytes:
            assert address == f"https://{NAME}/oauth/mcp/client.json"
            return (await there.get("/oauth/mcp/client.json")).body

        notes.reads = read
        await there.mutate("pages.save", path="mcp/odd", body=f"---\nurl: {notes.url}\n---\n")
        await connect(there)
        shown = await there.mutate("mcp.signIn", name="odd")
        assert (shown["wantsClient"], shown["document"]) == (False, f"https://{NAME}/oauth/mcp/client.json")
        assert await signed_in(there, NAME) == SETTINGS
        assert (await looked(there))["signIn"] == "done"
        assert notes.clients == {}, "nothing was registered"
        notes.accesses.clear()
        await there.mutate("mcp.connect", name="odd", launch=(await server(there))["launch"])
        assert [one["tool"] for one in (await looked(there))["tools"]] == ["tells"], "and renewed by that id"
        await there.mutate("mcp.setClient", name="odd", clientId="by-hand")
        assert (await there.mutate("mcp.signIn", name="odd"))["document"] is None, "what a person enters comes first"


@pytest.mark.wall_clock
@pytest.mark.peer
@pytest.mark.thorough
@needs(OPENID)
async def test_a_certified_provider_reads_our_document_and_its_token_is_for_that_server_alone(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    own: dict[str, Any] = {"SVC_PUBLIC_ORIGIN": f"https://{NAME}", "SVC_AUTH": "off"}
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", **own) as there:
        address = f"https://{NAME}/oauth/mcp/client.json"
        document = (await there.get("/oauth/mcp/client.json")).body.decode()
        provider = openid_provider(
            provider="documents", accounts={"mia": {}}, documents={address: document}, scope="notes"
        )
        with provider as idp:
            async with guarded_by(idp.base) as notes:
                await there.mutate("pages.save", path="mcp/odd", body=f"---\nurl: {notes.url}\n---\n")
                await there.mutate("pages.save", path="agents/user", body=AGENT)
                await connect(there)
                shown = await there.mutate("mcp.signIn", name="odd")
                assert (shown["place"], shown["document"]) == (urlsplit(idp.base).netloc, address)
                location, cookie = await begun(there, host=NAME)
                back = urlsplit(await trio.to_thread.run_sync(idp.sign_in, location, "mia"))
                assert back.netloc == NAME
                reply = await there.get(f"{back.path}?{back.query}", cookie=cookie)
                assert reply.header("location") == SETTINGS
                assert (await looked(there))["signIn"] == "done"
                await allow(there)
                assert "The access is ***" in await used(there, {}, tool="mcp.odd.tells")
                said = notes.said[-1]
                assert (said["client_id"], said["aud"], said["scope"]) == (address, notes.url, "notes")
                await used(there, {}, tool="mcp.odd.tells")
                assert notes.said[-1]["jti"] != said["jti"], "renewed by that id, without a secret"


# What servers say of themselves


URL: Final = "https://mcp.example/notes/mcp"
OURS: Final = "https://svc.example"
PRM: Final = "https://mcp.example/.well-known/oauth-protected-resource"
HONEST: Final = "https://login.example/o"
AS: Final = "https://login.example/.well-known/oauth-authorization-server/o"


class Internet:
    """Answers by address; all else is not there."""

    def __init__(self, pages: Mapping[str, object]) -> None:
        self.pages = pages
        self.asked: list[str] = []

    async def request(self, method: str, url: str, **asked: Any) -> EgressResponse:
        self.asked.append(url)
        page = self.pages.get(url)
        body = page if isinstance(page, bytes) else msgspec.json.encode(page)
        return EgressResponse(status=404 if page is None else 200, headers=Headers([]), body=body)


def resource(**said: object) -> dict[str, object]:
    return {"resource": URL, "authorization_servers": [HONEST], **said}


def issuer(place: str = HONEST, **said: object) -> dict[str, object]:
    return {
        "issuer": place,
        "authorization_endpoint": f"{place}/authorize",
        "token_endpoint": f"{place}/token",
        "code_challenge_methods_supported": ["S256"],
        **said,
    }


async def look(pages: Mapping[str, object], *, metadata: str = "", url: str = URL) -> Any:
    internet = Internet(pages)
    way = Way(inside=Unasked(), outside=internet, own="", loopback=False)  # type: ignore[arg-type]  # as far as it is asked
    return await Discovering(way=way, url=url, ours=OURS).found(Challenge(metadata=metadata)), internet.asked


class Unasked:
    async def request(self, *given: Any, **asked: Any) -> EgressResponse:
        raise AssertionError("nothing goes into our own network")


EVIL: Final = "https://evil.example"


@pytest.mark.parametrize(
    ("pages", "why"),
    [
        ({PRM: resource(resource="https://bank.example/")}, "it is another server"),
        ({PRM: resource(authorization_servers=["http://10.0.0.1/"])}, "no safe address"),
        ({PRM: resource(authorization_servers=["http://127.0.0.1:4780"])}, "no safe address"),
        ({PRM: resource(authorization_servers=["javascript:alert(1)"])}, "no safe address"),
        ({PRM: resource(authorization_servers=[OURS])}, "this very server"),
        ({PRM: resource()}, "does not say how"),
        ({PRM: resource(), AS: b"<html>"}, "does not say how"),
        ({PRM: resource(), AS: b"[" * 200_000}, "does not say how"),
        ({PRM: resource(), AS: issuer(EVIL)}, "says that it is https://evil.example"),
        ({PRM: resource(), AS: issuer(token_endpoint=f"{EVIL}/token")}, "how access is stolen"),
        ({PRM: resource(), AS: issuer(authorization_endpoint="https://bank.example/authorize")}, "access is stolen"),
        ({PRM: resource(), AS: issuer(authorization_endpoint=f"{OURS}/oauth/mail/start")}, "this very server"),
        ({PRM: resource(), AS: issuer(authorization_endpoint="javascript:alert(1)//login.example")}, "no safe address"),
        ({PRM: resource(), AS: issuer(token_endpoint="http://login.example/token")}, "no safe address"),
        ({PRM: resource(), AS: issuer(token_endpoint="https://me:pw@login.example/token")}, "no safe address"),
        ({PRM: resource(), AS: issuer(code_challenge_methods_supported=["plain"])}, "PKCE"),
        ({PRM: resource(), AS: issuer(code_challenge_methods_supported=None)}, "PKCE"),
        ({PRM: resource(), AS: issuer(token_endpoint_auth_methods_supported=["private_key_jwt"])}, "does not know"),
    ],
)
async def test_words_of_a_hostile_server_are_not_believed(pages: Mapping[str, object], why: str) -> None:
    with pytest.raises(NoSignIn, match=why):
        await look(pages)


async def test_what_is_said_as_the_standards_have_it_is_believed() -> None:
    found, asked = await look(
        {PRM: resource(scopes_supported=["a", 'b"', "c"]), AS: issuer(scopes_supported=["offline_access"])},
        metadata="https://evil.example/meta",
    )
    assert (found.issuer, found.resource, found.scopes) == (HONEST, URL, ("a", "c", "offline_access"))
    assert asked == [f"{PRM}/notes/mcp", PRM, AS], "metadata on another host is not asked for"
    assert found.methods == ("client_secret_basic",), "as RFC 8414 has it where nothing is said"
    found, asked = await look({f"{URL}/meta": resource(), AS: issuer()}, metadata=f"{URL}/meta")
    assert asked == [f"{URL}/meta", AS]
    said = issuer(client_id_metadata_document_supported=True)
    found, _ = await look({PRM: resource(), AS: said})
    origins = ("https://svc.example", "http://svc.example", "https://127.0.0.1:4780", "https://home.lan", "https://svc")
    assert [by_document(found, one, redirect="r") is not None for one in origins] == [True, False, False, False, False]
    secrets_only = {**said, "token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert not (await look({PRM: resource(), AS: secrets_only}))[0].reads_documents
    # Endpoints elsewhere, by an issuer that names itself in each answer: that is demanded of it later.
    named = issuer(token_endpoint="https://tokens.example/t", authorization_response_iss_parameter_supported=True)
    found, _ = await look({PRM: resource(), AS: named})
    assert (found.token, found.names_issuer) == ("https://tokens.example/t", True)
    below = issuer(authorization_endpoint="https://www.login.example/a", registration_endpoint="http://x.example/")
    found, _ = await look({PRM: resource(), AS: below})
    assert found.registration is None, "an unusable one counts as absent"
    # By OpenID Connect's address, and a server of the first edition, which has no metadata of its own.
    oidc = "https://login.example/o/.well-known/openid-configuration"
    assert (await look({PRM: resource(), oidc: issuer()}))[0].issuer == HONEST
    own = "https://mcp.example"
    found, _ = await look({f"{own}/.well-known/oauth-authorization-server": issuer(own)})
    assert (found.issuer, found.resource) == (own, URL)


@pytest.mark.parametrize(
    ("header", "metadata", "scope"),
    [
        ('Bearer error="x", resource_metadata="https://a.example/m", scope="a b"', "https://a.example/m", "a b"),
        ('Basic realm="x", Bearer resource_metadata=https://a.example/m', "https://a.example/m", ""),
        ('Bearer x_resource_metadata="https://evil.example/"', "", ""),
        ("", "", ""),
        ("," * 100_000, "", ""),
    ],
)
def test_a_challenge_is_read_whatever_else_it_says(header: str, metadata: str, scope: str) -> None:
    assert challenge_of(header) == Challenge(metadata=metadata, scope=scope)
