"""The rate limit: exact at the limits of its window, for each client, in bounded memory."""

from __future__ import annotations

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from svc.errors import Refusal
from svc.identity.limiter import WINDOW_S, RateLimiter
from svc.protocol import NEAR_NETWORKS, Forwarded, Headers, Request
from tests.identity.people import Person
from tests.support.service import Service


def request(peer: str, **fields: str) -> Request:
    headers = Headers([(name.replace("_", "-"), value) for name, value in fields.items()])
    return Request(method="POST", target="/auth/dev-login", headers=headers, peer=peer)


def admitted(limiter: RateLimiter, wanted: Request) -> bool:
    try:
        limiter.check(wanted)
    except Refusal as refusal:
        return refusal.row.status != 429
    return True


async def test_it_is_exact_at_the_edges_of_the_window() -> None:
    limiter = RateLimiter(limit=2)
    assert admitted(limiter, request("192.0.2.1"))
    await trio.sleep(1)
    assert admitted(limiter, request("192.0.2.1"))
    await trio.sleep(WINDOW_S - 1.001)
    assert not admitted(limiter, request("192.0.2.1"))
    await trio.sleep(0.001)
    assert admitted(limiter, request("192.0.2.1"))
    assert not admitted(limiter, request("192.0.2.1"))


async def test_a_refusal_says_in_whole_seconds_when_to_come_back() -> None:
    limiter = RateLimiter(limit=1)
    limiter.check(request("192.0.2.1"))
    await trio.sleep(0.5)
    with pytest.raises(Refusal) as refused:
        limiter.check(request("192.0.2.1"))
    assert refused.value.headers == {"retry-after": "300"}


async def test_clients_do_not_spend_each_others_tries_but_one_ipv6_network_is_one_client() -> None:
    limiter = RateLimiter(limit=1)
    assert admitted(limiter, request("192.0.2.1"))
    assert admitted(limiter, request("192.0.2.2"))
    assert admitted(limiter, request("2001:db8:1:2::1"))
    assert not admitted(limiter, request("2001:db8:1:2:ffff::9"))
    assert admitted(limiter, request("2001:db8:1:3::1"))
    assert not admitted(limiter, request("::ffff:192.0.2.1"))


async def test_a_forwarded_address_counts_only_from_the_trusted_proxy() -> None:
    direct, behind = RateLimiter(limit=1), RateLimiter(limit=1, forwarded=Forwarded(NEAR_NETWORKS))
    assert admitted(direct, request("10.0.0.1", x_real_ip="192.0.2.1"))
    assert not admitted(direct, request("10.0.0.1", x_real_ip="192.0.2.2"))
    assert admitted(behind, request("10.0.0.1", x_real_ip="192.0.2.1"))
    assert admitted(behind, request("10.0.0.1", x_real_ip="192.0.2.2"))
    assert admitted(behind, request("203.0.113.9", x_real_ip="192.0.2.3"))
    assert not admitted(behind, request("203.0.113.9", x_real_ip="192.0.2.4"))


async def test_a_forwarded_address_that_comes_twice_may_be_the_clients_own_word() -> None:
    behind = RateLimiter(limit=1, forwarded=Forwarded(NEAR_NETWORKS))
    for number, expected in ((1, True), (2, False)):
        fields = [("x-real-ip", f"192.0.2.{number}"), ("x-real-ip", "192.0.2.9")]
        asked = Request(method="POST", target="/pair/claim", headers=Headers(fields), peer="10.0.0.1")
        assert admitted(behind, asked) is expected


async def test_a_flood_of_addresses_fills_no_memory_and_admits_nobody_twice_for_it() -> None:
    limiter = RateLimiter(limit=1, max_clients=100)
    for number in range(10_000):
        assert admitted(limiter, request(f"198.51.{number // 250}.{number % 250}"))
    assert len(limiter.windows._admitted) == 100
    assert not admitted(limiter, request("198.51.39.249"))


@given(st.lists(st.floats(min_value=0, max_value=400), min_size=1, max_size=40), st.integers(1, 5))
async def test_never_more_than_the_limit_in_any_window(pauses: list[float], limit: int) -> None:
    limiter = RateLimiter(limit=limit)
    times = []
    for pause in pauses:
        await trio.sleep(pause)
        if admitted(limiter, request("192.0.2.1")):
            times.append(trio.current_time())
    for start in times:
        assert sum(start <= time < start + WINDOW_S for time in times) <= limit


async def test_the_doors_it_guards_answer_429(service: Service) -> None:
    stranger = Person(service)
    statuses = [(await stranger.ask("POST", "/pair/claim", {"code": "x", "name": "n"})).status for _ in range(31)]
    assert statuses == [403] * 30 + [429]


async def test_a_page_of_another_site_cannot_lock_its_visitor_out(service: Service) -> None:
    stranger = Person(service)
    for _ in range(31):
        await stranger.ask("POST", "/pair/claim", {"code": "x", "name": "n"})
        embedded = {"sec-fetch-site": "cross-site", "sec-fetch-dest": "image"}
        assert (await Person(service, embedded).ask("GET", "/auth/idp/start")).status == 403
    assert (await stranger.ask("POST", "/auth/dev-login", {"email": "mia@example.org"})).status == 200
