"""Decides which IP addresses belong to the public Internet: asked before a connection to a stranger's URL.

``ipaddress.is_global`` does not suffice: it is true for NAT64, for 6to4 and Teredo of private addresses, for
``::127.0.0.1``, for site-local and for multicast. So this module has a table of its own (IANA's special-purpose
registries, RFC 6890 and later), and it also checks an IPv4 address inside an IPv6 one.

Owns the table. It never resolves a name; the caller checks every address it resolved and connects to one it checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

_SPECIAL_V4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT; tailnets
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # a cloud's own services, in its virtual machines
        "169.254.0.0/16",  # link-local; cloud metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relay
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)

_PUBLIC_V6: Final = IPv6Network("2000::/3")  # all that IANA has assigned; everything else is special or unassigned

_SPECIAL_V6: Final = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)

_NAT64: Final = IPv6Network("64:ff9b::/96")
_ISATAP: Final = 0x00005EFE  # ISATAP puts 0000:5efe (or 0200:5efe) before an IPv4 address
_UNIVERSAL_BIT: Final = 0x02000000
_LOW_32_BITS: Final = 0xFFFF_FFFF


def is_public_address(ip: str) -> bool:
    """Whether ``ip``, in its standard text form, is an address on the public Internet. False for anything else."""
    try:
        return _is_public_v6(IPv6Address(ip)) if ":" in ip else _is_public_v4(IPv4Address(ip))
    except AddressValueError:
        return False


def _is_public_v4(address: IPv4Address) -> bool:
    return not any(address in network for network in _SPECIAL_V4)


def _is_public_v6(address: IPv6Address) -> bool:
    if address.scope_id is not None:
        return False
    if address in _NAT64:  # the only such form that reaches the public Internet, if the IPv4 address in it does
        return _is_public_v4(IPv4Address(int(address) & _LOW_32_BITS))
    if address not in _PUBLIC_V6 or any(address in network for network in _SPECIAL_V6):
        return False
    return all(map(_is_public_v4, _embedded(address)))


def _embedded(address: IPv6Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses that a tunnel would find in an address of a public range (ISATAP, RFC 5214)."""
    interface = int(address) & 0xFFFF_FFFF_FFFF_FFFF
    if (interface >> 32) & ~_UNIVERSAL_BIT == _ISATAP:
        yield IPv4Address(interface & _LOW_32_BITS)
