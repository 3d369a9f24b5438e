"""One call to a declared host: pinned to what was checked, with the credential put in and masked on the way back."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from svc.broker.outside import Outside
from tests.broker.broker_service import Heard, ask, audited, run_token
from tests.protocol.small_internet import PUBLIC, Internet, answer, moved
from tests.support.certificates import certificates
from tests.support.http import Reply
from tests.support.service import Service

SLACK = "slack.com"
BOT = "xoxb-canary"
PAGE = f"{SLACK}/api/chat"
URL = f"https://{PAGE}"


@pytest.fixture
async def internet(service: Service, tmp_path: Path) -> AsyncIterator[Internet]:
    """Slack is set, and its host is in memory."""
    await service.mutate("capabilities.set", name="im-a.send", value=BOT)
    server_tls, client_tls = certificates(tmp_path, SLACK)
    async with trio.open_nursery() as nursery:
        found = Internet(server_tls=server_tls, client_tls=client_tls, nursery=nursery, names={SLACK: [[PUBLIC]]})
        service.workspace.service(Outside).pinned = found.egress()
        yield found
        nursery.cancel_scope.cancel()


async def call(service: Service, **wanted: object) -> Reply:
    asked = {"capability": "im-a.send", "method": "POST", "url": URL, **wanted}
    return await ask(service, "/egress", asked, run=await run_token(service, "im-a.*", "llm.a", "provider.*"))


async def test_the_call_goes_to_the_declared_host_with_the_credential(service: Service, internet: Internet) -> None:
    internet.pages[PAGE] = answer(
        b'{"ok": true}', "Content-Type: application/json", "ETag: 7", "Set-Cookie: a=b", "Server: x"
    )
    given = {"Authorization": "mine", "Cookie": "a=b", "Host": "evil.example", "Content-Type": "text/plain", "X-A": "b"}
    reply = await call(service, headers=given, body="hé")
    assert reply.json == {
        "status": 200,
        "headers": {"content-type": "application/json", "etag": "7"},
        "body": '{"ok": true}',
    }
    heard = Heard.read(internet.heard[0])
    assert (heard.line, heard.body) == ("POST /api/chat HTTP/1.1", "hé".encode())
    assert heard.headers["authorization"] == f"Bearer {BOT}"
    assert heard.headers["host"] == SLACK
    known = {"authorization", "host", "content-type", "content-length", "accept-encoding", "connection", "user-agent"}
    assert set(heard.headers) == known
    assert await audited(service) == [("im-a.send", "run", "granted")]


async def test_bytes_go_and_come_as_base64(service: Service, internet: Internet) -> None:
    internet.pages[PAGE] = answer(b"\xff\x00")
    reply = await call(service, bodyBase64=base64.b64encode(b"\x00\xfe").decode())
    assert reply.json == {"status": 200, "headers": {}, "bodyBase64": base64.b64encode(b"\xff\x00").decode()}
    assert Heard.read(internet.heard[0]).body == b"\x00\xfe"


async def test_an_answer_that_quotes_the_credential_is_masked(service: Service, internet: Internet) -> None:
    internet.pages[PAGE] = answer(f"bad: {BOT}".encode(), f"Link: <{BOT}>", status="401 Unauthorized")
    reply = await call(service)
    masked = "*" * len(BOT)
    assert reply.json == {"status": 401, "headers": {"link": f"<{masked}>"}, "body": f"bad: {masked}"}


async def test_a_redirect_comes_back_and_is_not_followed(service: Service, internet: Internet) -> None:
    internet.pages[PAGE] = moved("https://evil.example/")
    reply = await call(service)
    assert (reply.json["status"], reply.json["headers"]["location"]) == (302, "https://evil.example/")
    assert internet.lookups == [SLACK]


async def test_any_other_host_or_call_is_refused_before_the_credential_is_touched(
    service: Service, internet: Internet
) -> None:
    cases: list[tuple[dict[str, object], int]] = [
        ({"url": "https://evil.example/"}, 403),
        ({"url": "https://slack.com.evil.example/"}, 403),
        ({"url": "https://api.slack.com/"}, 403),
        ({"url": "https://slack.com@evil.example/"}, 400),
        ({"url": "https://evil.example\\@slack.com/"}, 403),
        ({"url": "http://slack.com/"}, 400),
        ({"url": "https://slack.com:8443/"}, 400),
        ({"url": "https://127.0.0.1/"}, 400),
        ({"url": "file:///etc/passwd"}, 400),
        ({"url": ""}, 400),
        ({"capability": "llm.a"}, 403),
        ({"capability": "provider.drive-b"}, 403),
        ({"capability": "nothing"}, 403),
        ({"method": "CONNECT"}, 400),
        ({"headers": {"Accept": "a\r\nX: y"}}, 400),
        ({"body": "a", "bodyBase64": "YQ=="}, 400),
        ({"bodyBase64": "not base64"}, 400),
    ]
    for wanted, status in cases:
        reply = await call(service, **wanted)
        assert reply.status == status, wanted
        assert internet.lookups == [], wanted
        assert "granted" not in {outcome for _, _, outcome in await audited(service)}, wanted


async def test_a_declared_host_that_leads_into_this_network_is_not_connected_to(
    service: Service, internet: Internet
) -> None:
    internet.names[SLACK] = [[PUBLIC, "127.0.0.1"]]
    reply = await call(service)
    assert (reply.status, reply.json["code"]) == (502, "bad_gateway")
    assert internet.dialled == []
    assert BOT not in service.log.text


async def test_a_host_that_hangs_is_given_up(service: Service, internet: Internet) -> None:
    async def hang(stream: trio.abc.Stream) -> None:
        await trio.sleep_forever()

    internet.pages[PAGE] = hang
    assert (await call(service)).status == 504


@pytest.mark.parametrize("capability", ["provider.drive-c"])
async def test_of_a_credential_of_several_fields_the_token_goes_out_and_only_it_is_masked(
    service: Service, internet: Internet, tmp_path: Path, capability: str
) -> None:
    host = "graph.microsoft.com"
    directory = tmp_path / "graph"
    directory.mkdir()
    internet.server_tls, internet.client_tls = certificates(directory, host)
    internet.names[host] = [[PUBLIC]]
    internet.pages[f"{host}/v1.0/me"] = answer(b"drive-7 canary-token")
    service.workspace.service(Outside).pinned = internet.egress()
    await service.mutate("capabilities.set", name=capability, value={"token": "canary-token", "driveId": "drive-7"})
    reply = await call(service, capability=capability, method="GET", url=f"https://{host}/v1.0/me")
    assert reply.json["body"] == "drive-7 ************"
    assert Heard.read(internet.heard[0]).headers["authorization"] == "Bearer canary-token"
