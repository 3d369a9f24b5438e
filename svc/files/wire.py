"""The records of ``files.*`` and of an upload as they go over the wire."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Final

import msgspec

from svc.clock import rfc3339
from svc.errors import Invalid
from svc.files.model import Cursor, File
from svc.files.queries import MAX_FOUND
from svc.protocol import Wire

MAX_LIST_LIMIT: Final = 200
"""Files of one page of a list. Beyond: 400 `invalid`, with the name of the field."""
MAX_TYPED_CHARS: Final = 500
"""What is typed into a search by name. Beyond: 400 `invalid`, with the name of the field."""
_MAX_INSTANT: Final = 2**63

Id = Annotated[str, msgspec.Meta(max_length=100)]


class ListInput(Wire, frozen=True):
    cursor: Annotated[str, msgspec.Meta(max_length=300)] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIST_LIMIT)] = 50


class FindInput(Wire, frozen=True):
    """``text``: words of the name, whole or in part; without any, the newest."""

    text: Annotated[str, msgspec.Meta(max_length=MAX_TYPED_CHARS)] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_FOUND)] = 5


class DeleteInput(Wire, frozen=True):
    id: Id


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


class FilesOut(Wire, frozen=True):
    files: tuple[FileOut, ...]
    next_cursor: str | None


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


def encode_cursor(file: File) -> str:
    return base64.urlsafe_b64encode(f"{file.created_at}:{file.id}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> Cursor | None:
    """Raises :class:`Invalid` for anything that this server did not hand out."""
    if cursor is None:
        return None
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        instant, _, file_id = text.partition(":")
        created_at = int(instant)
    except (ValueError, binascii.Error) as error:
        raise Invalid("The cursor is not one that this server gave.") from error
    if not 0 <= created_at < _MAX_INSTANT:
        raise Invalid("The cursor is not one that this server gave.")
    return Cursor(created_at=created_at, id=file_id)
