"""The core settings: the home of the service, its addresses, and whether the outside services are real or fake.

The settings of a feature are in its folder; ``svc config`` and ``docs/configuration.md`` list all of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlsplit

from svc.config import (
    BadValue,
    Config,
    ConfigFault,
    Setting,
    directory,
    file_path,
    http_url,
    on_off,
    one_of,
    text,
    whole_number,
)

T = TypeVar("T")


def _default_home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or os.path.expanduser("~")) / "Svc"


def bind_host(value: str) -> str:
    """An address, or a name that the system looks up. No number in short (`0`, `127.1`): the system takes it for an
    address, and `0` for all of them."""
    host = value.strip("[]")
    labels = host.removesuffix(".").split(".")
    if not _is_address(host) and (_NUMBER.fullmatch(labels[-1]) or not all(map(_LABEL.fullmatch, labels))):
        raise BadValue(f"{value!r} is neither an address nor a name; give one, such as 127.0.0.1")
    return host


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


_LABEL: Final = re.compile(r"[^\W_](?:[\w-]{0,61}\w)?")
_NUMBER: Final = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
SHORTEST_TOKEN: Final = 8
"""Characters of a token that a person chooses. Shorter ones could be guessed."""
DEFAULT_INTERNAL_PORT = 4782
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def _public_origin(value: str) -> str:
    url = http_url(value, form="https://host[:port]")
    scheme, _, rest = url.lower().partition("://")
    if "/" in rest:
        raise BadValue(f"{value!r} has a path; give scheme, host and port only")
    return f"{scheme}://{rest.removesuffix(_DEFAULT_PORTS[scheme])}"  # as a browser writes it


def _long_token(value: str) -> str:
    if len(value) < SHORTEST_TOKEN or not value.isascii() or not value.isprintable() or " " in value:
        raise BadValue(f"it is too short or has signs that no token has; use {SHORTEST_TOKEN} random letters or more")
    return value


def loopback_url(value: str) -> str:
    """``:4781`` stands for ``http://127.0.0.1:4781``."""
    form = "http://127.0.0.1:<port> or :<port>"
    url = http_url(f"http://127.0.0.1{value}" if value.startswith(":") else value, form=form)
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.path or parts.port is None or parts.hostname not in {"127.0.0.1", "localhost"}:
        raise BadValue(f"{value!r} is not loopback's; write it as {form}")
    return f"http://127.0.0.1:{parts.port}"


