"""The settings of the archive: its place, its credentials, and its program.

Each kind of place has a variable of its own, and the older name ``WALG_…`` works, too. Credentials are also read from
where the programs of each vendor look for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from svc.backup.target import Kind, Place, Target, place_of
from svc.config import Config, ConfigFault, Setting, file_path, http_url, is_set, on_off, text
from svc.settings import HOME


def _or(name: str) -> Callable[[Mapping[str, str]], str | None]:
    return lambda environ: name if is_set(environ, name) else None


def _prefix(word: str, kind: Kind, what: str) -> Setting[Place | None]:
    return Setting(
        name=f"ARCHIVE_{word}_PREFIX",
        parse=partial(place_of, kind),
        default=None,
        type="address",
        help=f"Archive the database continuously to {what}. Any one of the `ARCHIVE_*_PREFIX` enables archiving. "
        f"`WALG_{word}_PREFIX` is read where it is unset.",
        stand_in=_or(f"WALG_{word}_PREFIX"),
    )


S3: Final = _prefix("S3", "s3", "S3 or what speaks like it (`s3://bucket/folder`)")
FILE: Final = _prefix("FILE", "file", "a folder, such as a mounted disk (`file:///folder`)")
GS: Final = _prefix("GS", "gs", "Google Cloud Storage (`gs://bucket/folder`)")
AZ: Final = _prefix("AZ", "abs", "Azure Blob Storage (`azure://container/folder`)")
SSH: Final = _prefix("SSH", "sftp", "a server by SFTP (`ssh://user@host/folder`)")
PREFIXES: Final = (S3, FILE, GS, AZ, SSH)

S3_KEY_ID: Final[Setting[str | None]] = Setting(
    name="ARCHIVE_S3_ACCESS_KEY_ID",
    parse=text,
    default=None,
    type="text",
    help="Access key of the bucket. `AWS_ACCESS_KEY_ID` is read where it is unset.",
    stand_in=_or("AWS_ACCESS_KEY_ID"),
)
S3_SECRET: Final[Setting[str | None]] = Setting(
    name="ARCHIVE_S3_SECRET_ACCESS_KEY",
    parse=text,
    default=None,
    type="text",
    secret=True,
    help="Secret access key of the bucket. `AWS_SECRET_ACCESS_KEY` is read where it is unset.",
    stand_in=_or("AWS_SECRET_ACCESS_KEY"),
)
S3_REGION: Final[Setting[str | None]] = Setting(
    name="ARCHIVE_S3_REGION",
    parse=text,
    default=None,
    type="name",
    help="The bucket's region. `AWS_REGION` is read where it is unset.",
    stand_in=_or("AWS_REGION"),
)
S3_ENDPOINT: Final[Setting[str | None]] = Setting(
    name="ARCHIVE_S3_ENDPOINT",
    parse=http_url,
    default=None,
    type="URL",
    help="A server that speaks S3, if not Amazon's; buckets are named in its paths. `AWS_ENDPOINT` is read where it is "
    "unset.",
    stand_in=_or("AWS_ENDPOINT"),
)
GS_KEY_FILE: Final[Setting[Path | None]] = Setting(
    name="ARCHIVE_GS_KEY_FILE",
    parse=file_path,
    default=None,
    type="file",
    help="Service account of Google Cloud Storage. `GOOGLE_APPLICATION_CREDENTIALS` is read where it is unset.",
    stand_in=_or("GOOGLE_APPLICATION_CREDENTIALS"),
)
GS_ENDPOINT: Final[Setting[str | None]] = Setting(
    name="ARCHIVE_GS_ENDPOINT",
    parse=http_url,
    default=None,
    type="URL",
    help="URL of a server with the API of Google Cloud Storage, if it is not Google's; it gets no credentials.",
)
AZ_ENDPOINT: Final[Setting[str | None]] = Setting(
    name="ARCHIVE_AZ_ENDPOINT",
    parse=http_url,
    default=None,
    type="URL",
    help="Where the storage account answers, if not at `https://<account>.blob.core.windows.net`: another cloud of "
    "Azure, or what speaks like it.",
)
AZ_ACCOUNT: Final[Setting[str | None]] = Setting(
    name="ARCHIVE_AZ_ACCOUNT",
    parse=text,
    default=None,
    type="name",
    help="Storage account of the container. `AZURE_STORAGE_ACCOUNT` is read where it is unset.",
    stand_in=_or("AZURE_STORAGE_ACCOUNT"),
)
AZ_KEY: Final[Setting[str | None]] = Setting(
    name="ARCHIVE_AZ_ACCOUNT_KEY",
    parse=text,
    default=None,
    type="text",
    secret=True,
    help="Key of the storage account. `AZURE_STORAGE_ACCESS_KEY` is read where it is unset.",
    stand_in=_or("AZURE_STORAGE_ACCESS_KEY"),
)
SSH_KEY: Final[Setting[Path | None]] = Setting(
    name="ARCHIVE_SSH_KEY_FILE",
    parse=file_path,
    default=None,
    type="file",
    help="Private key (without a passphrase) for the server. `SSH_PRIVATE_KEY_PATH` is read where it is unset.",
    stand_in=_or("SSH_PRIVATE_KEY_PATH"),
)
SSH_HOST_KEY: Final[Setting[str | None]] = Setting(
    name="ARCHIVE_SSH_HOST_KEY",
    parse=text,
    default=None,
    type="text",
    help="The server's public key, as a line of `ssh-keyscan` has it behind the name. No other server is spoken with.",
)
BIN: Final[Setting[Path | None]] = Setting(
    name="SVC_ARCHIVE_BIN",
    parse=file_path,
    default=None,
    shown_default="litestream, as `svc[archive]` brings it",
    type="file",
    help="The archiver's program, in place of the bundled one.",
)
DRILL: Final[Setting[bool]] = Setting(
    name="SVC_BACKUP_DRILL",
    parse=on_off,
    default=True,
    shown_default="1",
    type="0 or 1",
    help="Whether each night, after the backup, the newest recovery point is restored into a scratch folder and "
    "checked. It needs room for one more copy of all there is.",
)

SETTINGS: Final = (
    *PREFIXES,
    *(S3_KEY_ID, S3_SECRET, S3_REGION, S3_ENDPOINT, GS_KEY_FILE, GS_ENDPOINT),
    *(AZ_ACCOUNT, AZ_KEY, AZ_ENDPOINT, SSH_KEY, SSH_HOST_KEY),
    *(BIN, DRILL),
)


def target_of(config: Config, place: Place | None = None) -> Target | None:
    """The place of the archive, if one is set; or ``place``, with the credentials that are set for its kind."""
    place = place or next((config[one] for one in PREFIXES if config[one] is not None), None)
    if place is None:
        return None
    options: dict[str, object] = {}
    secrets: dict[str, str] = {}
    if place.kind == "s3":
        options = _given({"region": config[S3_REGION] or "us-east-1", "endpoint": config[S3_ENDPOINT]})
        if config[S3_ENDPOINT] is not None:
            options["force-path-style"] = True
        for name, setting in (("AWS_ACCESS_KEY_ID", S3_KEY_ID), ("AWS_SECRET_ACCESS_KEY", S3_SECRET)):
            if (value := config[setting]) is not None:
                secrets[name] = value
    elif place.kind == "gs":
        if (endpoint := config[GS_ENDPOINT]) is not None:
            secrets["STORAGE_EMULATOR_HOST"] = endpoint
        elif config[GS_KEY_FILE] is not None:
            secrets["GOOGLE_APPLICATION_CREDENTIALS"] = str(config[GS_KEY_FILE])
    elif place.kind == "abs":
        options = _given({"account-name": config[AZ_ACCOUNT], "endpoint": config[AZ_ENDPOINT]})
        if (key := config[AZ_KEY]) is not None:
            secrets["LITESTREAM_AZURE_ACCOUNT_KEY"] = key
    elif place.kind == "sftp":
        options = _given({"key-path": _text(config[SSH_KEY]), "host-key": config[SSH_HOST_KEY]})
    return Target(place=place, options=options, credentials=secrets)


def _given(options: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in options.items() if value is not None}


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def rule(config: Config) -> Iterator[ConfigFault]:
    """Checks of the archive's settings that need no access to it."""
    named = [one for one in PREFIXES if config[one] is not None]
    for other in named[1:]:
        yield ConfigFault(other.name, f"{named[0].name} is set as well, and there is one archive", "unset one of them")
    if config[AZ] is not None and config[AZ_ACCOUNT] is None:
        yield ConfigFault(AZ_ACCOUNT.name, f"it is unset, and {AZ.name} needs it", "name the storage account")
    if config[SSH] is not None and config[SSH_KEY] is None:
        yield ConfigFault(SSH_KEY.name, f"it is unset, and {SSH.name} needs it", "name the file of a private key")
    if config[SSH] is not None and config[SSH_HOST_KEY] is None:
        yield ConfigFault(
            SSH_HOST_KEY.name, f"it is unset, and {SSH.name} needs it", "give what `ssh-keyscan` says of the server"
        )
    if (config[S3_KEY_ID] is None) != (config[S3_SECRET] is None) and config[S3] is not None:
        missing = S3_KEY_ID if config[S3_KEY_ID] is None else S3_SECRET
        yield ConfigFault(missing.name, "it is unset, and its other half is set", "set both, or none")
    if (file := config[FILE]) is not None and Path(file.path).is_relative_to(config[HOME]):
        yield ConfigFault(FILE.name, "it lies in the home that it is to save", "name a folder on another disk")
