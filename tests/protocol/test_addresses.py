"""Which addresses are public: every range of the registries, its limits, and every way to hide an IPv4 address."""

from __future__ import annotations

import ipaddress

from hypothesis import given
from hypothesis import strategies as st

from svc.protocol.addresses import is_public_address
from tests.support.each import each

_PUBLIC = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0
172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255
2001:200::1 2001:4860:4860::8888 2606:4700::1111 2a00:1450::1 3ffe::1 2001:4860::5efe:808:808 64:ff9b::808:808
2620:4f:7fff:ffff::1 2003::1
"""

_NOT_PUBLIC = """
0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.100.100.100 100.127.255.255 127.0.0.1 127.255.255.255
168.63.129.16
169.254.0.0 169.254.169.254 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.8 192.0.0.170 192.0.2.1 192.31.196.1
192.52.193.1 192.88.99.1 192.168.0.0 192.168.255.255 192.175.48.1 198.18.0.0 198.19.255.255 198.51.100.1 203.0.113.1
224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
:: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1
64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::10.0.0.1 64:ff9b:1::808:808 100::1 100:0:0:1::1
2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1 2001:1ff:ffff::1 2001:db8::1 2002:7f00:1::
2002:808:808::1 2620:4f:8000::1 3fff::1 3fff:fff::1 4000::1 5f00::1 fc00::1 fd12::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1
ff0e::1 1fff::1 2001:4860::5efe:7f00:1 2001:4860::200:5efe:a00:1 2001:4860:4860::8888%eth0
"""

NO_ADDRESS = [
    "",
    "localhost",
    "2130706433",
    "0x7f.1",
    "0x8.0x8.0x8.0x8",
    "127.1",
    "8.8",
    "08.8.8.8",
    "8.8.8.8.",
    " 8.8.8.8",
    "8.8.8.8/32",
    "８.8.8.8",
    "[2606:4700::1111]",
    "2606:4700::1111::",
    "8.8.8.8:443",
]


@each(_PUBLIC.split())
def test_an_address_of_the_internet_is_public(ip: str) -> None:
    assert is_public_address(ip)


@each(_NOT_PUBLIC.split())
def test_a_private_special_or_disguised_address_is_not(ip: str) -> None:
    assert not is_public_address(ip)


@each(NO_ADDRESS)
def test_what_is_no_plain_address_is_not_public(text: str) -> None:
    assert not is_public_address(text)


@given(st.ip_addresses())
def test_what_the_standard_library_calls_private_is_never_public(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if is_public_address(str(address)):
        inside_nat64 = address in ipaddress.ip_network("64:ff9b::/96") if address.version == 6 else False
        assert inside_nat64 or (address.is_global and not address.is_multicast)


@given(st.ip_addresses(v=4), st.sampled_from(["::", "::ffff:", "2002:", "64:ff9b::"]))
def test_no_disguise_makes_a_private_address_public(address: ipaddress.IPv4Address, prefix: str) -> None:
    high, low = divmod(int(address), 65_536)
    hidden = f"{prefix}{high:x}:{low:x}" + ("::" if prefix == "2002:" else "")
    assert is_public_address(hidden) == (prefix == "64:ff9b::" and is_public_address(str(address)))
