"""Every statement about files. Who may read one stands in the ``where``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from svc.principal import Principal
from svc.store import Invariant, ReadTx, Tx


@dataclass(frozen=True, kw_only=True)
class File:
    id: str
    sha256: str
    name: str
    mime: str
    size: int


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


def readable_file(tx: ReadTx, principal: Principal, *, file_id: str) -> File | None:
    """The file, if the caller may read it."""
    row = tx.one(
        "select id, sha256, name, mime, size from files where id = :id and (:everything or owner_id = :user_id)",
        id=file_id,
        everything=int(principal.sees_everything),
        user_id=principal.user_id,
    )
    if row is None:
        return None
    return File(
        id=cast(str, row[0]),
        sha256=cast(str, row[1]),
        name=cast(str, row[2]),
        mime=cast(str, row[3]),
        size=cast(int, row[4]),
    )


def _every_attachment_has_its_message(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select id from files where origin like 'mail:%'
            and substr(origin, 6) not in (select id from mail_messages) limit 20
        """
    )
    return [f"file {file_id} belongs to a message that is not there" for (file_id,) in rows]


def _blobs(tx: ReadTx) -> Iterable[str]:
    return (cast(str, sha256) for (sha256,) in tx.each("select distinct sha256 from files"))


INVARIANTS = (
    Invariant(name="every attachment belongs to a stored message", check=_every_attachment_has_its_message),
    Invariant(name="a file's blob is stored", check=_blobs, yields="blobs"),
)
