"""What a principal may do with files: add one whose blob is durable, delete one of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.errors import Conflict, NotFound
from svc.files import queries
from svc.files.model import FILES_TOPIC, UPLOAD, File
from svc.ids import new_id
from svc.principal import Principal
from svc.store import BlobRef, Tx

MISSING: Final = "There is no such file."


def add_file(
    tx: Tx, *, id: str, owner_id: str | None, sha256: str, name: str, mime: str, size: int, origin: str
) -> None:
    """Record a file whose blob is already durable. The same id again changes nothing."""
    tx.run(
        """
        insert into files (id, owner_id, sha256, name, mime, size, origin, created_at)
        values (:id, :owner_id, :sha256, :name, :mime, :size, :origin, :now) on conflict do nothing
        """,
        id=id,
        owner_id=owner_id,
        sha256=sha256,
        name=name,
        mime=mime,
        size=size,
        origin=origin,
        now=tx.now,
    )


def add_upload(tx: Tx, principal: Principal, *, blob: BlobRef, name: str, mime: str) -> File:
    """A new file of the caller's. Two uploads of the same bytes are two files."""
    file = File(id=new_id("fil"), sha256=blob.sha256, name=name, mime=mime, size=blob.size, created_at=tx.now)
    owner_id = principal.user_id or _first_admin(tx)
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


def delete(tx: Tx, principal: Principal, *, file_id: str) -> None:
    """Delete an upload of the caller's. Its content goes later, once nothing names it."""
    found = queries.own_file_origin(tx, principal, file_id=file_id)
    if found is None:
        raise NotFound(MISSING)
    origin, owner_id = found
    if origin != UPLOAD:
        raise Conflict("This file is part of a mail and stays with it.")
    tx.run("delete from files where id = :id", id=file_id)
    _tell(tx, principal, kind="file.removed", id=file_id, audience=owner_id)


def restate_file(tx: Tx, *, id: str, sha256: str, size: int) -> None:
    """The content that a record's file stands for was made anew, and differs. Not for uploads."""
    tx.run("update files set sha256 = :sha256, size = :size where id = :id", id=id, sha256=sha256, size=size)


def hand_over_files(tx: Tx, *, origin: str, to: str) -> None:
    """What belonged to one record belongs to another now; the files keep their ids."""
    tx.run("update files set origin = :to where origin = :origin", origin=origin, to=to)


def delete_files(tx: Tx, *, origin: str, but: Sequence[str] = ()) -> None:
    """Delete what belongs to a record that is gone, or all of it ``but`` these. Not for uploads."""
    for file in queries.files_of(tx, origin=origin):
        if file.id not in but:
            tx.run("delete from files where id = :id", id=file.id)


def claim(tx: Tx, user_id: str) -> None:
    """What belonged to nobody becomes the first admin's."""
    tx.run("update files set owner_id = :user_id where owner_id is null", user_id=user_id)


def _first_admin(tx: Tx) -> str | None:
    """Whose the things of nobody are: an upload may be on its way while the instance is claimed."""
    found: str | None = tx.value("select id from users where role = 'admin' order by created_at, id limit 1")
    return found


def _tell(tx: Tx, principal: Principal, *, kind: str, id: str, audience: str | None) -> None:
    tx.emit(topic=FILES_TOPIC, kind=kind, id=id, audience=audience, device_id=principal.device_id)
