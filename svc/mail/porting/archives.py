"""Reads the files of a zip or a tar archive, each as a stream, with limits against decompression bombs."""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, Final

MAX_RATIO: Final = 200
"""An archive may unpack to at most this many times its size. Text reaches twenty, a decompression bomb thousands."""
ALWAYS_BYTES: Final = 256 * 1024 * 1024
"""This many bytes are unpacked from any archive, even a small one."""
MAX_DIRECTORY_BYTES: Final = 32 * 1024 * 1024
"""The largest size of a zip's list of files, which is read whole, and of a tar header: enough for 300,000 files."""
BUFFER_BYTES: Final = 256 * 1024


class SourceFault(Exception):
    """The source can't be read, or not further. The text is a sentence for a person."""


@dataclass(kw_only=True)
class Bounds:
    """Counts how many bytes may still be unpacked."""

    left: int

    @classmethod
    def of(cls, size: int) -> Bounds:
        """``size``: the size of the archive. A pipe has none (0), and no limit."""
        return cls(left=max(ALWAYS_BYTES, size * MAX_RATIO) if size else 2**62)

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise SourceFault(f"The archive unpacks to more than {MAX_RATIO} times its size: it is not read further.")


def zip_members(file: IO[bytes], *, bounds: Bounds) -> Iterator[tuple[str, IO[bytes]]]:
    try:
        archive = zipfile.ZipFile(_Careful(file))
    except (zipfile.BadZipFile, ValueError) as error:  # a name that is not text, a negative offset
        raise SourceFault("The zip is damaged, or is cut off.") from error
    with archive:
        for info in archive.infolist():
            if not info.filename or info.is_dir() or stat.S_ISLNK(info.external_attr >> 16):
                continue
            yield info.filename, _reader(_Opening(archive, info), bounds)


def tar_members(file: IO[bytes], *, name: str, bounds: Bounds) -> Iterator[tuple[str, IO[bytes]]]:
    """The files of a tar archive compressed by gzip. Any other gzip data is one file."""
    packed = gzip.GzipFile(fileobj=file)
    unpacked = _reader(packed, bounds)
    head = unpacked.peek(512)[:512]
    if head[257:262] != b"ustar":
        yield name.removesuffix(".gz"), unpacked
        return
    try:
        with tarfile.open(fileobj=_Careful(unpacked), mode="r|") as archive:
            for info in archive:
                archive.members = []  # type: ignore[attr-defined]  # else it keeps every entry
                content = archive.extractfile(info) if info.isreg() else None
                if content is not None:
                    yield info.name, io.BufferedReader(_Plain(content), BUFFER_BYTES)
    except tarfile.TarError as error:
        raise SourceFault("The archive is damaged, or is cut off.") from error


def _reader(source: Any, bounds: Bounds) -> io.BufferedReader:
    return io.BufferedReader(_Counted(source, bounds), BUFFER_BYTES)


class _Plain(io.RawIOBase):
    """A raw stream that returns bytes as soon as there are some, so that an archive is read up to where it is cut."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._source.read1(len(buffer))
        except lzma.LZMAError as error:
            raise EOFError("damaged") from error
        except OSError as error:  # bz2 and gzip raise it without errno for damaged data; system errors have an errno
            if error.errno is not None:
                raise
            raise EOFError("damaged") from error
        buffer[: len(data)] = data
        return len(data)


class _Counted(_Plain):
    """A stream that counts the unpacked bytes against the bounds."""

    def __init__(self, source: Any, bounds: Bounds) -> None:
        super().__init__(source)
        self._bounds = bounds

    def readinto(self, buffer: Any) -> int:
        size = super().readinto(buffer)
        self._bounds.take(size)
        return size


class _Opening:
    """A file in a zip, opened at its first read: an unread file costs nothing, and a fault concerns only that file."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        self._archive, self._info = archive, info
        self._file: IO[bytes] | None = None

    def read1(self, size: int) -> bytes:
        if self._file is None:
            try:
                self._file = self._archive.open(self._info)
            except ValueError as error:  # a damaged entry, as for the list of files
                raise EOFError("damaged") from error
        data: bytes = self._file.read1(size)  # type: ignore[attr-defined]
        return data


class _Careful:
    """A file that refuses what only a damaged archive asks of it, such as to read more than a list of files may be."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if size > MAX_DIRECTORY_BYTES:
            raise SourceFault("The archive holds too many files.")
        data: bytes = self._file.read(size)
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """A damaged list of files may name a place before the start: not a fault of the disk, as the system has it."""
        if whence == io.SEEK_SET and offset < 0:
            raise ValueError("before the start")
        place: int = self._file.seek(offset, whence)
        return place

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
