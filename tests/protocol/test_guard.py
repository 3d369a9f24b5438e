"""Who may connect: the Host table, the Origin matrix, access and CORS."""

from __future__ import annotations

import pytest

from svc.errors import Forbidden, Refusal
from svc.protocol.guard import Guard
from svc.protocol.messages import Headers, Request
from tests.support.each import each
from tests.support.http import HOST, LISTED, SmallApplication, request_bytes

PORT = 4780
OURS = f"http://{HOST}"
EXTENSION = "chrome-extension://abcdefghijklmnop"


def verdict(host: str, guard: Guard) -> str:
    try:
        guard.check_host(Request(method="GET", target="/", headers=Headers([("host", host)])))
    except Refusal as refusal:
        return refusal.code
    return "ours"


LOOPBACK = Guard(bind_host="127.0.0.1", port=PORT)
PUBLIC = Guard(bind_host="::1", port=PORT, public_origin="https://mail.example.org")
FORWARDED = Guard(bind_host="127.0.0.1", port=PORT, public_origin="http://localhost:8080")
NAMED = Guard(bind_host="127.0.0.1", port=PORT, public_origin="http://forge.example.org:8080")
WILDCARD = Guard(bind_host="0.0.0.0", port=PORT, public_origin="https://cell.example.org:8443")
TAILNET = Guard(bind_host="100.101.102.103", port=PORT)

HOSTS: list[tuple[Guard, str, bool]] = [
    (LOOPBACK, "localhost", True),
    (LOOPBACK, "localhost:4780", True),
    (LOOPBACK, "LOCALHOST:4780", True),
    (LOOPBACK, "127.0.0.1", True),
    (LOOPBACK, "127.0.0.1:4780", True),
    (LOOPBACK, "[::1]", True),
    (LOOPBACK, "[::1]:4780", True),
    (LOOPBACK, "localhost:4781", True),
    (LOOPBACK, "localhost:80", True),
    (LOOPBACK, "127.0.0.1:9999", True),
    (LOOPBACK, "[::1]:1", True),
    (LOOPBACK, "localhost:65535", True),
    (LOOPBACK, "localhost:", False),
    (LOOPBACK, "localhost:0", False),
    (LOOPBACK, "localhost:04780", False),
    (LOOPBACK, "localhost:65536", False),
    (LOOPBACK, "localhost:123456", False),
    (LOOPBACK, "localhost:+80", False),
    (LOOPBACK, "localhost:\u0668\u0660", False),
    (LOOPBACK, "localhost:80:80", False),
    (LOOPBACK, "localhost:80@evil.example", False),
    (LOOPBACK, "evil.example:9999", False),
    (LOOPBACK, "127.0.0.1.nip.io:9999", False),
    (LOOPBACK, "[::]:9999", False),
    (LOOPBACK, "::1:9999", False),
    (LOOPBACK, "localhost.", False),
    (LOOPBACK, "localhost.:4780", False),
    (LOOPBACK, "localhost.localdomain", False),
    (LOOPBACK, "localhost.evil.example", False),
    (LOOPBACK, "a.localhost:4780", False),
    (LOOPBACK, "xlocalhost", False),
    (LOOPBACK, "localhostx", False),
    (LOOPBACK, "evil.example", False),
    (LOOPBACK, "evil.example:4780", False),
    (LOOPBACK, "127.0.0.1.nip.io:4780", False),
    (LOOPBACK, "127.0.0.1.:4780", False),
    (LOOPBACK, "127.0.0.2:4780", False),
    (LOOPBACK, "127.1:4780", False),
    (LOOPBACK, "0127.0.0.1:4780", False),
    (LOOPBACK, "0x7f.0.0.1:4780", False),
    (LOOPBACK, "2130706433:4780", False),
    (LOOPBACK, "0.0.0.0:4780", False),
    (LOOPBACK, "0:4780", False),
    (LOOPBACK, "[::]:4780", False),
    (LOOPBACK, "::1", False),
    (LOOPBACK, "::1:4780", False),
    (LOOPBACK, "[0:0:0:0:0:0:0:1]:4780", False),
    (LOOPBACK, "[::ffff:127.0.0.1]:4780", False),
    (LOOPBACK, "[::1%25lo]:4780", False),
    (LOOPBACK, "", False),
    (LOOPBACK, ":4780", False),
    (LOOPBACK, "*", False),
    (LOOPBACK, "localhost@evil.example", False),
    (LOOPBACK, "localhost, evil.example", False),
    (LOOPBACK, "localhost evil.example", False),
    (LOOPBACK, "localhost/", False),
    (LOOPBACK, "localhost#", False),
    (LOOPBACK, "http://localhost", False),
    (LOOPBACK, "\uff4cocalhost", False),
    (LOOPBACK, "mail.example.org", False),
    (PUBLIC, "mail.example.org", True),
    (PUBLIC, "Mail.Example.ORG", True),
    (PUBLIC, "mail.example.org:443", True),
    (PUBLIC, "mail.example.org:4780", True),
    (PUBLIC, "mail.example.org:80", False),
    (PUBLIC, "mail.example.org.", False),
    (PUBLIC, "example.org", False),
    (PUBLIC, "www.mail.example.org", False),
    (PUBLIC, "localhost:4780", True),
    (PUBLIC, "[::1]:4780", True),
    (FORWARDED, "localhost:8080", True),
    (FORWARDED, "localhost:4780", True),
    (FORWARDED, "localhost:9090", True),
    (NAMED, "forge.example.org:8080", True),
    (NAMED, "forge.example.org:9090", False),
    (WILDCARD, "0.0.0.0:4780", False),
    (WILDCARD, "cell.example.org:9090", False),
    (WILDCARD, "cell.example.org:8443", True),
    (WILDCARD, "cell.example.org", True),
    (WILDCARD, "127.0.0.1:4780", True),
    (TAILNET, "100.101.102.103:4780", True),
    (TAILNET, "100.101.102.104:4780", False),
    (TAILNET, "100.101.102.103:9999", False),
    (TAILNET, "127.0.0.1:9999", True),
]


