"""The sources of an import: an mbox, a mail, a Maildir, the mails of Apple Mail, a folder of these, and each of them in
a zip or tar archive.

Reading blocks, so it runs in a thread. No file is ever written under a name from an archive, and no link is followed,
so a name can only become a label. The unpacked size of an archive is bounded by its own size, and each mail has its own
limit.
"""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Final, Literal, cast

from svc.formats.mailbox import MAX_MAIL_BYTES, Mail, Marks, TooLong, emlx, is_mbox, mails, read_marks, takeout
from svc.formats.mailbox.maildir import flags_of, folder_of, in_folder, with_flags
from svc.mail.porting.archives import Bounds, SourceFault, tar_members, zip_members

Format = Literal["auto", "mbox", "eml", "maildir"]

PEEKED_BYTES: Final = 2_048
_BELOW: Final = ".sbd"
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_ARCHIVES: Final = frozenset({".zip", ".tgz", ".gz"})
"""The names of archives among other files: the documents of many programs begin as a zip does."""
_DAMAGED: Final = (EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError)


@dataclass(frozen=True, kw_only=True)
class Item:
    """One mail of a source: its own bytes, its labels and flags in that mailbox, and its time of arrival if known."""

    raw: bytes
    marks: Marks
    at: int | None


@dataclass(frozen=True, kw_only=True)
class Skipped:
    """An item that can't be imported. ``reason`` is a text for a person."""

    reason: str


Found = Item | Skipped


@dataclass(kw_only=True)
class Source:
    """The items, in an order that is the same each time. ``done`` of ``total``: the progress, in bytes or in files."""

    items: Iterator[Found]
    total: int = 0
    _file: IO[bytes] | None = None
    _walked: list[int] = field(default_factory=lambda: [0])

    @property
    def done(self) -> int:
        if self._file is not None:
            with suppress(OSError, ValueError):
                return min(self._file.tell(), self.total)
            return 0
        return self._walked[0]


@contextmanager
def open_source(path: Path, *, format: Format = "auto") -> Iterator[Source]:
    """Opens a file or a folder. Raises :class:`SourceFault` with a sentence for a person if it can't be read."""
    if path.is_dir():
        files = _files_of(path)
        walked = [0]
        yield Source(
            items=_told_in_words(_folder(path, files, walked, format), format), total=len(files), _walked=walked
        )
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise SourceFault(f"{path} can’t be read: {error.strerror or error}.") from error
    with file:
        yield open_file(file, name=path.name, format=format)


def open_file(file: IO[bytes], *, name: str, format: Format = "auto") -> Source:
    """A source from an open file of any supported content. A pipe can't be read as a zip, which needs seeking."""
    total = 0
    if file.seekable():
        total = file.seek(0, os.SEEK_END)
        file.seek(0)
    items = _file(file, name=name, format=format, total=total)
    return Source(items=_told_in_words(items, format), total=total, _file=file if total else None)


def _told_in_words(items: Iterator[Found], format: Format) -> Iterator[Found]:
    """Where the caller names the format, a mailbox without mail is one."""
    is_empty = True
    try:
        for one in items:
            is_empty = False
            yield one
    except _DAMAGED as error:
        raise SourceFault("The archive is damaged, or is cut off.") from error
    if is_empty and format == "auto":
        raise SourceFault("There is no mail in it.")


def _file(file: IO[bytes], *, name: str, format: Format, total: int) -> Iterator[Found]:
    head = _peek(file)
    if head.startswith(_ZIP) and file.seekable():
        yield from _members(zip_members(file, bounds=Bounds.of(total)), format)
    elif head.startswith(_GZIP):
        yield from _members(tar_members(file, name=name, bounds=Bounds.of(total)), format)
    elif format == "maildir":
        raise SourceFault("A Maildir is a folder, or an archive of one.")
    elif format == "mbox" or (format == "auto" and is_mbox(head)):
        yield from _mbox(file, folder=_known_folder(PurePosixPath(name).stem))
    elif PurePosixPath(name).suffix.lower() == emlx.SUFFIX and format in {"auto", "eml"}:
        yield _apples(file, PurePosixPath(name))
    elif format == "eml" or _looks_like_mail(head):
        yield _single(file, what=name)
    else:
        raise SourceFault("This is no mailbox: an mbox, a mail (.eml), a Maildir, or a zip or .tgz of such.")


def _members(members: Iterator[tuple[str, IO[bytes]]], format: Format) -> Iterator[Found]:
    """The mails among an archive's files. Other files are ignored without a message."""
    for name, member in members:
        try:
            yield from _member(PurePosixPath(name), member, format)
        except (*_DAMAGED, RuntimeError):
            yield Skipped(reason=f"{_shown(name)} can’t be unpacked: it is damaged, or locked with a password.")


def _member(path: PurePosixPath, file: IO[bytes], format: Format) -> Iterator[Found]:
    if path.name.startswith("._"):  # a Mac puts such a file beside each file, with what its file system knows of it
        yield Skipped(reason="")
        return
    if _is_archive(path, file):
        yield Skipped(reason=f"{_shown(path.name)} is an archive in an archive: unpack it first.")
        return
    folder = folder_of(path)
    if folder is not None and format in {"auto", "maildir"}:
        yield _maildir_mail(file, folder=folder, name=path.name, is_new=path.parts[-2] == "new")
    elif path.suffix.lower() == emlx.SUFFIX and format in {"auto", "eml"}:
        yield _apples(file, path)
    elif path.suffix.lower() == ".eml" and format in {"auto", "eml"}:
        yield _single(file, what=path.name)
    elif format in {"auto", "mbox"}:
        head = _peek(file)
        if is_mbox(head) or (format == "mbox" and head):
            yield from _mbox(file, folder=_folder_named(path))


