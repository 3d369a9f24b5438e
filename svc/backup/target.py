"""The place of the archive: one of five kinds, as the settings name it, and in the form of the archiver's
configuration.

A place has two archives beside each other: ``db``, the database, and ``ledger``, the archive's catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from svc.config import BadValue, without_password

Kind = Literal["s3", "file", "gs", "abs", "sftp"]
Part = Literal["db", "ledger"]

_SCHEMES: Final[Mapping[Kind, tuple[str, ...]]] = {
    "s3": ("s3",),
    "file": ("file",),
    "gs": ("gs", "gcs"),
    "abs": ("azure", "abs"),
    "sftp": ("ssh", "sftp"),
}
_FORMS: Final[Mapping[Kind, str]] = {
    "s3": "s3://bucket/folder",
    "file": "file:///folder, or an absolute path",
    "gs": "gs://bucket/folder",
    "abs": "azure://container/folder",
    "sftp": "ssh://user@host[:port]/folder",
}
_HOST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")


@dataclass(frozen=True, kw_only=True)
class Place:
    """One value of ``ARCHIVE_*_PREFIX``. ``host``: bucket, container or server."""

    kind: Kind
    host: str
    path: str
    user: str = ""
    port: int | None = None

    def __str__(self) -> str:
        if self.kind == "file":
            return f"file://{self.path}"
        at = f"{self.user}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        return f"{_SCHEMES[self.kind][0]}://{at}{self.host}{port}{self.path}"


@dataclass(frozen=True, kw_only=True)
class Target:
    """A place with its credentials. ``options`` are keys of the archiver's configuration; ``credentials`` are passed in
    its environment, so that they are in no file and in no argument."""

    place: Place
    options: Mapping[str, object] = field(default_factory=dict)
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)

    def replica(self, part: Part) -> dict[str, object]:
        """The archiver's configuration for the place of this part."""
        place = self.place
        path = f"{place.path.rstrip('/')}/{part}"
        if place.kind == "file":
            return {"type": "file", "path": path}
        if place.kind == "sftp":
            host = f"{place.host}:{place.port or 22}"
            return {"type": "sftp", "host": host, "user": place.user, "path": path, **self.options}
        return {"type": place.kind, "bucket": place.host, "path": path.lstrip("/"), **self.options}


def place_of(kind: Kind, value: str) -> Place:
    """The place that a setting's value names. Raises :class:`BadValue`."""
    shown = without_password(value)
    wrong = BadValue(f"{shown!r} is no place of this kind; write it as {_FORMS[kind]}")
    if kind == "file" and value.startswith("/"):
        value = f"file://{value}"
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in _SCHEMES[kind] or parts.query or parts.fragment or not value.isprintable():
        raise wrong
    if parts.password is not None:
        raise BadValue("it holds a password; leave it out, and set the variable for it")
    path = unquote(parts.path) if kind == "file" else parts.path
    if ".." in path.split("/"):
        raise wrong
    if kind == "file":
        if parts.netloc or len(path) < 2:
            raise wrong
        return Place(kind=kind, host="", path=path.rstrip("/"))
    if not _HOST.fullmatch(parts.hostname or "") or ((parts.username or port) and kind != "sftp"):
        raise wrong
    if kind == "sftp" and (not parts.username or len(path) < 2):
        raise wrong
    return Place(kind=kind, host=parts.hostname or "", path=path.rstrip("/"), user=parts.username or "", port=port)


def is_on_a_disk_of_its_own(place: Place, database: Path) -> bool:
    """Whether a folder is neither on the disk of the database nor on that of the system. Blocks."""
    return place.kind == "file" and _disk_of(Path(place.path)) not in {_disk_of(database), _disk_of(Path("/"))}


def is_on_the_same_disk(place: Place, database: Path) -> bool:
    """Whether a folder is in the file system of the database: a disk that breaks takes both. That two file systems are
    on one disk is not seen. Folders are compared, since some containers give files the number of another disk. Blocks.
    """
    return place.kind == "file" and _disk_of(Path(place.path)) == _disk_of(database.parent)


def _disk_of(path: Path) -> int:
    """Of a path that does not exist, or may not be seen: of the folder above."""
    for one in (path, *path.parents):
        with suppress(OSError):
            return one.stat().st_dev
    return 0


def any_place(value: str) -> Place:
    """The place that a value of any kind names. Raises :class:`BadValue`."""
    scheme = "file" if value.startswith("/") else value.partition("://")[0]
    for kind, schemes in _SCHEMES.items():
        if scheme in schemes:
            return place_of(kind, value)
    raise BadValue(
        f"{without_password(value)!r} is no place of an archive; write it as {_FORMS['s3']}, or a path from / on"
    )
