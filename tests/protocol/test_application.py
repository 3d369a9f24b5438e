"""What every answer carries, whoever wrote it, and what the log says about it."""

from __future__ import annotations

import json

import pytest

from tests.support.http import SECURITY, SmallApplication, request_bytes


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", "/hello", 200),
        ("HEAD", "/hello", 200),
        ("OPTIONS", "/hello", 204),
        ("OPTIONS", "*", 204),
        ("GET", "/nowhere", 404),
        ("GET", "/mine", 401),
        ("DELETE", "/hello", 405),
        ("BREW", "/hello", 405),
        ("TRACE", "/hello", 405),
        ("GET", "/bug", 500),
        ("GET", "/break", 500),
        ("GET", "/stream", 200),
        ("GET", "/ws", 426),
        ("GET", "/trpc/x", 401),
        ("GET", "/a/%2e%2e/b", 400),
    ],
)
async def test_every_answer_carries_the_security_headers_once(method: str, target: str, status: int) -> None:
    reply = await SmallApplication().ask(method, target)
    assert reply.status == status
    names = [name for name, _ in reply.headers if name != "vary"]  # a list, which may be spread over fields
    assert {name: reply.header(name) for name in SECURITY} == SECURITY
    assert len(names) == len(set(names))
    assert "permissions-policy" in names
    assert "strict-transport-security" not in names
    assert reply.header("date") == "Tue, 27 Oct 2026 08:00:00 GMT"


async def test_a_401_says_how_to_come_back_and_never_so_that_a_browser_asks_for_a_password() -> None:
    app = SmallApplication()
    for target in ("/mine", "/trpc/x"):
        reply = await app.ask("GET", target)
        assert (reply.status, reply.header("www-authenticate")) == (401, "Bearer")
    assert (await app.ask("GET", "/mine", x_as="member")).header("www-authenticate") is None
    assert (await app.ask("GET", "/theirs", x_as="member")).header("www-authenticate") is None
    socket = await app.ask("GET", "/ws", **{**UPGRADE, "x_as": "nobody"})
    assert (socket.status, socket.header("www-authenticate")) == (401, "Bearer")


UPGRADE = {
    "upgrade": "websocket",
    "connection": "Upgrade",
    "sec_websocket_version": "13",
    "sec_websocket_key": "dGhlIHNhbXBsZSBub25jZQ==",
    "x_as": "member",
}


@pytest.mark.parametrize(("path", "status"), [("/full", 409), ("/shy", 403), ("/broken", 500), ("/late", 503)])
async def test_a_socket_whose_handler_refuses_is_answered_counted_and_logged_as_any_request(
    path: str, status: int
) -> None:
    app = SmallApplication()
    reply = await app.ask("GET", path, **UPGRADE)
    assert reply.status == status
    assert {name: reply.header(name) for name in SECURITY} == SECURITY
    assert "permissions-policy" in dict(reply.headers)
    assert reply.header("date") == "Tue, 27 Oct 2026 08:00:00 GMT"
    assert reply.header("connection") == "close"
    assert app.traffic.answers == {(path, status): 1}
    assert app.traffic.sockets[path] == 0
    (line,) = app.log_lines
    assert (line["path"], line["status"], line["request_id"]) == (path, status, reply.header("x-request-id"))
    assert b"nobody outside" not in reply.body


async def test_a_socket_that_opens_is_counted_and_logged_once_as_101() -> None:
    app = SmallApplication()
    raw = await app.talk(request_bytes("GET", "/ws", **UPGRADE), half_close=True)
    assert raw.startswith(b"HTTP/1.1 101 ")
    assert app.traffic.answers == {("/ws", 101): 1}
    assert app.traffic.sockets == {"/ws": 0}
    assert [line["status"] for line in app.log_lines] == [101]


async def test_request_ids_are_never_the_same() -> None:
    app = SmallApplication()
    ids = {(await app.ask("GET", "/hello")).header("x-request-id") for _ in range(20)}
    assert len(ids) == 20


async def test_options_and_405_say_what_is_possible() -> None:
    app = SmallApplication()
    assert (await app.ask("OPTIONS", "/hello")).header("allow") == "GET, HEAD, OPTIONS"
    reply = await app.ask("POST", "/hello")
    assert reply.header("allow") == "GET, HEAD, OPTIONS"
    assert reply.json["code"] == "method_not_allowed"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "BREW"])
@pytest.mark.parametrize("target", ["/hello", "/ws", "/trpc/x"])
async def test_another_site_is_refused_whatever_method_is_possible(method: str, target: str) -> None:
    app = SmallApplication()
    for foreign in ({"origin": "https://evil.example"}, {"sec_fetch_site": "cross-site"}):
        assert (await app.ask(method, target, **foreign)).status == 403
    assert (await app.ask("GET", "/hello", origin="https://evil.example")).status == 200


async def test_a_path_that_is_open_to_any_site_says_to_any_site_what_is_possible() -> None:
    reply = await SmallApplication().ask("PUT", "/hook", origin="https://evil.example")
    assert (reply.status, reply.header("allow")) == (405, "POST, OPTIONS")


async def test_a_plain_request_to_a_socket_is_told_to_upgrade() -> None:
    reply = await SmallApplication().ask("GET", "/ws", x_as="member")
    assert (reply.status, reply.header("upgrade")) == (426, "websocket")


async def test_an_upgrade_of_something_that_is_no_socket_is_an_ordinary_request() -> None:
    reply = await SmallApplication().ask("GET", "/hello", connection="upgrade", upgrade="websocket")
    assert reply.status == 200


async def test_each_request_has_one_access_line() -> None:
    app = SmallApplication()
    await app.ask("GET", "/mine?code=verysecret", x_as="member")
    await app.ask("GET", "/nowhere")
    lines = [json.loads(line) for line in app.log_text.splitlines()]
    requests = [line for line in lines if line["event"] == "http.request"]
    assert [(line["level"], line["status"], line["via"]) for line in requests] == [
        ("debug", 200, "session"),
        ("info", 404, None),
    ]
    assert requests[0]["path"] == "/mine?…"
    assert "verysecret" not in app.log_text


@pytest.mark.parametrize(("kind", "status"), [("alone", 409), ("bug", 500)])
async def test_a_refusal_from_a_nursery_is_a_refusal_unless_a_bug_came_with_it(kind: str, status: int) -> None:
    app = SmallApplication()
    assert (await app.ask("GET", f"/together/{kind}")).status == status
    assert ("beside it" in app.log_text) is (kind == "bug")


@pytest.mark.parametrize(
    "target", ["/hello/q9V-2kHc3Jx8sLw0TzYb", "/7KQ2M-XW4RT", "/hello%3Finvite=canary", "/q9V?x", "//"]
)
async def test_the_log_shows_no_word_of_a_path_that_is_not_ours(target: str) -> None:
    app = SmallApplication()
    assert (await app.ask("GET", target)).status in (400, 404)
    (line,) = [json.loads(line) for line in app.log_text.splitlines()]
    assert line["path"] in ("/hello/…", "/…")
