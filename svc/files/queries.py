"""Every statement that reads files, but for who may read one (``access.py``); and what must always hold of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import islice
from typing import Final, cast

from svc.files.access import OWN, file_of, who
from svc.files.model import Cursor, File
from svc.pages import files_on_readable_pages
from svc.principal import Principal
from svc.store import Invariant, ReadTx, Value, json_array

MAX_LOOKED_THROUGH: Final = 5_000
"""Own uploads that a search by name looks through, the newest first, and as many files on pages. Beyond: older ones are
not found."""
MAX_FOUND: Final = 20
"""Files that a search by name may ask for. Beyond: 400 `invalid`, with the name of the field."""
MAX_WORDS: Final = 8
"""Words of a search by name. Beyond: further ones are ignored."""


def uploads(tx: ReadTx, principal: Principal, *, cursor: Cursor | None, limit: int) -> list[File]:
    """The caller's own uploads, newest first, from ``cursor`` on. Attachments of mails are no uploads."""
    params: dict[str, Value] = {"limit": limit}
    if not principal.sees_everything:
        params |= {"user_id": principal.user_id}
    if cursor is not None:
        params |= {"created_at": cursor.created_at, "id": cursor.id}
    sql = uploads_sql(everybodys=principal.sees_everything, onwards=cursor is not None)
    return [file_of(row) for row in tx.all(sql, **params)]


def uploads_sql(*, everybodys: bool, onwards: bool) -> str:
    """The index is named: left to itself SQLite takes all uploads by their origin and sorts them."""
    return f"""
        select id, sha256, name, mime, size, created_at
        from files indexed by {"files_uploads" if everybodys else "files_uploads_of"}
        where origin = 'upload' {"" if everybodys else "and owner_id is :user_id"}
            {"and (created_at, id) < (:created_at, :id)" if onwards else ""}
        order by created_at desc, id desc limit :limit
    """


def named(tx: ReadTx, principal: Principal, *, text: str, limit: int) -> list[File]:
    """The files with all words of ``text`` in their names: the caller's own uploads, and what the pages show that the
    caller may read; the newest first. Attachments of mails are found with their mail."""
    words = _folded(text).split()[:MAX_WORDS]
    if not words:
        return uploads(tx, principal, cursor=None, limit=limit) if not text.strip() else []
    own = uploads(tx, principal, cursor=None, limit=MAX_LOOKED_THROUGH)
    shown = _files(tx, files_on_readable_pages(tx, principal, most=MAX_LOOKED_THROUGH))
    found = {file.id: file for file in (*own, *shown) if _has_all(file.name, words)}
    newest = sorted(found.values(), key=lambda file: (-file.created_at, file.id))
    return list(islice(newest, limit))


def _has_all(name: str, words: list[str]) -> bool:
    folded = _folded(name)
    return all(word in folded for word in words)


def _folded(text: str) -> str:
    """Without case and marks."""
    if text.isascii():
        return text.lower()
    return "".join(one for one in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(one))


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
    """What belongs to one record of a feature, by id."""
    rows = tx.all(
        "select id, sha256, name, mime, size, created_at from files where origin = :origin order by id", origin=origin
    )
    return [file_of(row) for row in rows]


def own_file_origin(tx: ReadTx, principal: Principal, *, file_id: str) -> tuple[str, str | None] | None:
    """Origin and owner of a file that is the caller's."""
    row = tx.one(
        f"select origin, owner_id from files f where f.id = :id and {OWN}",
        id=file_id,
        **who(principal),
    )
    return None if row is None else (cast(str, row[0]), cast("str | None", row[1]))


def _blobs(tx: ReadTx) -> Iterable[str]:
    return (cast(str, sha256) for (sha256,) in tx.each("select distinct sha256 from files"))


INVARIANTS = (Invariant(name="a file's blob is stored", check=_blobs, yields="blobs"),)