HOME: Setting[Path] = Setting(
    name="SVC_HOME",
    parse=directory,
    default=_default_home,
    shown_default="~/Svc",
    type="directory",
    help="Root data directory: the embedded database (`db/`) and content-addressed blobs (`blobs/`).",
)
PORT: Setting[int] = Setting(
    name="SVC_PORT",
    parse=whole_number(0, 65535),
    default=4780,
    stand_in=lambda environ: "PORT" if environ.get("SVC_PROFILE") == "cloud" else None,
    shown_default="4780; under SVC_PROFILE=cloud the platform's $PORT",
    type="whole number",
    unit="TCP port",
    help="Public HTTP and WebSocket port. 0 takes a free one; the start says which.",
)
HOST: Setting[str] = Setting(
    name="SVC_HOST",
    parse=bind_host,
    default="127.0.0.1",
    type="address",
    help="Public bind address. A wildcard is accepted only under SVC_PROFILE=cloud.",
)
PROFILE: Setting[str] = Setting(
    name="SVC_PROFILE",
    parse=one_of("local", "cloud"),
    default="local",
    type="name",
    help="`cloud` is for public cells: it needs an HTTPS SVC_PUBLIC_ORIGIN, and what a stranger could misuse is off.",
)
PUBLIC_ORIGIN: Setting[str | None] = Setting(
    name="SVC_PUBLIC_ORIGIN",
    parse=_public_origin,
    default=None,
    type="origin",
    help="Canonical browser origin, such as https://mail.example.org. Drives OAuth redirects and origin checks.",
)
CONTROL_PLANE: Final = "key-escrow-control-plane"
SERVICE: Setting[str] = Setting(
    name="SVC_SERVICE",
    parse=one_of("cell", CONTROL_PLANE),
    default="cell",
    type="name",
    help=f"What `svc serve` runs: a `cell`, or the escrow service of a fleet (`{CONTROL_PLANE}`), which opens no home.",
)
TLS_CERT_FILE: Setting[Path | None] = Setting(
    name="SVC_TLS_CERT_FILE",
    parse=file_path,
    default=None,
    type="file",
    help="Certificate chain (PEM) of the public port, which is HTTPS then. Needs `svc serve --front=hypercorn`.",
)
TLS_KEY_FILE: Setting[Path | None] = Setting(
    name="SVC_TLS_KEY_FILE",
    parse=file_path,
    default=None,
    type="file",
    help="Private key (PEM, without a password) of SVC_TLS_CERT_FILE.",
)
MASTER_KEY_FILE: Setting[Path | None] = Setting(
    name="SVC_MASTER_KEY_FILE",
    parse=file_path,
    default=None,
    shown_default="$XDG_CONFIG_HOME/svc/keys/<home id>",
    type="file",
    help="File of the master key, which encrypts the stored secrets. It is outside of SVC_HOME and its copies.",
)
MASTER_KEY_STORE: Setting[str] = Setting(
    name="SVC_MASTER_KEY_STORE",
    parse=one_of("file", "keyring"),
    default="file",
    type="name",
    help="Where the master key is kept: in a `file`, or in the `keyring` of the system (needs `svc[keyring]`).",
)
SEED: Setting[str | None] = Setting(
    name="SVC_SEED",
    parse=one_of("mock-world"),
    default=None,
    type="name",
    help="`mock-world` seeds the shared demo fixture on first boot. Needs PROVIDERS=fake.",
)
PROVIDERS: Setting[str | None] = Setting(
    name="PROVIDERS",
    parse=one_of("fake"),
    default=None,
    type="name",
    help="`fake` swaps every outside system for a deterministic fake.",
)
LOG: Setting[str | None] = Setting(
    name="SVC_LOG",
    parse=one_of("json", "readable"),
    default=None,
    shown_default="readable on a terminal, else json",
    type="name",
    help="Form of the log on standard error: `json` lines or `readable` text.",
)
DRAIN_S: Setting[int] = Setting(
    name="SVC_DRAIN_SECONDS",
    parse=whole_number(0, 120),
    default=10,
    type="whole number",
    unit="seconds",
    help="How long requests in flight may take to finish after the first stop signal.",
)
IDP_CLIENT_ID: Setting[str | None] = Setting(
    name="IDP_CLIENT_ID",
    parse=text,
    default=None,
    type="text",
    help="OAuth client id of the identity and mail provider. Seeds the secret `idp.oauth` once.",
)
IDP_CLIENT_SECRET: Setting[str | None] = Setting(
    name="IDP_CLIENT_SECRET",
    parse=text,
    default=None,
    type="text",
    secret=True,
    help="OAuth client secret that belongs to IDP_CLIENT_ID.",
)
IDP_ISSUER: Setting[str] = Setting(
    name="SVC_IDP_ISSUER",
    parse=http_url,
    default="https://accounts.google.com",
    type="URL",
    help="OpenID Connect issuer; its discovery document names the endpoints.",
)

INTERNAL_PORT: Setting[int] = Setting(
    name="SVC_INTERNAL_PORT",
    parse=whole_number(0, 65535),
    default=lambda environ: 0 if environ.get(PORT.name) == "0" else DEFAULT_INTERNAL_PORT,
    shown_default="4782; a free one where SVC_PORT is 0",
    type="whole number",
    unit="TCP port",
    help="Loopback-only listener through which the worker plane reaches this one. 0 takes a free port.",
)
INTERNAL_TOKEN: Setting[str | None] = Setting(
    name="SVC_INTERNAL_TOKEN",
    parse=_long_token,
    default=None,
    shown_default="a new one at each boot, in SVC_HOME/run/internal.token",
    type="text",
    secret=True,
    help="Shared secret of the web plane and the worker plane. Needed if the worker is a separate process.",
)
WORKER_URL: Setting[str] = Setting(
    name="SVC_WORKER_URL",
    parse=loopback_url,
    default="http://127.0.0.1:4781",
    type="URL",
    help="Loopback control address of the worker plane: `svc serve --role=worker` listens there.",
)
BROKER_URL: Setting[str] = Setting(
    name="SVC_BROKER_URL",
    parse=loopback_url,
    default="http://127.0.0.1:4782",
    type="URL",
    help="Loopback address of the web plane's internal listener, for a worker that is a process of its own.",
)
WORKER_PROCESS: Setting[bool] = Setting(
    name="SVC_WORKER_PROCESS",
    parse=on_off,
    default=False,
    shown_default="`0`",
    type="0 or 1",
    help="With 1, `svc serve` runs its worker plane as a child process instead of in the same process.",
)