@each(HOSTS)
def test_only_our_names_are_answered_and_those_of_this_machine_on_any_port(row: tuple[Guard, str, bool]) -> None:
    guard, host, expected = row
    assert verdict(host, guard) == ("ours" if expected else "misdirected_request")


@pytest.mark.parametrize("target", ["/hello", "/nowhere", "/trpc/health.ping", "/mine", "/ws"])
async def test_another_host_is_refused_on_every_path_before_anything_else(target: str) -> None:
    app = SmallApplication()
    reply = await app.ask("GET", target, host="evil.example", x_as="admin")
    assert reply.status == 421
    assert app.seen == []


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_probe_answers_to_any_host_and_asks_nobody_who_it_is(method: str) -> None:
    app = SmallApplication()
    assert (await app.ask(method, "/livez", host="10.0.0.7:1234")).status == 200
    assert "resolve" not in app.seen


async def test_options_is_guarded_by_host_too() -> None:
    assert (await SmallApplication().ask("OPTIONS", "/hello", host="evil.example")).status == 421
    assert (await SmallApplication().ask("OPTIONS", "*", host="evil.example")).status == 421


# Origin. Headers a request brings, and whether a POST passes without and with a device token.
ORIGINS: list[tuple[dict[str, str], bool, bool]] = [
    ({}, True, True),
    ({"origin": OURS}, True, True),
    ({"sec_fetch_site": "same-origin"}, True, True),
    ({"sec_fetch_site": "none"}, True, True),
    ({"origin": OURS, "sec_fetch_site": "same-origin"}, True, True),
    ({"sec_fetch_site": "cross-site"}, False, False),
    ({"sec_fetch_site": "same-site"}, False, False),
    ({"referer": f"{OURS}/inbox"}, True, True),
    ({"referer": "https://evil.example/?" + OURS}, False, False),
    ({"referer": f"{OURS}.evil.example/"}, False, False),
    ({"referer": f"{OURS}@evil.example/"}, False, False),
    ({"referer": "http://localhost:4781/"}, False, False),
    ({"referer": "https://evil.example/", "sec_fetch_site": "same-origin"}, True, True),
    ({"referer": "http://[/"}, False, False),
    ({"origin": "null"}, False, False),
    ({"origin": ""}, False, False),
    ({"origin": "https://evil.example"}, False, False),
    ({"origin": "http://localhost"}, False, False),
    ({"origin": "http://localhost:4781"}, False, False),
    ({"origin": "https://localhost:4780"}, False, False),
    ({"origin": "http://127.0.0.1:4780"}, False, False),
    ({"origin": f"{OURS}/"}, False, False),
    ({"origin": f"{OURS}.evil.example"}, False, False),
    ({"origin": f"{OURS} {OURS}"}, False, False),
    ({"origin": LISTED}, False, True),
    ({"origin": LISTED.upper()}, False, False),
    ({"origin": f"{LISTED}.evil.example"}, False, False),
    ({"origin": LISTED, "sec_fetch_site": "cross-site"}, False, True),
    ({"origin": EXTENSION}, False, True),
    ({"origin": "moz-extension://0b7b8a4e"}, False, True),
    ({"origin": "safari-web-extension://0b7b8a4e"}, False, True),
    ({"origin": "chrome-extension.evil.example"}, False, False),
]


