"""The settings of the escrow service. It ignores the variables of a cell."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Final

import msgspec

from svc.config import BadValue, Config, ConfigFault, Setting, one_of, text, whole_number
from svc.settings import LOG, SERVICE, bind_host, is_loopback

SECRET_MIN_CHARS: Final = 32
TOKEN_MAX_CHARS: Final = 512
ID_MAX_CHARS: Final = 128

_ID: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.:@-]{{0,{ID_MAX_CHARS - 1}}}")
_CREDENTIAL_ID: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{ID_MAX_CHARS - 1}}}")
_SECRET: Final = re.compile(r"[!-~]+")


@dataclass(frozen=True, kw_only=True)
class CellToken:
    """The cell that a token authenticates, and the token's digest. The token itself is not kept after it is read."""

    credential_id: str
    tenant_id: str
    cell_id: str
    digest: bytes = field(repr=False)


class _Entry(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    credentialId: str  # noqa: N815  the keys of the variable
    tenantId: str  # noqa: N815
    cellId: str  # noqa: N815
    token: str


def digest_of(token: str) -> bytes:
    """The stored form of a token: SHA-256 of the whole token. It has 128 random bits or more, so no slow hash is
    needed."""
    return hashlib.sha256(token.encode()).digest()


def cell_tokens(value: str) -> tuple[CellToken, ...]:
    """The tokens of a JSON array. A refusal says which entry is wrong, and never shows one."""
    try:
        entries = msgspec.json.decode(value, type=list[_Entry])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        where = str(error).rpartition(" - at ")[2] if " - at " in str(error) else "the text"
        raise BadValue(
            f"it is no JSON array of {{credentialId, tenantId, cellId, token}} (at {where}); write each entry so"
        ) from None
    found = tuple(_token(number, entry) for number, entry in enumerate(entries))
    names = [one.credential_id for one in found]
    if doubled := next((name for name in names if names.count(name) > 1), None):
        raise BadValue(f"the credential {doubled!r} is there twice; keep one entry of each")
    return found


def _token(number: int, entry: _Entry) -> CellToken:
    where = f"entry {number}"
    if not _CREDENTIAL_ID.fullmatch(entry.credentialId):
        raise BadValue(f"{where} has no usable credentialId; use letters, digits, - and _")
    if not _ID.fullmatch(entry.tenantId) or not _ID.fullmatch(entry.cellId):
        raise BadValue(f"{where} has no usable tenantId or cellId; use letters, digits and - _ . : @")
    beginning, _, secret = entry.token.partition(".")
    if beginning != entry.credentialId or len(secret) < SECRET_MIN_CHARS or not _SECRET.fullmatch(secret):
        raise BadValue(
            f"{where} has no usable token; write credentialId.secret, with {SECRET_MIN_CHARS} random signs or more"
        )
    if len(entry.token) > TOKEN_MAX_CHARS:
        raise BadValue(f"{where} has a token that is too long; use {TOKEN_MAX_CHARS} signs at most")
    return CellToken(
        credential_id=entry.credentialId,
        tenant_id=entry.tenantId,
        cell_id=entry.cellId,
        digest=digest_of(entry.token),
    )


def _database_url(value: str) -> str:
    if not value.startswith(("postgresql://", "postgres://")):
        raise BadValue("it is no URL of PostgreSQL; write it as postgresql://user:password@host:5432/database")
    return value


DATABASE_URL: Final[Setting[str | None]] = Setting(
    name="SVC_KEY_ESCROW_DATABASE_URL",
    parse=_database_url,
    default=None,
    stand_in=lambda environ: "DATABASE_URL",
    shown_default="$DATABASE_URL",
    type="URL",
    secret=True,
    help="PostgreSQL database of the service; it makes the schema `control_plane` there. Needed.",
)
DB_SSL: Final[Setting[str]] = Setting(
    name="SVC_KEY_ESCROW_DB_SSL",
    parse=one_of("require", "verify-full", "disable"),
    default="require",
    type="name",
    help="TLS to the database: `require`, `verify-full`, or `disable` (only for a test database on this machine).",
)
DB_POOL_SIZE: Final[Setting[int]] = Setting(
    name="SVC_KEY_ESCROW_DB_POOL_SIZE",
    parse=whole_number(2, 100),
    default=10,
    type="whole number",
    unit="connections",
    help="Connections to the database, at most, of each replica.",
)
CELL_TOKENS: Final[Setting[tuple[CellToken, ...]]] = Setting(
    name="SVC_KEY_ESCROW_CELL_TOKENS",
    parse=cell_tokens,
    default=(),
    shown_default="`[]`",
    type="JSON",
    secret=True,
    help=(
        "JSON array of `{credentialId, tenantId, cellId, token}`, kept at boot as digests. A token is "
        f"`credentialId.secret` with {SECRET_MIN_CHARS} random signs or more. To leave an entry out revokes nothing."
    ),
)
ESCROW_HOST: Final[Setting[str]] = Setting(
    name="SVC_KEY_ESCROW_HOST",
    parse=bind_host,
    default="0.0.0.0",  # noqa: S104  as the specification has it: a platform's proxy stands in front
    type="address",
    help="Bind address.",
)
PLATFORM_PORT: Final[Setting[int | None]] = Setting(
    name="PORT",
    parse=whole_number(0, 65535),
    default=None,
    type="whole number",
    unit="TCP port",
    help="The port that a platform gives; it wins over SVC_KEY_ESCROW_PORT.",
)
ESCROW_PORT: Final[Setting[int]] = Setting(
    name="SVC_KEY_ESCROW_PORT",
    parse=whole_number(0, 65535),
    default=4783,
    type="whole number",
    unit="TCP port",
    help="Public port. 0 takes a free one; the log says which.",
)
SHUTDOWN_MS: Final[Setting[int]] = Setting(
    name="SVC_KEY_ESCROW_SHUTDOWN_MS",
    parse=whole_number(1_000, 120_000),
    default=30_000,
    type="whole number",
    unit="milliseconds",
    help="How long calls in flight may take to finish after the stop signal, before the pool is closed.",
)
METRICS_TOKEN: Final[Setting[str | None]] = Setting(
    name="SVC_KEY_ESCROW_METRICS_TOKEN",
    parse=text,
    default=None,
    type="text",
    secret=True,
    help="Bearer token for `/metrics` from other machines. Unset: from this machine only.",
)

SETTINGS: Final = (
    SERVICE,
    DATABASE_URL,
    DB_SSL,
    DB_POOL_SIZE,
    CELL_TOKENS,
    ESCROW_HOST,
    PLATFORM_PORT,
    ESCROW_PORT,
    SHUTDOWN_MS,
    METRICS_TOKEN,
    LOG,
)


def port_of(config: Config) -> int:
    platform = config[PLATFORM_PORT]
    return config[ESCROW_PORT] if platform is None else platform


def _libraries_are_there(config: Config) -> Iterable[ConfigFault]:
    if find_spec("psycopg") is None or find_spec("psycopg_pool") is None:
        yield ConfigFault(
            SERVICE.name, "the library for PostgreSQL is not installed", "install it: pipx install svc[control-plane]"
        )


def _database_is_named(config: Config) -> Iterable[ConfigFault]:
    if config[DATABASE_URL] is None:
        yield ConfigFault(
            DATABASE_URL.name,
            "the escrow service keeps the keys in PostgreSQL",
            "set it, such as postgresql://user:password@host/database",
        )


def _tls_fits(config: Config) -> Iterable[ConfigFault]:
    """Connections without TLS are allowed on this machine only."""
    url = config[DATABASE_URL]
    if url is None or find_spec("psycopg") is None:
        return
    from psycopg import ProgrammingError  # imported late: the library may be missing, and a rule reports that
    from psycopg.conninfo import conninfo_to_dict

    try:
        said = conninfo_to_dict(url)
    except ProgrammingError:
        yield ConfigFault(
            DATABASE_URL.name, "it can't be read", "percent-encode what is no letter or digit in user and password"
        )
        return
    if config[DB_SSL] == "disable" and not _on_this_machine(said):
        yield ConfigFault(
            DB_SSL.name,
            "`disable` is only for a test database that the URL names on this machine",
            "use `require` or `verify-full`",
        )


def _on_this_machine(said: Mapping[str, object]) -> bool:
    """Whether every server in the URL is on loopback, or a socket in the file system."""
    hosts = [host for name in ("host", "hostaddr") if said.get(name) for host in str(said[name]).split(",")]
    return bool(hosts) and all(host.startswith("/") or is_loopback(host) for host in hosts)


RULES: Final = (_libraries_are_there, _database_is_named, _tls_fits)
