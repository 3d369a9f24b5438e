"""Checks what npm has resolved, before any of it is fetched: every package must come from the registry, with its
SHA-512.

npm writes its choice into a lock file. Only if the whole file is valid, ``npm ci`` fetches exactly those bytes. Pure.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from svc.plugins.specs import is_name

MAX_PACKAGES: Final = 500
_VERSION: Final = 3
_FOLDER: Final = "node_modules/"
_SHA512_BYTES: Final = 64


class BadLock(Exception):
    """The packages are not fetched. The message says why, in one sentence."""


class _Entry(msgspec.Struct, frozen=True):
    version: str = ""
    resolved: str = ""
    integrity: str = ""
    link: bool = False


class _Lock(msgspec.Struct, frozen=True):
    lockfile_version: int = msgspec.field(name="lockfileVersion")
    packages: dict[str, Any]


def check_lock(data: bytes, *, registry: str) -> dict[str, str]:
    """The packages by their path below ``node_modules``, each with its version. Raises :class:`BadLock`."""
    try:
        lock = msgspec.json.decode(data, type=_Lock)
        rows = {place: msgspec.convert(row, _Entry) for place, row in lock.packages.items() if place}
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadLock(f"npm wrote a lock file that is not understood: {error}") from error
    if lock.lockfile_version != _VERSION:
        raise BadLock(f"npm wrote a lock file of version {lock.lockfile_version}, not {_VERSION}")
    if len(rows) > MAX_PACKAGES:
        raise BadLock(f"The plugins need more than {MAX_PACKAGES} packages")
    for place, row in rows.items():
        _check_entry(place, row, registry=registry)
    return {place.removeprefix(_FOLDER): row.version for place, row in rows.items()}


def _check_entry(place: str, row: _Entry, *, registry: str) -> None:
    names = place.removeprefix(_FOLDER).split(f"/{_FOLDER}")
    if not place.startswith(_FOLDER) or not all(map(is_name, names)):
        raise BadLock(f"{place!r} is no place for a package")
    if row.link or not _is_from(row.resolved, registry):
        raise BadLock(f"{names[-1]} does not come from the registry {registry}")
    if not _is_sha512(row.integrity):
        raise BadLock(f"The registry gives no SHA-512 for {names[-1]}, so its bytes can't be checked")


def _is_from(resolved: str, registry: str) -> bool:
    """Whether the address is at the registry's origin."""
    try:
        found, ours = urlsplit(resolved), urlsplit(registry)
        return (found.scheme, found.netloc) == (ours.scheme, ours.netloc)
    except ValueError:
        return False


def _is_sha512(integrity: str) -> bool:
    kind, _, digest = integrity.partition("-")
    try:
        return kind == "sha512" and len(base64.b64decode(digest, validate=True)) == _SHA512_BYTES
    except (binascii.Error, ValueError):
        return False
