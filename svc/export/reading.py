"""Reads a bag, from a folder or a tar archive: first all of it is compared with its manifest, then entries are read.

No file is ever written under a name from the bag. Blocks.
"""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, TypeVar

import msgspec

from svc.errors import Invalid
from svc.export.bag import MANIFEST, TOP, unescaped

T = TypeVar("T")

MANIFEST_BYTES: Final = 1024 * 1024 * 1024
JSON_BYTES: Final = 256 * 1024 * 1024
PIECE_BYTES: Final = 1024 * 1024
NO_EXPORT: Final = "This is no export of svc"


@dataclass(frozen=True, kw_only=True)
class Bag:
    """``root`` is a folder, or ``archive`` an open tar with its ``members`` by name."""

    root: Path | None = None
    archive: tarfile.TarFile | None = None
    members: dict[str, tarfile.TarInfo]

    def names(self) -> Iterator[str]:
        yield from self.members

    @contextmanager
    def opened(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file of the bag. Raises :class:`Invalid` where there is no such file."""
        try:
            if self.archive is not None:
                file = self.archive.extractfile(self.members[name])
            else:
                assert self.root is not None, "a bag is one or the other"
                if name not in self.members:
                    raise KeyError(name)
                file = (self.root / name).open("rb")
        except (KeyError, OSError) as error:
            raise Invalid(f"{NO_EXPORT}, or not all of it: {name} is missing.") from error
        assert file is not None, "it is a plain file"
        with file:
            yield file

    def json(self, name: str, *, form: type[T]) -> T:
        with self.opened(name) as file:
            data = file.read(JSON_BYTES + 1)
        if len(data) > JSON_BYTES:
            raise Invalid(f"{name} is too large.")
        try:
            return msgspec.json.decode(data, type=form)
        except msgspec.MsgspecError as error:
            raise Invalid(f"{name} can't be read: {error}.") from None

    def digest(self) -> str:
        """The hash of its manifest, which names all its content."""
        with self.opened(MANIFEST) as file:
            return _digest(file)

    def check(self) -> int:
        """Compare all files with the manifest. Returns how many. Raises :class:`Invalid` with the first that
        differs."""
        with self.opened(MANIFEST) as file:
            lines = file.read(MANIFEST_BYTES).decode("utf-8", "replace").split("\n")
        parts = (line.partition("  ") for line in lines if "  " in line)
        told = {unescaped(name): digest for digest, _, name in parts}
        for name, digest in told.items():
            with self.opened(name) as file:
                if _digest(file) != digest:
                    raise Invalid(f"{name} is damaged: it is not what the manifest says.")
        extra = sorted(name for name in self.members if name.startswith("data/") and name not in told)
        if extra:
            raise Invalid(f"{extra[0]} is not in the manifest.")
        return len(told)


@contextmanager
def open_bag(path: Path) -> Iterator[Bag]:
    """Open a bag. Raises :class:`Invalid` where there is none."""
    if path.is_dir():
        files = [one for one in path.rglob("*") if one.is_file() and not one.is_symlink()]
        yield Bag(root=path, members={one.relative_to(path).as_posix(): tarfile.TarInfo() for one in files})
        return
    try:
        with tarfile.open(path, "r:") as archive:
            plain = [member for member in archive if member.isreg()]
            prefix = f"{TOP}/"
            members = {one.name.removeprefix(prefix): one for one in plain if one.name.startswith(prefix)}
            yield Bag(archive=archive, members=members)
    except (tarfile.TarError, EOFError) as error:
        raise Invalid(f"{NO_EXPORT}, or it is cut off: {path}.") from error
    except OSError as error:
        raise Invalid(f"{path} can't be read: {error.strerror or error}.") from error


def _digest(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while piece := file.read(PIECE_BYTES):
        digest.update(piece)
    return digest.hexdigest()
