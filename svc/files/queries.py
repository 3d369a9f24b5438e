"""Every statement that reads files, but for who may read one (``access.py``); and what must always hold of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from svc.files.access import OWN, file_of, who
from svc.files.model import Cursor, File
from svc.principal import Principal
from svc.store import Invariant, ReadTx, Value


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