def _folder(root: Path, files: list[str], walked: list[int], format: Format) -> Iterator[Found]:
    for name in files:
        walked[0] += 1
        try:
            descriptor = os.open(root / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    yield from _in_folder(PurePosixPath(root.name, name), file, format)
        except OSError as error:
            yield Skipped(reason=f"{_shown(name)} can’t be read: {error.strerror or error}.")


def _in_folder(path: PurePosixPath, file: IO[bytes], format: Format) -> Iterator[Found]:
    """The mails of a file in a folder, which may be an archive: Takeout comes in several, and some servers pack each
    mail of a Maildir."""
    if not _is_archive(path, file):
        yield from _member(path, file, format)
        return
    bounds = Bounds.of(os.fstat(file.fileno()).st_size)
    is_zip = _peek(file).startswith(_ZIP)
    try:
        members = zip_members(file, bounds=bounds) if is_zip else tar_members(file, name=str(path), bounds=bounds)
        yield from _members(members, format)
    except (SourceFault, *_DAMAGED) as fault:
        why = str(fault) if isinstance(fault, SourceFault) else "The archive is damaged, or is cut off."
        yield Skipped(reason=f"{_shown(path.name)}: {why}")


def _is_archive(path: PurePosixPath, file: IO[bytes]) -> bool:
    may_be = path.suffix.lower() in _ARCHIVES or folder_of(path) is not None
    return may_be and _peek(file).startswith((*_ZIP, _GZIP))


def _files_of(root: Path) -> list[str]:
    """All files below a folder, in order; links are not followed."""
    found = []
    for folder, folders, names in os.walk(root):
        folders.sort()
        below = os.path.relpath(folder, root)
        found += [os.path.normpath(os.path.join(below, name)) for name in sorted(names)]
    return found


def _mbox(file: IO[bytes], *, folder: str) -> Iterator[Found]:
    for mail in mails(file):
        if isinstance(mail, TooLong):
            yield _too_long(mail.size)
        else:
            yield _item(mail, folder=folder)


def _single(file: IO[bytes], *, what: str) -> Found:
    raw = file.read(MAX_MAIL_BYTES + 1)
    if len(raw) > MAX_MAIL_BYTES:
        return Skipped(reason=f"{_shown(what)} has more than {MAX_MAIL_BYTES // 2**20} MB.")
    return _item(Mail(raw, None), folder="")


def _apples(file: IO[bytes], path: PurePosixPath) -> Found:
    data = file.read(MAX_MAIL_BYTES + emlx.MAX_AROUND_BYTES)
    read = emlx.read(data)
    if read is None:
        return Skipped(reason=f"{_shown(path.name)} is damaged, or has more than {MAX_MAIL_BYTES // 2**20} MB.")
    raw, marks = read
    if marks.is_deleted:
        return Skipped(reason="")
    return Item(raw=raw, marks=in_folder(marks, emlx.folder_of(path)), at=None)


def _maildir_mail(file: IO[bytes], *, folder: str, name: str, is_new: bool) -> Found:
    raw = file.read(MAX_MAIL_BYTES + 1)
    if len(raw) > MAX_MAIL_BYTES:
        return Skipped(reason=f"{_shown(name)} has more than {MAX_MAIL_BYTES // 2**20} MB.")
    second = name.partition(".")[0]
    at = int(second) * 1_000 if second.isascii() and second.isdigit() and len(second) <= 11 else None
    return _item(Mail(raw, at), folder=folder, flags=flags_of(name), is_new=is_new, in_maildir=True)


def _item(
    mail: Mail,
    *,
    folder: str,
    flags: frozenset[str] | None = None,
    is_new: bool = False,
    in_maildir: bool = False,
) -> Found:
    marks, raw = read_marks(mail.raw)
    if marks.is_deleted:
        return Skipped(reason="")
    if in_maildir:
        marks = with_flags(marks, flags, is_new=is_new)
    if not raw.strip():
        return Skipped(reason="An empty mail.")
    return Item(raw=raw, marks=in_folder(marks, folder), at=mail.at)


def _known_folder(name: str) -> str:
    """The name of a single file, if it is a well-known folder name; otherwise empty."""
    return name if takeout.label_of(name) else ""


def _folder_named(path: PurePosixPath) -> str:
    """The folder that an mbox file is named after: ``Work.mbox``, or Apple's ``Work.mbox/mbox``. Thunderbird's
    ``Work.sbd/2024`` is ``Work/2024``."""
    named = path.parent if path.name == "mbox" and path.parent.name else path
    name = named.stem if named.suffix.lower() == ".mbox" else named.name
    above = [part[: -len(_BELOW)] for part in named.parts[:-1] if part.lower().endswith(_BELOW)]
    return "/".join([*above, name])


def _too_long(size: int) -> Skipped:
    return Skipped(reason=f"A mail of {size // 2**20} MB: at most {MAX_MAIL_BYTES // 2**20} MB are taken.")


def _peek(file: IO[bytes]) -> bytes:
    if hasattr(file, "peek"):
        return cast(bytes, file.peek(PEEKED_BYTES))[:PEEKED_BYTES]
    head = file.read(PEEKED_BYTES)
    file.seek(0)
    return head


def _looks_like_mail(head: bytes) -> bool:
    """Whether it begins with a header field."""
    name, colon, _ = head.partition(b"\n")[0].partition(b":")
    return bool(colon) and 0 < len(name) <= 100 and all(33 <= byte <= 126 for byte in name.rstrip())


def _shown(name: str) -> str:
    return "".join(one if one.isprintable() else "\ufffd" for one in name)[-120:]


__all__ = ["Format", "Found", "Item", "Skipped", "Source", "SourceFault", "open_file", "open_source"]
