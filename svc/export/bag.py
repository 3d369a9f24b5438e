"""A bag (RFC 8493) as a stream of entries, and its two written forms: a folder, or a tar archive.

The writer hashes the bytes as they pass; the manifest comes last. Names are made here, so that none leads outside and
no two are the same on a disk that ignores case.
"""

from __future__ import annotations

import hashlib
import os
import re
import tarfile
import unicodedata
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from svc.clock import SECOND_MS, Millis, rfc3339

TOP: Final = "svc-export"
MEETINGS: Final = "data/meetings/"
BAGIT: Final = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
MANIFEST: Final = "manifest-sha256.txt"
TAG_MANIFEST: Final = "tagmanifest-sha256.txt"
_BLOCK: Final = 512
_END: Final = b"\0" * (2 * _BLOCK)
_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')
MAX_PART_BYTES: Final = 180


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One file of the bag: its name below the top folder, its size, and its bytes as they come."""

    name: str
    size: int
    pieces: AsyncIterator[bytes]


@dataclass(kw_only=True)
class Names:
    """Makes each wanted name unique, and never gives one name to both a file and a folder."""

    _files: set[str] = field(default_factory=set)
    _folders: set[str] = field(default_factory=set)

    def free(self, name: str) -> str:
        *above, last = name.split("/")
        folder = ""
        for part in above:
            number, tried = 1, part
            while _key(folder + tried) in self._files:
                number += 1
                tried = f"{part}~{number}"
            folder += tried
            self._folders.add(_key(folder))
            folder += "/"
        stem, dot, ending = last.rpartition(".") if "." in last else (last, "", "")
        number, tried = 1, last
        while (key := _key(folder + tried)) in self._files or key in self._folders:
            number += 1
            tried = f"{stem}~{number}{dot}{ending}"
        self._files.add(key)
        return folder + tried


def _key(name: str) -> str:
    """The same key for names that some disk treats as equal."""
    return unicodedata.normalize("NFC", name).casefold()


def safe(part: str) -> str:
    """One part of a name in a form that every disk accepts."""
    text = _UNSAFE.sub("_", unicodedata.normalize("NFC", part)).strip(" .") or "_"
    while len(text.encode()) > MAX_PART_BYTES:
        text = text[:-1]
    return text


@dataclass(kw_only=True)
class Writing:
    """The manifest of the files written so far; ``at`` is the time of writing."""

    at: Millis
    sums: list[tuple[str, str]] = field(default_factory=list)
    octets: int = 0
    count: int = 0

    async def hashed(self, entry: Entry) -> AsyncIterator[bytes]:
        """The entry's bytes, hashed for the manifest. Raises ``ValueError`` if their number differs from the announced
        size."""
        digest, size = hashlib.sha256(), 0
        async for piece in entry.pieces:
            digest.update(piece)
            size += len(piece)
            yield piece
        if size != entry.size:
            raise ValueError(f"{entry.name} has {size} bytes, and not {entry.size}")
        self.sums.append((digest.hexdigest(), entry.name))
        self.octets += size
        self.count += 1

    def tags(self) -> Iterator[tuple[str, bytes]]:
        """The files that describe the bag, after its payload."""
        info = f"Bagging-Date: {rfc3339(self.at)[:10]}\nPayload-Oxum: {self.octets}.{self.count}\nSvc-Export: 1\n"
        files = {
            "bagit.txt": BAGIT,
            "bag-info.txt": info.encode(),
            MANIFEST: "".join(f"{digest}  {_escaped(name)}\n" for digest, name in self.sums).encode(),
        }
        yield from files.items()
        lines = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items())
        yield TAG_MANIFEST, "".join(lines).encode()


async def as_tar(entries: AsyncIterator[Entry], *, at: Millis) -> AsyncGenerator[bytes, None]:
    """The bag as the bytes of a tar archive (POSIX, so that names may be long and in any script)."""
    writing = Writing(at=at)
    async for entry in entries:
        yield _header(entry.name, entry.size, at)
        async for piece in writing.hashed(entry):
            yield piece
        yield b"\0" * (-entry.size % _BLOCK)
    for name, data in writing.tags():
        yield _header(name, len(data), at) + data + b"\0" * (-len(data) % _BLOCK)
    yield _END


async def as_folder(entries: AsyncIterator[Entry], *, at: Millis, root: Path) -> None:
    """The bag as files below ``root``, which is new. Blocks while it writes: for the command line."""
    writing = Writing(at=at)
    async for entry in entries:
        path = root / entry.name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            async for piece in writing.hashed(entry):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    for name, data in writing.tags():
        (root / name).write_bytes(data)


def _header(name: str, size: int, at: Millis) -> bytes:
    member = tarfile.TarInfo(f"{TOP}/{name}")
    member.size, member.mtime, member.mode = size, at // SECOND_MS, 0o600
    return member.tobuf(tarfile.PAX_FORMAT)


def _escaped(name: str) -> str:
    return name.replace("%", "%25").replace("\n", "%0A").replace("\r", "%0D")


def unescaped(name: str) -> str:
    return name.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
