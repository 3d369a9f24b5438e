"""The settings of a hosted cell for the escrow service and the key-management service."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from importlib.util import find_spec
from typing import Final

from svc.config import BadValue, Config, ConfigFault, Rule, Setting, http_url, one_of, text
from svc.settings import is_hosted

SECRET_MIN_CHARS: Final = 32
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,127}")
_KEY_ARN: Final = re.compile(r"arn:aws[a-z-]*:kms:([a-z0-9-]+):[0-9]{12}:key/[A-Za-z0-9-]+")
_TOKEN: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,127}}\.[!-~]{{{SECRET_MIN_CHARS},400}}")


def _id(value: str) -> str:
    if not _ID.fullmatch(value):
        raise BadValue(f"{value!r} is no id of the control plane; use letters, digits and - _ . : @")
    return value


def _key_arn(value: str) -> str:
    if value.startswith("alias/") or ":alias/" in value:
        raise BadValue(f"{value!r} is an alias, which may come to mean another key; name the key itself by its ARN")
    if not _KEY_ARN.fullmatch(value):
        raise BadValue(f"{value!r} is no ARN of a key; write it as arn:aws:kms:<region>:<account>:key/<id>")
    return value


def region_of(key_arn: str) -> str:
    found = _KEY_ARN.fullmatch(key_arn)
    assert found is not None, "the setting's parser took it"
    return found[1]


def _token(value: str) -> str:
    if not _TOKEN.fullmatch(value):
        raise BadValue(
            f"it is no credential of the escrow service; give credentialId.secret, {SECRET_MIN_CHARS} signs or more"
        )
    return value


TENANT_ID: Final[Setting[str | None]] = Setting(
    name="SVC_TENANT_ID",
    parse=_id,
    default=None,
    type="text",
    help="Tenant of a hosted cell, at the control plane. It is bound into the encryption context of the master key.",
)
CELL_ID: Final[Setting[str | None]] = Setting(
    name="SVC_CELL_ID",
    parse=_id,
    default=None,
    shown_default="as the escrow service knows the credential",
    type="text",
    help="Cell of that tenant. With it, a key that was wrapped for another cell is refused.",
)
KMS_PROVIDER: Final[Setting[str | None]] = Setting(
    name="SVC_KMS_PROVIDER",
    parse=one_of("aws"),
    default=None,
    type="name",
    help="Key-management service that wraps the master key: `aws`. Needs `svc[cell]`.",
)
KMS_KEY_ID: Final[Setting[str | None]] = Setting(
    name="SVC_KMS_KEY_ID",
    parse=_key_arn,
    default=None,
    type="ARN",
    help="ARN of the symmetric key at the key-management service. Aliases are refused.",
)
KMS_URL: Final[Setting[str | None]] = Setting(
    name="SVC_KMS_URL",
    parse=http_url,
    default=None,
    stand_in=lambda environ: next(
        (name for name in ("AWS_ENDPOINT_URL_KMS", "AWS_ENDPOINT_URL") if environ.get(name)), None
    ),
    shown_default="$AWS_ENDPOINT_URL_KMS, else that of the ARN's region",
    type="URL",
    help="URL of the key-management service, if it is not Amazon's own.",
)
ESCROW_URL: Final[Setting[str | None]] = Setting(
    name="SVC_KEY_ESCROW_URL",
    parse=http_url,
    default=None,
    type="URL",
    help="Base URL of the escrow service. HTTPS, or http on this machine.",
)
ESCROW_TOKEN: Final[Setting[str | None]] = Setting(
    name="SVC_KEY_ESCROW_TOKEN",
    parse=_token,
    default=None,
    type="text",
    secret=True,
    help="The cell's token for the escrow service. It is sent nowhere else.",
)
ACCESS_KEY_ID: Final[Setting[str | None]] = Setting(
    name="AWS_ACCESS_KEY_ID",
    parse=text,
    default=None,
    type="text",
    help="Access key ID for the key-management service. Its user needs only to encrypt and decrypt with that key.",
)
SECRET_ACCESS_KEY: Final[Setting[str | None]] = Setting(
    name="AWS_SECRET_ACCESS_KEY",
    parse=text,
    default=None,
    type="text",
    secret=True,
    help="Secret access key that belongs to AWS_ACCESS_KEY_ID.",
)
SESSION_TOKEN: Final[Setting[str | None]] = Setting(
    name="AWS_SESSION_TOKEN",
    parse=text,
    default=None,
    type="text",
    secret=True,
    help="Session token, if those credentials are temporary.",
)

SETTINGS: Final = (
    TENANT_ID,
    CELL_ID,
    KMS_PROVIDER,
    KMS_KEY_ID,
    KMS_URL,
    ESCROW_URL,
    ESCROW_TOKEN,
    ACCESS_KEY_ID,
    SECRET_ACCESS_KEY,
    SESSION_TOKEN,
)

_NEEDED: Final = (
    (TENANT_ID, "a public cell belongs to a tenant", "set the tenant's id at the control plane"),
    (KMS_PROVIDER, "a public cell's master key is wrapped by a key-management service", "set it to aws"),
    (KMS_KEY_ID, "a public cell's master key is wrapped by a key there", "set the key's ARN"),
    (ESCROW_URL, "a public cell's master key is kept by the escrow service", "set its https URL"),
    (ESCROW_TOKEN, "the escrow service asks who comes", "set the cell's credential, credentialId.secret"),
)


def _needed(setting: Setting[str | None], problem: str, remedy: str, config: Config) -> Iterable[ConfigFault]:
    """A rule for each variable, so that an unreadable one does not hide the others."""
    if is_hosted(config) and config[setting] is None:
        yield ConfigFault(setting.name, problem, remedy)


def _library_is_there(config: Config) -> Iterable[ConfigFault]:
    if not is_hosted(config):
        return
    if find_spec("botocore") is None:
        yield ConfigFault(
            KMS_PROVIDER.name, "the library that signs its requests is not installed", "pipx install svc[cell]"
        )


_NEEDED_BY_AWS: Final = (
    (ACCESS_KEY_ID, "the key-management service asks who comes", "set the credentials of the cell there"),
    (SECRET_ACCESS_KEY, "the key-management service asks who comes", "set what belongs to AWS_ACCESS_KEY_ID"),
)
RULES: Final[tuple[Rule, ...]] = (*(partial(_needed, *row) for row in (*_NEEDED, *_NEEDED_BY_AWS)), _library_is_there)