@pytest.mark.parametrize("who", ["off", "member", "device"])
async def test_another_site_can_change_nothing(who: str) -> None:
    for headers, without_token, with_token in ORIGINS:
        app = SmallApplication()
        reply = await app.ask("POST", "/ignore", x_as=who, **headers)
        allowed = with_token if who == "device" else without_token
        assert reply.status == (200 if allowed else 403), headers
        assert ("ignore" in app.seen) is allowed, headers


@pytest.mark.parametrize("who", ["off", "member", "device"])
async def test_another_site_can_open_no_socket(who: str) -> None:
    handshake = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec_websocket_version": "13",
        "sec_websocket_key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    for headers, without_token, with_token in ORIGINS:
        asked = request_bytes("GET", "/ws", x_as=who, **handshake, **headers)
        raw = await SmallApplication().talk(asked, half_close=True)
        allowed = with_token if who == "device" else without_token
        assert raw.split(b" ")[1] == (b"101" if allowed else b"403"), headers


async def test_two_origins_are_no_origin_of_ours() -> None:
    app = SmallApplication()
    raw = await app.talk(request_bytes("POST", "/ignore")[:-2] + f"origin: {OURS}\r\norigin: {OURS}\r\n\r\n".encode())
    assert raw.startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
async def test_a_safe_method_may_come_from_anywhere(method: str) -> None:
    assert (await SmallApplication().ask(method, "/hello", origin="https://evil.example")).status < 300


async def test_an_exempt_route_may_come_from_anywhere() -> None:
    assert (await SmallApplication().ask("POST", "/hook", origin="https://evil.example")).status == 200


async def test_the_refusal_comes_before_the_body_is_read() -> None:
    app = SmallApplication()
    raw = await app.talk(
        request_bytes("POST", "/upload", expect="100-continue", content_length="5", origin="https://evil.example")
    )
    assert raw.startswith(b"HTTP/1.1 403 ")
    assert b"100 Continue" not in raw


async def test_the_canonical_origin_is_ours_also_behind_a_proxy_that_rewrites_the_host() -> None:
    app = SmallApplication(public_origin="https://mail.example.org")
    assert (await app.ask("POST", "/ignore", origin="https://mail.example.org")).status == 200
    both = {"host": "mail.example.org", "origin": "https://mail.example.org"}
    assert (await app.ask("POST", "/ignore", **both)).status == 200
    assert (await app.ask("POST", "/ignore", origin="http://mail.example.org")).status == 403


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
async def test_behind_a_forwarded_port_our_origin_is_the_host_the_request_came_with(name: str) -> None:
    """``ssh -L 9999:127.0.0.1:4780``: the browser knows us by the port at its own end."""
    app = SmallApplication()
    forwarded = f"{name}:9999"
    assert (await app.ask("POST", "/ignore", host=forwarded, origin=f"http://{forwarded}")).status == 200
    assert (await app.ask("POST", "/ignore", host=forwarded, origin=f"http://{name}:{PORT}")).status == 403
    assert (await app.ask("POST", "/ignore", origin=f"http://{forwarded}")).status == 403
    assert (await app.ask("POST", "/ignore", host="evil.example:9999", origin="http://evil.example:9999")).status == 421


