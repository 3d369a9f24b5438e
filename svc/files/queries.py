"""Statements that read files, except for access (``access.py``) and the list of uploads (``listing.py``); and the
invariants of files.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final, cast

from svc.files.access import OWN, file_of, who
from svc.files.listing import MAX_LOOKED_THROUGH, Wanted, has_all, listed, words_of
from svc.files.model import File
from svc.pages import files_on_readable_pages
from svc.principal import Principal
from svc.store import Invariant, ReadTx, json_array

MAX_FOUND: Final = 20
"""Files that a search by name may ask for. Beyond: 400 `invalid`, with the name of the field."""


def named(tx: ReadTx, principal: Principal, *, text: str, limit: int) -> list[File]:
    """The files with all words of ``text`` in their names, newest first: the caller's own uploads, and files on pages
    that the caller may read. Attachments of mails are found with their mail."""
    words = words_of(text)
    if not words and text.strip():
        return []
    own = listed(tx, principal, wanted=Wanted(text=text), cursor=None, limit=limit).files
    if not words:
        return list(own)
    shown = _files(tx, files_on_readable_pages(tx, principal, most=MAX_LOOKED_THROUGH))
    found = {file.id: file for file in (*own, *(file for file in shown if has_all(file.name, words)))}
    newest = sorted(found.values(), key=lambda file: (-file.created_at, file.id))
    return list(islice(newest, limit))


def _files(tx: ReadTx, file_ids: Iterable[str]) -> list[File]:
    rows = tx.all(
        """
        select id, sha256, name, mime, size, created_at from files
        where id in (select value from json_each(:ids)) and origin = 'upload'
        """,
        ids=json_array(file_ids),
    )
    return [file_of(row) for row in rows]


def files_of(tx: ReadTx, *, origin: str) -> list[File]:
    """The files of one record of a feature, by id."""
    rows = tx.all(
        "select id, sha256, name, mime, size, created_at from files where origin = :origin order by id", origin=origin
    )
    return [file_of(row) for row in rows]


def file(tx: ReadTx, file_id: str) -> File:
    """A file that must exist."""
    (found,) = tx.all("select id, sha256, name, mime, size, created_at from files where id = :id", id=file_id)
    return file_of(found)


def own_file_origin(tx: ReadTx, principal: Principal, *, file_id: str) -> tuple[str, str | None] | None:
    """Origin and owner of a file that is the caller's."""
    row = tx.one(
        f"select origin, owner_id from files f where f.id = :id and {OWN}",
        id=file_id,
        **who(principal),
    )
    return None if row is None else (cast(str, row[0]), cast("str | None", row[1]))


def _blobs(tx: ReadTx) -> Iterable[str]:
    """The blobs that files name; also of deleted files, which can be restored and need their content."""
    return (
        cast(str, sha256) for (sha256,) in tx.each("select sha256 from files union select sha256 from deleted_files")
    )


INVARIANTS = (Invariant(name="a file's blob is stored", check=_blobs, yields="blobs"),)
