"""Behind the trusted proxy: what it says of the browser's connection counts; what others say does not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from svc.app import all_rules, all_settings
from svc.clock import VirtualClock
from svc.config import ConfigError, read_config
from svc.identity.settings import SETTINGS
from svc.protocol.security import HSTS
from tests.identity.people import JSON, sign_in
from tests.recorded_log import RecordedLog
from tests.support.http import Reply
from tests.support.service import HOST, MIA, ORIGIN, Service, open_service

TLS_ORIGIN = f"https://{HOST}"
SAYS_TLS = {"x-forwarded-proto": "https"}
PLAIN = [{}, {"x-forwarded-proto": "http"}, {"x-forwarded-proto": ""}]
UNCLEAR = [
    {"x-forwarded-proto": "https, http"},
    {"x-forwarded-proto": "http, https"},
    {"x-forwarded-proto": "https https"},
    {"x-forwarded-proto": "https", "X-Forwarded-Proto": "https"},
    {"forwarded": "proto=https"},
    {"x-forwarded-protocol": "https"},
    {"x-forwarded-ssl": "on"},
]


@pytest.fixture
async def proxied(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    """A claimed service that trusts its proxy."""
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_TRUST_PROXY="railway") as opened:
        await sign_in(opened, MIA)
        yield opened


async def dev_login(service: Service, **fields: str) -> Reply:
    body = b'{"email":"mia@example.org"}'
    return await service.ask("POST", "/auth/dev-login", body, fields={**JSON, **fields})


def is_secure(reply: Reply) -> bool:
    """Whether it sets a cookie for HTTPS only."""
    (cookie,) = [value for name, value in reply.headers if name == "set-cookie"]
    return cookie.endswith("; Secure")


@pytest.mark.parametrize("said", ["https", "HTTPS"])
async def test_a_cookie_is_for_https_alone_where_the_trusted_proxy_says_https(proxied: Service, said: str) -> None:
    signed_in = await dev_login(proxied, **{"x-forwarded-proto": said})
    assert (signed_in.status, is_secure(signed_in)) == (200, True)
    assert signed_in.header("strict-transport-security") == HSTS
    cookie = (signed_in.header("set-cookie") or "").partition(";")[0]
    left = await proxied.ask("POST", "/auth/logout", fields={"cookie": cookie, "x-forwarded-proto": said})
    assert (left.status, is_secure(left)) == (204, True)


@pytest.mark.parametrize("fields", [*PLAIN, *UNCLEAR], ids=str)
async def test_without_a_plain_word_of_the_proxy_the_request_is_http(proxied: Service, fields: dict[str, str]) -> None:
    signed_in = await dev_login(proxied, origin=ORIGIN, **fields)
    assert (signed_in.status, is_secure(signed_in)) == (200, False)
    assert signed_in.header("strict-transport-security") is None
    assert (await dev_login(proxied, origin=TLS_ORIGIN, **fields)).status == 403


async def test_a_page_is_our_own_over_https_where_the_proxy_says_so_and_then_not_over_http(proxied: Service) -> None:
    assert (await dev_login(proxied, origin=TLS_ORIGIN, **SAYS_TLS)).status == 200
    assert (await dev_login(proxied, origin=ORIGIN, **SAYS_TLS)).status == 403
    assert (await dev_login(proxied, origin="https://evil.example", **SAYS_TLS)).status == 403


async def test_a_socket_opens_for_the_page_that_the_proxy_handed_out(proxied: Service) -> None:
    cookie = (await sign_in(proxied, MIA)).fields["cookie"]
    assert (await proxied.socket(cookie=cookie, x_forwarded_proto="https", origin=TLS_ORIGIN)).status == 101
    assert (await proxied.socket(cookie=cookie, x_forwarded_proto="https", origin=ORIGIN)).status == 403
    assert (await proxied.socket(cookie=cookie, origin=TLS_ORIGIN)).status == 403


async def test_nobodys_word_about_https_counts_without_a_trusted_proxy(service: Service) -> None:
    await sign_in(service, MIA)
    signed_in = await dev_login(service, origin=ORIGIN, **SAYS_TLS)
    assert (signed_in.status, is_secure(signed_in)) == (200, False)
    assert signed_in.header("strict-transport-security") is None
    assert (await dev_login(service, origin=TLS_ORIGIN, **SAYS_TLS)).status == 403
    cookie = (await sign_in(service, MIA)).fields["cookie"]
    assert (await service.socket(cookie=cookie, x_forwarded_proto="https", origin=TLS_ORIGIN)).status == 403


async def test_no_word_of_the_proxy_weakens_a_public_https_origin(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    origin = "https://mail.example.org"
    async with open_service(
        tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_TRUST_PROXY="railway", SVC_PUBLIC_ORIGIN=origin
    ) as service:
        await sign_in(service, MIA)
        for fields in (*PLAIN, *UNCLEAR, SAYS_TLS):
            assert is_secure(await dev_login(service, origin=origin, **fields))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:9999", "[::1]", "[::1]:9999"])
async def test_whoever_comes_through_a_forwarded_port_is_on_this_machine(service: Service, host: str) -> None:
    """``ssh -L`` ends here: the unclaimed instance is theirs as it is for a browser on this machine."""
    fields = {"origin": f"http://{host}", **JSON}
    asked = await service.ask("POST", "/trpc/mail.archive", b'{"threadIds":[]}', host=host, fields=fields)
    assert asked.status == 200


async def test_a_proxy_that_is_not_among_the_named_ones_is_not_believed(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    for named, believed in (("203.0.113.7, 2001:db8::/32", False), ("127.0.0.0/8", True), ("127.0.0.1", True)):
        async with open_service(
            tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_TRUST_PROXY="railway", SVC_TRUSTED_PROXIES=named
        ) as service:
            await sign_in(service, MIA)
            assert is_secure(await dev_login(service, **SAYS_TLS)) is believed


@pytest.mark.parametrize("named", ["proxy.example", "10.0.0.1/8", "10.0.0", "*", "10.0.0.1 x"])
def test_a_proxy_is_named_by_exact_address_or_network(named: str) -> None:
    with pytest.raises(ConfigError, match=r"SVC_TRUSTED_PROXIES: .* is no address and no network"):
        read_config(SETTINGS, {"SVC_TRUST_PROXY": "railway", "SVC_TRUSTED_PROXIES": named}, ())


def test_naming_proxies_without_trusting_them_is_a_fault() -> None:
    environ = {"HOME": "/tmp", "SVC_TRUSTED_PROXIES": "10.0.0.1"}
    with pytest.raises(ConfigError, match="SVC_TRUSTED_PROXIES: it has no meaning without SVC_TRUST_PROXY"):
        read_config(all_settings(), environ, all_rules())