CELL = Guard(bind_host="127.0.0.1", port=PORT, public_origin="https://mail.example.org", only_public=True)


@pytest.mark.parametrize(
    ("guard", "host", "origin", "is_ours"),
    [
        (PUBLIC, "mail.example.org", "https://mail.example.org", True),
        (PUBLIC, "mail.example.org", "http://mail.example.org", False),  # whoever stands in between writes that page
        (PUBLIC, "mail.example.org:443", "http://mail.example.org:443", False),
        (PUBLIC, f"127.0.0.1:{PORT}", f"http://127.0.0.1:{PORT}", True),
        (CELL, f"127.0.0.1:{PORT}", "https://mail.example.org", True),
        (CELL, f"127.0.0.1:{PORT}", f"http://127.0.0.1:{PORT}", False),  # a proxy wrote the name, a neighbour the page
        (CELL, "mail.example.org", "http://mail.example.org", False),
        (CELL, "mail.example.org", "https://other.example.org", False),
    ],
)
def test_the_page_of_a_public_origin_is_ours_over_https_alone(
    guard: Guard, host: str, origin: str, is_ours: bool
) -> None:
    request = Request(
        method="POST", target="/", headers=Headers([("host", host), ("origin", origin)]), peer="127.0.0.1"
    )
    request.secure = guard.is_secure(request)
    assert request.secure == (guard is CELL or "mail" in host)
    if is_ours:
        assert guard.check_origin(request) is False
    else:
        with pytest.raises(Forbidden):
            guard.check_origin(request)


@pytest.mark.parametrize(
    ("host", "target", "pinned"),
    [
        ("mail.example.org", "/hello", True),
        ("mail.example.org:4780", "/nowhere", True),
        (HOST, "/hello", False),
        ("localhost", "/nowhere", False),
        ("LOCALHOST:1", "/mine", False),
        ("127.0.0.1:4780", "/hello", False),
        ("[::1]:4780", "/hello", False),
        ("other.example.org", "/hello", True),
    ],
)
async def test_a_browser_is_told_to_use_https_only_but_for_a_name_of_this_machine(
    host: str, target: str, pinned: bool
) -> None:
    """There, other programs serve pages over http, and a browser would refuse them all."""
    app = SmallApplication(secure=True, public_origin="https://mail.example.org")
    reply = await app.ask("GET", target, host=host)
    assert (reply.header("strict-transport-security") is not None) == pinned


