"""The core settings: where the service lives, where it listens, which outside world it speaks to.

A feature's own settings stand in its folder; ``svc config`` and ``docs/configuration.md`` list all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from pathlib import Path

from svc.config import (
    BadValue,
    Config,
    ConfigFault,
    Setting,
    directory,
    file_path,
    http_url,
    one_of,
    text,
    whole_number,
)


def _default_home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or os.path.expanduser("~")) / "Svc"


def _bind_host(value: str) -> str:
    return value.strip("[]")


_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def _public_origin(value: str) -> str:
    url = http_url(value)
    scheme, _, rest = url.lower().partition("://")
    if "/" in rest:
        raise BadValue(f"{value!r} has a path; give scheme, host and port only")
    return f"{scheme}://{rest.removesuffix(_DEFAULT_PORTS[scheme])}"  # as a browser writes it


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
    type="whole number",
    unit="TCP port",
    help="Public HTTP and WebSocket port. 0 takes a free one and prints it.",
)
HOST: Setting[str] = Setting(
    name="SVC_HOST",
    parse=_bind_host,
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
MASTER_KEY_FILE: Setting[Path | None] = Setting(
    name="SVC_MASTER_KEY_FILE",
    parse=file_path,
    default=None,
    shown_default="$XDG_CONFIG_HOME/svc/keys/<home id>",
    type="file",
    help="The key of the secrets store. It lies outside SVC_HOME, so that a copy of the home gives nothing away.",
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

CORE_SETTINGS = (
    HOME,
    PORT,
    HOST,
    PROFILE,
    PUBLIC_ORIGIN,
    MASTER_KEY_FILE,
    SEED,
    PROVIDERS,
    LOG,
    DRAIN_S,
    IDP_CLIENT_ID,
    IDP_CLIENT_SECRET,
    IDP_ISSUER,
)


def is_fake(config: Config) -> bool:
    return config[PROVIDERS] == "fake"


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_wildcard(host: str) -> bool:
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False


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
    if not is_fake(config):
        yield ConfigFault(
            PROFILE.name,
            "a public cell keeps its master key under a key-management service, which this version can't speak to",
            "use SVC_PROFILE=local behind a proxy of your own",
        )


def _seed_needs_fake(config: Config) -> Iterable[ConfigFault]:
    if config[SEED] and not is_fake(config):
        yield ConfigFault(SEED.name, "the mock world needs the fake providers", "set PROVIDERS=fake or unset SVC_SEED")


def _client_is_whole(config: Config) -> Iterable[ConfigFault]:
    if config[IDP_CLIENT_ID] and not config[IDP_CLIENT_SECRET]:
        yield ConfigFault(IDP_CLIENT_SECRET.name, "IDP_CLIENT_ID is set without it", "set both, or neither")
    if config[IDP_CLIENT_SECRET] and not config[IDP_CLIENT_ID]:
        yield ConfigFault(IDP_CLIENT_ID.name, "IDP_CLIENT_SECRET is set without it", "set both, or neither")


CORE_RULES = (_wildcard_needs_cloud, _cloud_is_whole, _seed_needs_fake, _client_is_whole)


def canonical_origin(config: Config, *, port: int) -> str:
    """Where a browser finds this instance; OAuth redirects go here and never to what a ``Host`` header says."""
    return config[PUBLIC_ORIGIN] or f"http://127.0.0.1:{port}"
