"""Reads an installed package from its folder: its manifest, and the texts that the manifest names.

No code of a package runs here. A package that is not a valid plugin reports why and adds nothing; the others still
work. Blocks, so run it in a thread.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from svc.inert import hidden_in
from svc.plugins.manifest import ACTING, MAX_MANIFEST_BYTES, BadManifest, Manifest, Right, manifest_of, rights_of
from svc.plugins.specs import is_name

MAX_TEXT_BYTES: Final = 256 * 1024
MAX_TEXTS_BYTES: Final = 2 * 1024 * 1024
_MAX_VERSION_CHARS: Final = 64


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """An installed plugin. ``problem``: why it adds nothing. ``bodies``: the texts of its pages, by file."""

    name: str
    version: str | None
    manifest: Manifest | None = None
    bodies: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    rights: tuple[Right, ...] = ()
    problem: str | None = None


class _Package(msgspec.Struct, frozen=True):
    name: str
    version: str
    svc: Any = None


def read_plugin(installed: Path, name: str) -> Plugin:
    """The package ``name`` of a set."""
    folder = installed / "node_modules" / name
    try:
        package = _package(folder)
        if package.name != name:
            raise BadManifest("Its package.json has another name")
    except BadManifest as fault:
        return Plugin(name=name, version=None, problem=str(fault))
    return _plugin(folder, package)


def read_folder(folder: Path) -> Plugin:
    """The package in its author's folder."""
    try:
        package = _package(folder)
        if not is_name(package.name):
            raise BadManifest(f"No registry keeps a package {package.name!r}")
    except BadManifest as fault:
        return Plugin(name=folder.name, version=None, problem=str(fault))
    return _plugin(folder, package)


def _plugin(folder: Path, package: _Package) -> Plugin:
    try:
        if package.svc is None:
            raise BadManifest("It is no plugin: its package.json has no `svc`")
        manifest = manifest_of(package.svc)
        bodies = _bodies(folder, manifest)
    except BadManifest as fault:
        return Plugin(name=package.name, version=package.version, problem=str(fault))
    rights = rights_of(manifest, bodies)
    return Plugin(name=package.name, version=package.version, manifest=manifest, bodies=bodies, rights=rights)


def _package(folder: Path) -> _Package:
    data = _read(folder, "package.json", at_most=MAX_MANIFEST_BYTES)
    try:
        package = msgspec.json.decode(data, type=_Package)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadManifest(f"Its package.json is not understood: {error}") from error
    if not package.version.isprintable() or len(package.version) > _MAX_VERSION_CHARS:
        raise BadManifest("Its package.json has no proper version")
    return package


def _bodies(folder: Path, manifest: Manifest) -> Mapping[str, str]:
    bodies: dict[str, str] = {}
    left = MAX_TEXTS_BYTES
    for row in sorted(manifest.pages, key=lambda one: one.kind not in ACTING):
        if row.file in bodies:
            continue
        data = _read(folder, row.file, at_most=MAX_TEXT_BYTES)
        left -= len(data)
        if left < 0:
            raise BadManifest(f"Its texts have more than {MAX_TEXTS_BYTES} bytes")
        try:
            bodies[row.file] = data.decode().replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise BadManifest(f"{row.file} is not UTF-8 text, from byte {error.start + 1} on") from error
        if "\0" in bodies[row.file]:
            raise BadManifest(f"{row.file} holds a NUL character")
        if row.kind in ACTING and hidden_in(bodies[row.file]):
            raise BadManifest(f"{row.file} holds characters that are not seen")  # nobody could agree to them
    return MappingProxyType(bodies)


def _read(folder: Path, file: str, *, at_most: int) -> bytes:
    """The content of a regular file of the package. A set has no links when it is made; a link put there later is not
    followed.
    """
    try:
        descriptor = os.open(folder / file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise BadManifest(f"{file} is not a file")
            data = stream.read(at_most + 1)
    except OSError as error:
        raise BadManifest(f"{file} can't be read ({error.strerror})") from error
    if len(data) > at_most:
        raise BadManifest(f"{file} has more than {at_most} bytes")
    return data