async def test_a_request_without_a_name_pins_nothing() -> None:
    raw = await SmallApplication(secure=True).talk(b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n")
    assert raw.startswith(b"HTTP/1.1 400 ")
    assert b"strict-transport-security" not in raw


async def test_over_tls_our_origin_is_https() -> None:
    app = SmallApplication(secure=True)
    assert (await app.ask("POST", "/ignore", origin=f"https://{HOST}")).status == 200
    assert (await app.ask("POST", "/ignore", origin=OURS)).status == 403


# Access


@pytest.mark.parametrize(
    ("target", "who", "status"),
    [
        ("/hello", "", 200),
        ("/mine", "", 401),
        ("/mine", "member", 200),
        ("/mine", "device", 200),
        ("/mine", "off", 200),
        ("/theirs", "", 401),
        ("/theirs", "member", 403),
        ("/theirs", "device", 403),
        ("/theirs", "admin", 200),
        ("/theirs", "off", 200),
        ("/nowhere", "admin", 404),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_access_is_what_the_row_says_for_head_as_for_get(target: str, who: str, status: int, method: str) -> None:
    reply = await SmallApplication().ask(method, target, x_as=who)
    assert reply.status == status


async def test_a_refusal_under_trpc_is_shaped_as_trpc() -> None:
    reply = await SmallApplication().ask("GET", "/trpc/mail.threads")
    assert reply.status == 401
    assert reply.json == {
        "error": {"message": "Sign in first.", "code": -32001, "data": {"code": "UNAUTHORIZED", "httpStatus": 401}}
    }
    post = await SmallApplication().ask("POST", "/trpc/x", origin="https://evil.example")
    assert post.json["error"]["data"]["httpStatus"] == 403
    wrong = await SmallApplication().ask("DELETE", "/trpc/x")
    assert (wrong.status, wrong.header("allow")) == (405, "GET, HEAD, POST, OPTIONS")
    assert "error" in wrong.json


@pytest.mark.parametrize(("target", "who", "status"), [("/ws", "", 401), ("/pty", "member", 403), ("/pty", "", 401)])
async def test_an_upgrade_is_refused_before_the_handshake(target: str, who: str, status: int) -> None:
    raw = await SmallApplication().talk(
        request_bytes(
            "GET",
            target,
            x_as=who,
            connection="keep-alive, Upgrade",
            upgrade="WebSocket",
            sec_websocket_version="13",
            sec_websocket_key="AAAAAAAAAAAAAAAAAAAAAA==",
        )
    )
    assert raw.startswith(f"HTTP/1.1 {status} ".encode())


# CORS


async def test_a_listed_origin_may_read_what_its_token_asked_for() -> None:
    reply = await SmallApplication().ask("GET", "/trpc/x", origin=LISTED, x_as="device", x_svc_device_token="sdt_x")
    assert reply.header("access-control-allow-origin") == LISTED
    assert reply.header("access-control-allow-credentials") is None
    assert reply.header("vary") == "Origin"


@pytest.mark.parametrize(
    ("target", "headers"),
    [
        ("/trpc/x", {"origin": LISTED, "x_as": "device"}),
        ("/trpc/x", {"origin": LISTED, "x_as": "member", "x_svc_device_token": "sdt_x"}),
        ("/trpc/x", {"origin": LISTED, "x_as": "off", "x_svc_device_token": "sdt_x"}),
        ("/trpc/x", {"origin": "null", "x_as": "device", "x_svc_device_token": "sdt_x"}),
        ("/trpc/x", {"origin": "https://evil.example", "x_as": "device", "x_svc_device_token": "sdt_x"}),
        ("/trpc/x", {"origin": EXTENSION, "x_as": "device", "x_svc_device_token": "sdt_x"}),
        ("/hello", {"origin": LISTED, "x_as": "device", "x_svc_device_token": "sdt_x"}),
    ],
)
async def test_nobody_else_may_read_across_origins(target: str, headers: dict[str, str]) -> None:
    reply = await SmallApplication().ask("GET", target, **headers)
    assert reply.status == 200
    assert reply.header("access-control-allow-origin") is None
    assert reply.header("cross-origin-resource-policy") == "same-origin"


async def test_a_refusal_is_readable_to_a_listed_origin_that_brought_a_token() -> None:
    reply = await SmallApplication().ask("GET", "/trpc/x", origin=LISTED, x_svc_device_token="sdt_revoked")
    assert (reply.status, reply.header("access-control-allow-origin")) == (401, LISTED)


@pytest.mark.parametrize(
    ("target", "origin", "allowed"),
    [
        ("/trpc/x", LISTED, True),
        ("/auth/socket-ticket", LISTED, True),
        ("/ignore", LISTED, False),
        ("/trpc/x", "https://evil.example", False),
        ("/trpc/x", "null", False),
    ],
)
async def test_a_preflight_is_granted_to_listed_origins_on_token_routes_only(
    target: str, origin: str, allowed: bool
) -> None:
    reply = await SmallApplication().ask("OPTIONS", target, origin=origin, access_control_request_method="POST")
    assert reply.status == 204
    assert reply.header("access-control-allow-origin") == (origin if allowed else None)
    assert reply.header("access-control-allow-methods") == ("GET, POST" if allowed else None)
    wanted = "content-type, trpc-accept, x-svc-device-token"
    assert reply.header("access-control-allow-headers") == (wanted if allowed else None)
    assert reply.header("access-control-max-age") == ("600" if allowed else None)
    assert reply.header("access-control-allow-credentials") is None
