"""Forwarded headers: believed from a proxy of ours, said once; from nobody else, whatever is trusted."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from svc.protocol import NEAR_NETWORKS, Forwarded, Guard, Headers, Request

NAMED = (ip_network("203.0.113.7"), ip_network("2001:db8:7::/48"))


def request(peer: str, *values: str) -> Request:
    fields = [("host", "127.0.0.1"), *(("x-forwarded-proto", value) for value in values)]
    return Request(method="GET", target="/", headers=Headers(fields), peer=peer)


@pytest.mark.parametrize(
    ("peer", "near", "named"),
    [
        ("127.0.0.1", True, False),
        ("::1", True, False),
        ("10.1.2.3", True, False),
        ("172.31.255.255", True, False),
        ("192.168.1.1", True, False),
        ("100.64.0.2", True, False),
        ("fd12::1", True, False),
        ("fe80::1%eth0", True, False),
        ("::ffff:10.0.0.1", True, False),
        ("::ffff:203.0.113.7", False, True),
        ("203.0.113.7", False, True),
        ("203.0.113.8", False, False),
        ("2001:db8:7:1::9", False, True),
        ("2001:db8:8::9", False, False),
        ("172.32.0.1", False, False),
        ("8.8.8.8", False, False),
        ("", False, False),
        ("unix", False, False),
    ],
)
def test_a_header_counts_from_the_peers_that_are_believed(peer: str, near: bool, named: bool) -> None:
    for believed, expected in ((NEAR_NETWORKS, near), (NAMED, named), ((), False)):
        forwarded = Forwarded(believed)
        assert (forwarded.said(request(peer, "https"), "x-forwarded-proto") == "https") is expected
        guard = Guard(bind_host="127.0.0.1", port=1, forwarded=forwarded)
        assert guard.is_secure(request(peer, "https")) is expected


def test_what_is_said_twice_or_not_at_all_is_not_said() -> None:
    forwarded = Forwarded(NEAR_NETWORKS)
    for values in ([], ["https", "https"], ["https", "http"]):
        assert forwarded.said(request("10.0.0.1", *values), "x-forwarded-proto") is None
