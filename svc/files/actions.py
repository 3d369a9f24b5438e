"""What a principal may do with files: add one whose blob is durable; rename, delete and restore their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.clock import DAY_MS, Millis
from svc.errors import Conflict, NotFound
from svc.files import queries
from svc.files.access import OWN, who
from svc.files.model import FILES_TOPIC, UPLOAD, File
from svc.files.names import safe_name
from svc.ids import new_id
from svc.principal import Principal
from svc.store import BlobRef, Tx

MISSING: Final = "There is no such file."
RESTORABLE_MS: Final = DAY_MS
"""How long a deleted upload can be brought back. Beyond: 404 `not_found`."""


def add_file(
    tx: Tx,
    *,
    id: str,
    owner_id: str | None,
    sha256: str,
    name: str,
    mime: str,
    size: int,
    origin: str,
    created_at: Millis | None = None,
) -> None:
    """Record a file whose blob is already durable. Repeating the same id changes nothing. ``created_at``: of a file
    from another home; default is now."""
    tx.run(
        """
        insert into files (id, owner_id, sha256, name, mime, size, origin, created_at)
        values (:id, :owner_id, :sha256, :name, :mime, :size, :origin, :created_at) on conflict do nothing
        """,
        id=id,
        owner_id=owner_id,
        sha256=sha256,
        name=name,
        mime=mime,
        size=size,
        origin=origin,
        created_at=tx.now if created_at is None else created_at,
    )


def add_upload(
    tx: Tx, principal: Principal, *, blob: BlobRef, name: str, mime: str, owner_id: str | None = None
) -> File:
    """A new file of the caller's, or of ``owner_id``. Two uploads of the same bytes are two files."""
    file = File(id=new_id("fil"), sha256=blob.sha256, name=name, mime=mime, size=blob.size, created_at=tx.now)
    owner_id = owner_id or principal.user_id or _first_admin(tx)
    add_file(
        tx,
        id=file.id,
        owner_id=owner_id,
        sha256=file.sha256,
        name=name,
        mime=mime,
        size=file.size,
        origin=UPLOAD,
    )
    _tell(tx, principal, kind="file.changed", id=file.id, audience=owner_id)
    return file


def rename(tx: Tx, principal: Principal, *, file_id: str, name: str) -> File:
    """Rename an upload of the caller's; the name is made safe like any other."""
    owner_id = _own_upload(tx, principal, file_id)
    tx.run("update files set name = :name where id = :id", id=file_id, name=safe_name(name))
    _tell(tx, principal, kind="file.changed", id=file_id, audience=owner_id)
    return queries.file(tx, file_id)


def delete(tx: Tx, principal: Principal, *, file_id: str) -> None:
    """Delete an upload of the caller's. It can be restored for ``RESTORABLE_MS``; its content is deleted later, once no
    row names it."""
    owner_id = _own_upload(tx, principal, file_id)
    tx.run(
        """
        insert into deleted_files (id, owner_id, sha256, name, mime, size, created_at, deleted_at)
        select id, owner_id, sha256, name, mime, size, created_at, :now from files where id = :id
        """,
        id=file_id,
        now=tx.now,
    )
    tx.run("delete from files where id = :id", id=file_id)
    _tell(tx, principal, kind="file.removed", id=file_id, audience=owner_id)


def restore(tx: Tx, principal: Principal, *, file_id: str) -> File:
    """Restore a file that the caller deleted, under its id: pages that showed it show it again."""
    row = tx.one(
        f"select owner_id from deleted_files f where f.id = :id and f.deleted_at > :oldest and {OWN}",
        id=file_id,
        oldest=tx.now - RESTORABLE_MS,
        **who(principal),
    )
    if row is None:
        raise NotFound(MISSING)
    tx.run(
        """
        insert into files (id, owner_id, sha256, name, mime, size, origin, created_at)
        select id, owner_id, sha256, name, mime, size, :origin, created_at from deleted_files where id = :id
        """,
        id=file_id,
        origin=UPLOAD,
    )
    tx.run("delete from deleted_files where id = :id", id=file_id)
    _tell(tx, principal, kind="file.changed", id=file_id, audience=row[0])
    return queries.file(tx, file_id)


def bring_back_deleted(tx: Tx, file: File, *, owner_id: str | None, deleted_at: Millis) -> None:
    """Add a deleted file as it was in another home. Repeating the same id changes nothing."""
    tx.run(
        """
        insert into deleted_files (id, owner_id, sha256, name, mime, size, created_at, deleted_at)
        values (:id, :owner_id, :sha256, :name, :mime, :size, :created_at, :deleted_at) on conflict do nothing
        """,
        id=file.id,
        owner_id=owner_id,
        sha256=file.sha256,
        name=file.name,
        mime=file.mime,
        size=file.size,
        created_at=file.created_at,
        deleted_at=deleted_at,
    )


def forget_deleted(tx: Tx) -> int:
    """Forget the deleted files that can't be restored any more. Returns how many."""
    return tx.run("delete from deleted_files where deleted_at <= :oldest", oldest=tx.now - RESTORABLE_MS)


def _own_upload(tx: Tx, principal: Principal, file_id: str) -> str | None:
    """The owner of an upload. Raises :class:`NotFound`, or :class:`Conflict` for a file that belongs to a record."""
    found = queries.own_file_origin(tx, principal, file_id=file_id)
    if found is None:
        raise NotFound(MISSING)
    origin, owner_id = found
    if origin != UPLOAD:
        raise Conflict("This file is part of a mail and stays with it.")
    return owner_id


def restate_file(tx: Tx, *, id: str, sha256: str, size: int) -> None:
    """Set the new content of a record's file, which was generated again and differs. Not for uploads."""
    tx.run("update files set sha256 = :sha256, size = :size where id = :id", id=id, sha256=sha256, size=size)


def hand_over_files(tx: Tx, *, origin: str, to: str) -> None:
    """Move the files of one record to another; they keep their ids."""
    tx.run("update files set origin = :to where origin = :origin", origin=origin, to=to)


def delete_files(tx: Tx, *, origin: str, but: Sequence[str] = ()) -> None:
    """Delete the files of a deleted record, or all of them ``but`` these. Not for uploads."""
    for file in queries.files_of(tx, origin=origin):
        if file.id not in but:
            tx.run("delete from files where id = :id", id=file.id)


def claim(tx: Tx, user_id: str) -> None:
    """Give the first admin all files without an owner."""
    tx.run("update files set owner_id = :user_id where owner_id is null", user_id=user_id)
    tx.run("update deleted_files set owner_id = :user_id where owner_id is null", user_id=user_id)
    tx.run("update partial_uploads set owner_id = :user_id where owner_id is null", user_id=user_id)


def _first_admin(tx: Tx) -> str | None:
    """The owner for files without one: the instance may be claimed while an upload is in progress."""
    found: str | None = tx.value("select id from users where role = 'admin' order by created_at, id limit 1")
    return found


def _tell(tx: Tx, principal: Principal, *, kind: str, id: str, audience: str | None) -> None:
    tx.emit(topic=FILES_TOPIC, kind=kind, id=id, audience=audience, device_id=principal.device_id)
