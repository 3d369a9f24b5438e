"""The wire types of ``files.*`` and of an upload."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Final

import msgspec

from svc.clock import rfc3339
from svc.errors import Invalid
from svc.files.kinds import Kind, kind_of
from svc.files.listing import Attached, Sort, Taken, Uses
from svc.files.model import Cursor, File
from svc.files.queries import MAX_FOUND
from svc.protocol import Wire

MAX_LIST_LIMIT: Final = 200
"""Files of one page of a list. Beyond: 400 `invalid`, with the name of the field."""
MAX_TYPED_CHARS: Final = 500
"""The text of a search by name. Beyond: 400 `invalid`, with the name of the field."""
MAX_CURSOR_CHARS: Final = 1_000
"""A cursor of a list. Beyond: 400 `invalid`, with the name of the field."""
MAX_KINDS: Final = 11
"""Kinds of files that a list is for. Beyond: 400 `invalid`, with the name of the field."""

Id = Annotated[str, msgspec.Meta(max_length=100)]


class ListInput(Wire, frozen=True):
    """``text``: words of the name, whole or in part. ``kinds``: any of them; empty for all."""

    cursor: Annotated[str, msgspec.Meta(max_length=MAX_CURSOR_CHARS)] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIST_LIMIT)] = 50
    text: Annotated[str, msgspec.Meta(max_length=MAX_TYPED_CHARS)] = ""
    sort: Sort = "newest"
    kinds: Annotated[tuple[Kind, ...], msgspec.Meta(max_length=MAX_KINDS)] = ()


class FindInput(Wire, frozen=True):
    """``text``: words of the name, whole or in part; without any, the newest."""

    text: Annotated[str, msgspec.Meta(max_length=MAX_TYPED_CHARS)] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_FOUND)] = 5


class OneInput(Wire, frozen=True):
    id: Id


class RenameInput(Wire, frozen=True):
    id: Id
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TYPED_CHARS)]


class UploadedOut(Wire, frozen=True):
    id: str
    sha256: str
    name: str
    mime: str
    size: int


class FileOut(Wire, frozen=True):
    id: str
    sha256: str
    name: str
    mime: str
    size: int
    created_at: str


class ShownOnOut(Wire, frozen=True):
    path: str
    title: str


class ListedOut(FileOut, frozen=True):
    """``pages``: the first few pages that show it and that the caller may read; ``attached``: which of the caller's
    mail has its content attached."""

    kind: Kind
    pages: tuple[ShownOnOut, ...]
    attached: tuple[Attached, ...]


class FilesOut(Wire, frozen=True):
    files: tuple[ListedOut, ...]
    next_cursor: str | None


class TakenOut(Wire, frozen=True):
    files: int
    bytes: int


class StorageOut(Wire, frozen=True):
    """``mine``: the caller's uploads. ``all``: every file of all users, each content once; only for admins. ``free``:
    on the disk; null where it is unknown. ``largest``: the maximum size of one upload."""

    mine: TakenOut
    all: TakenOut | None
    free: int | None
    largest: int


def uploaded(file: File) -> UploadedOut:
    return UploadedOut(id=file.id, sha256=file.sha256, name=file.name, mime=file.mime, size=file.size)


def file_out(file: File) -> FileOut:
    return FileOut(
        id=file.id,
        sha256=file.sha256,
        name=file.name,
        mime=file.mime,
        size=file.size,
        created_at=rfc3339(file.created_at),
    )


def listed_out(file: File, uses: Uses) -> ListedOut:
    return ListedOut(
        id=file.id,
        sha256=file.sha256,
        name=file.name,
        mime=file.mime,
        size=file.size,
        created_at=rfc3339(file.created_at),
        kind=kind_of(file.mime, file.name),
        pages=tuple(ShownOnOut(path=path, title=title) for path, title in uses.pages),
        attached=uses.attached,
    )


def taken_out(taken: Taken) -> TakenOut:
    return TakenOut(files=taken.files, bytes=taken.bytes)


def encode_cursor(cursor: Cursor) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode([cursor.sort, cursor.value, cursor.id])).decode().rstrip("=")


def decode_cursor(cursor: str | None, *, sort: Sort) -> Cursor | None:
    """The cursor of a request. Raises :class:`Invalid` for one that this server did not make, or for another order."""
    if cursor is None:
        return None
    try:
        kept, value, file_id = _decode(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error, msgspec.DecodeError) as error:
        raise Invalid("The cursor is not one that this server gave.") from error
    if kept != sort or isinstance(value, str) != (sort == "name"):
        raise Invalid("The cursor is not one that this server gave for this order.")
    return Cursor(sort=sort, value=value, id=file_id)


_decode = msgspec.json.Decoder(tuple[Sort, Annotated[int, msgspec.Meta(ge=0)] | str, str]).decode
