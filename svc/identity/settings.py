"""Identity's own settings: whether it is on, how an instance is claimed, which proxies and origins are trusted, rate
limits.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_network
from urllib.parse import urlsplit

from svc.config import BadValue, Config, ConfigFault, Setting, one_of, whole_number
from svc.protocol import NEAR_NETWORKS, Forwarded
from svc.settings import HOST, SHORTEST_TOKEN, is_hosted, is_loopback


def _claim_token(value: str) -> str:
    if len(value) < SHORTEST_TOKEN:
        raise BadValue(f"it has fewer than {SHORTEST_TOKEN} characters; make a longer random one")
    return value


def _origins(value: str) -> tuple[str, ...]:
    found = tuple(value.replace(",", " ").split())
    for origin in found:
        if not _is_origin(origin):
            raise BadValue(f"{origin!r} is not an exact http(s) origin; write scheme://host[:port], without a path")
    return tuple(map(_as_sent, found))


def _is_origin(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and f"{parts.scheme}://{parts.netloc}" == text and "*" not in text


def _as_sent(origin: str) -> str:
    """As a browser writes it."""
    scheme, _, rest = origin.lower().partition("://")
    return f"{scheme}://{rest.removesuffix({'http': ':80', 'https': ':443'}[scheme])}"


def _networks(value: str) -> tuple[str, ...]:
    return tuple(_network(word) for word in value.replace(",", " ").split())


def _network(word: str) -> str:
    try:
        return str(ip_network(word.strip("[]")))
    except ValueError:
        raise BadValue(f"{word!r} is no address and no network; write 10.0.0.7 or 10.0.0.0/24") from None


AUTH: Setting[str | None] = Setting(
    name="SVC_AUTH",
    parse=one_of("off"),
    default=None,
    type="name",
    help="`off` makes every request the unclaimed administrator. Only on a loopback bind.",
)
CLAIM_TOKEN: Setting[str | None] = Setting(
    name="SVC_CLAIM_TOKEN",
    parse=_claim_token,
    default=None,
    type="text",
    secret=True,
    help="One-shot first-admin credential for a bind that others can reach. Only its SHA-256 digest is stored.",
)
TRUST_PROXY: Setting[str | None] = Setting(
    name="SVC_TRUST_PROXY",
    parse=one_of("railway"),
    default=None,
    type="name",
    help="Trust `X-Forwarded-Proto` and `X-Real-IP` of this hosting platform's proxy; else they are ignored.",
)
TRUSTED_PROXIES: Setting[tuple[str, ...] | None] = Setting(
    name="SVC_TRUSTED_PROXIES",
    parse=_networks,
    default=None,
    shown_default="private and loopback addresses",
    type="list of addresses and networks",
    help="From which peers SVC_TRUST_PROXY's headers are believed, such as `10.0.0.7` or `10.0.0.0/24`; from no other.",
)
CORS_ORIGINS: Setting[tuple[str, ...]] = Setting(
    name="SVC_CORS_ORIGINS",
    parse=_origins,
    default=(),
    shown_default="unset",
    type="list of origins",
    help="Exact origins whose pages may call RPC and socket-ticket routes with a device token. Never with cookies.",
)
AUTH_RATE_LIMIT: Setting[int] = Setting(
    name="SVC_AUTH_RATE_LIMIT",
    parse=whole_number(1, 100_000),
    default=30,
    type="whole number",
    unit="requests per 5 minutes and client",
    help="Ceiling for the authentication, pairing and socket-ticket endpoints.",
)
"""Requests of one client in five minutes to sign in or for socket tickets, and as many to pair. Beyond: 429
`rate_limited` with `Retry-After`."""

SETTINGS = (AUTH, CLAIM_TOKEN, TRUST_PROXY, TRUSTED_PROXIES, CORS_ORIGINS, AUTH_RATE_LIMIT)


def is_for_this_machine(config: Config) -> bool:
    """Whether only this machine reaches the listener. A public cell is behind a proxy, and one that forwards raw bytes
    lets a stranger choose the ``Host``: so no request counts as local there, whatever the bind."""
    return is_loopback(config[HOST]) and not is_hosted(config)


def _off_stays_at_home(config: Config) -> Iterable[ConfigFault]:
    if config[AUTH] == "off" and is_hosted(config):
        yield ConfigFault(AUTH.name, "identity can't be off in a public cell", "unset it")
    elif config[AUTH] == "off" and not is_loopback(config[HOST]):
        yield ConfigFault(
            AUTH.name,
            f"identity can't be off on {config[HOST]!r}, which others can reach",
            "set SVC_HOST=127.0.0.1, or unset SVC_AUTH",
        )


def _named_proxies_are_trusted(config: Config) -> Iterable[ConfigFault]:
    if config[TRUSTED_PROXIES] is not None and config[TRUST_PROXY] is None:
        yield ConfigFault(
            TRUSTED_PROXIES.name, f"it has no meaning without {TRUST_PROXY.name}", "set both, or unset this one"
        )


RULES = (_off_stays_at_home, _named_proxies_are_trusted)


def believed_proxies(config: Config) -> Forwarded:
    """The proxies whose forwarded headers are trusted."""
    if config[TRUST_PROXY] is None:
        return Forwarded()
    named = config[TRUSTED_PROXIES]
    return Forwarded(NEAR_NETWORKS if named is None else tuple(map(ip_network, named)))