CORE_SETTINGS = (
    SERVICE,
    HOME,
    PORT,
    HOST,
    PROFILE,
    PUBLIC_ORIGIN,
    TLS_CERT_FILE,
    TLS_KEY_FILE,
    MASTER_KEY_FILE,
    MASTER_KEY_STORE,
    SEED,
    PROVIDERS,
    LOG,
    DRAIN_S,
    IDP_CLIENT_ID,
    IDP_CLIENT_SECRET,
    IDP_ISSUER,
    INTERNAL_PORT,
    INTERNAL_TOKEN,
    WORKER_URL,
    BROKER_URL,
    WORKER_PROCESS,
)


def is_fake(config: Config) -> bool:
    """Whether fakes replace the outside services. Only ``app.py`` and this module ask."""
    return config[PROVIDERS] == "fake"


def is_hosted(config: Config) -> bool:
    """Whether this is a cell of a fleet, whose master key comes from the escrow service."""
    return config[PROFILE] == "cloud" and not is_fake(config)


def default_under_fakes(fake: T, *, otherwise: T) -> Callable[[Mapping[str, str]], T]:
    """The default of a setting that differs when the outside services are fakes."""
    return lambda environ: fake if environ.get(PROVIDERS.name) == "fake" else otherwise


def is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and _plain(host).is_loopback)


def is_wildcard(host: str) -> bool:
    return _is_address(host) and _plain(host).is_unspecified


def _plain(address: str) -> IPv4Address | IPv6Address:
    """An IPv4 address that is written as an IPv6 one is that IPv4 address."""
    found = ip_address(address)
    return found if isinstance(found, IPv4Address) else found.ipv4_mapped or found


def _wildcard_needs_cloud(config: Config) -> Iterable[ConfigFault]:
    if is_wildcard(config[HOST]) and config[PROFILE] != "cloud":
        yield ConfigFault(
            HOST.name,
            f"{config[HOST]!r} would open the service to every network of this machine",
            "name one address, such as 127.0.0.1, or set SVC_PROFILE=cloud for a public cell",
        )


def _cloud_is_whole(config: Config) -> Iterable[ConfigFault]:
    if config[PROFILE] != "cloud":
        return
    if not (config[PUBLIC_ORIGIN] or "").startswith("https://"):
        yield ConfigFault(
            PUBLIC_ORIGIN.name, "a public cell needs its HTTPS origin", "set it, such as https://mail.example.org"
        )


def _tls_is_whole(config: Config) -> Iterable[ConfigFault]:
    certificate, key = config[TLS_CERT_FILE], config[TLS_KEY_FILE]
    if certificate is not None and key is None:
        yield ConfigFault(TLS_KEY_FILE.name, "the certificate has no key", f"set it, or unset {TLS_CERT_FILE.name}")
    if key is not None and certificate is None:
        yield ConfigFault(TLS_CERT_FILE.name, "the key has no certificate", f"set it, or unset {TLS_KEY_FILE.name}")


def _one_place_for_the_key(config: Config) -> Iterable[ConfigFault]:
    if config[MASTER_KEY_STORE] == "keyring" and config[MASTER_KEY_FILE] is not None:
        yield ConfigFault(MASTER_KEY_FILE.name, "SVC_MASTER_KEY_STORE=keyring keeps no file", "unset one of the two")


def _seed_needs_fake(config: Config) -> Iterable[ConfigFault]:
    if config[SEED] and not is_fake(config):
        yield ConfigFault(SEED.name, "the mock world needs the fake providers", "set PROVIDERS=fake or unset SVC_SEED")


def _internal_port_is_its_own(config: Config) -> Iterable[ConfigFault]:
    if config[INTERNAL_PORT] == config[PORT] != 0:
        yield ConfigFault(INTERNAL_PORT.name, f"{config[PORT]} is the public port", "set another port, or unset it")


CORE_RULES = (
    _internal_port_is_its_own,
    _wildcard_needs_cloud,
    _cloud_is_whole,
    _tls_is_whole,
    _one_place_for_the_key,
    _seed_needs_fake,
)


def canonical_origin(config: Config, *, port: int) -> str:
    """The address of this instance for browsers. OAuth redirects go here, and never to the ``Host`` header of a
    request.
    """
    if (public := config[PUBLIC_ORIGIN]) is not None:
        return public
    scheme = "http" if config[TLS_CERT_FILE] is None else "https"
    standard = f":{port}" == _DEFAULT_PORTS[scheme]
    return f"{scheme}://{_own_name(config[HOST])}{'' if standard else f':{port}'}"  # as a browser writes it


def _own_name(host: str) -> str:
    """The host name with which this machine reaches a server bound to ``host``."""
    if host == "localhost":
        return "127.0.0.1"
    if is_wildcard(host):
        return "[::1]" if ":" in host else "127.0.0.1"
    return f"[{host}]" if ":" in host else host
