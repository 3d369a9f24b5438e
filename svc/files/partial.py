"""The records of uploads in several calls: their owner, and how many of their bytes are durable.

The states: begun; ``stored`` grows as bytes come; sealed, with all bytes and their hash; complete, a file. A sealed
upload becomes a file by itself, even after a crash. Owns every statement about ``partial_uploads``, except for the
claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from svc.clock import DAY_MS
from svc.errors import NotFound, Refusal
from svc.files.access import OWN, who
from svc.files.actions import add_upload
from svc.ids import new_id
from svc.principal import Principal
from svc.store import BlobRef, ReadTx, Row, Tx, json_array

KEEP_MS: Final = 2 * DAY_MS
"""Time in which nothing of an upload arrives. Beyond: it is removed, and 404 `not_found`."""
MAX_UNFINISHED: Final = 100
"""Unfinished uploads of one person. Beyond: 429 `rate_limited`; ending one makes room."""
TRY_AGAIN_S: Final = 60
REMOVED_AT_ONCE: Final = 200

_UPLOAD: Final = "f.id, f.owner_id, f.length, f.stored, f.name, f.mime, f.metadata, f.sha256, f.file_id, f.changed_at"


@dataclass(frozen=True, kw_only=True)
class PartialUpload:
    """``stored``: bytes that are durable; fewer than ``length`` until it is a file."""

    id: str
    owner_id: str | None
    length: int
    stored: int
    name: str
    mime: str
    metadata: str
    sha256: str | None
    file_id: str | None
    changed_at: int

    @property
    def expires_at(self) -> int:
        return self.changed_at + KEEP_MS


def begin(tx: Tx, principal: Principal, *, length: int, name: str, mime: str, metadata: str) -> PartialUpload:
    """Begin an upload of the caller's. Raises ``rate_limited`` where they have too many unfinished ones."""
    count = tx.value(
        f"select count(*) from (select 1 from partial_uploads f where f.file_id is null and {OWN} limit :most)",
        most=MAX_UNFINISHED,
        **who(principal),
    )
    if count == MAX_UNFINISHED:
        raise Refusal(
            f"You have {MAX_UNFINISHED} uploads that have not ended. End some, or wait.",
            code="rate_limited",
            headers={"retry-after": str(TRY_AGAIN_S)},
        )
    upload = PartialUpload(
        id=new_id("upl"),
        owner_id=principal.user_id,
        length=length,
        stored=0,
        name=name,
        mime=mime,
        metadata=metadata,
        sha256=None,
        file_id=None,
        changed_at=tx.now,
    )
    tx.run(
        """
        insert into partial_uploads (id, owner_id, length, stored, name, mime, metadata, created_at, changed_at)
        values (:id, :owner_id, :length, 0, :name, :mime, :metadata, :now, :now)
        """,
        id=upload.id,
        owner_id=upload.owner_id,
        length=length,
        name=name,
        mime=mime,
        metadata=metadata,
        now=tx.now,
    )
    return upload


def own(tx: ReadTx, principal: Principal, *, upload_id: str) -> PartialUpload | None:
    """The caller's upload, unless it has expired."""
    row = tx.one(
        f"select {_UPLOAD} from partial_uploads f where f.id = :id and f.changed_at > :oldest and {OWN}",
        id=upload_id,
        oldest=tx.now - KEEP_MS,
        **who(principal),
    )
    return None if row is None else _upload(row)


def keep(tx: Tx, upload_id: str, *, stored: int) -> None:
    """Record how many of its bytes are durable."""
    tx.run(
        "update partial_uploads set stored = :stored, changed_at = :now where id = :id and sha256 is null",
        id=upload_id,
        stored=stored,
        now=tx.now,
    )


def seal(tx: Tx, upload_id: str, *, sha256: str) -> None:
    """Record that all its bytes are here. From now on it becomes a file in any case."""
    tx.run(
        "update partial_uploads set sha256 = :sha256, changed_at = :now where id = :id",
        id=upload_id,
        sha256=sha256,
        now=tx.now,
    )


def complete(tx: Tx, principal: Principal, *, upload_id: str) -> PartialUpload:
    """Record the file, once its blob is durable. The owner may have changed since the begin, by the claim."""
    upload = _one(tx, upload_id)
    if upload.file_id is not None:
        return upload
    blob = BlobRef(cast(str, upload.sha256), upload.length)
    file = add_upload(tx, principal, blob=blob, name=upload.name, mime=upload.mime, owner_id=upload.owner_id)
    tx.run(
        "update partial_uploads set file_id = :file_id, stored = length, changed_at = :now where id = :id",
        id=upload_id,
        file_id=file.id,
        now=tx.now,
    )
    return _one(tx, upload_id)


def remove(tx: Tx, principal: Principal, *, upload_id: str) -> None:
    """Remove the upload. If it is already a file, the file stays."""
    tx.run(f"delete from partial_uploads as f where f.id = :id and {OWN}", id=upload_id, **who(principal))


def remove_old(tx: Tx, *, but: Sequence[str]) -> list[str]:
    """Remove some expired uploads, ``but`` these, which are in use. Returns their ids."""
    rows = tx.all(
        """
        select id from partial_uploads
        where changed_at <= :oldest and id not in (select value from json_each(:but)) order by changed_at limit :limit
        """,
        oldest=tx.now - KEEP_MS,
        but=json_array(but),
        limit=REMOVED_AT_ONCE,
    )
    ids = [cast(str, upload_id) for (upload_id,) in rows]
    tx.run("delete from partial_uploads where id in (select value from json_each(:ids))", ids=json_array(ids))
    return ids


def sealed(tx: ReadTx) -> list[PartialUpload]:
    """Sealed uploads that a crash kept from becoming files."""
    rows = tx.all(f"select {_UPLOAD} from partial_uploads f where f.file_id is null and f.sha256 is not null")
    return [_upload(row) for row in rows]


def with_parts(tx: ReadTx, names: Sequence[str]) -> set[str]:
    """Those of ``names`` that are uploads and still need their parts."""
    rows = tx.all(
        "select id from partial_uploads where file_id is null and id in (select value from json_each(:names))",
        names=json_array(names),
    )
    return {cast(str, upload_id) for (upload_id,) in rows}


def _one(tx: ReadTx, upload_id: str) -> PartialUpload:
    row = tx.one(f"select {_UPLOAD} from partial_uploads f where f.id = :id", id=upload_id)
    if row is None:
        raise NotFound
    return _upload(row)


def _upload(row: Row) -> PartialUpload:
    return PartialUpload(
        id=cast(str, row[0]),
        owner_id=cast("str | None", row[1]),
        length=cast(int, row[2]),
        stored=cast(int, row[3]),
        name=cast(str, row[4]),
        mime=cast(str, row[5]),
        metadata=cast(str, row[6]),
        sha256=cast("str | None", row[7]),
        file_id=cast("str | None", row[8]),
        changed_at=cast(int, row[9]),
    )
