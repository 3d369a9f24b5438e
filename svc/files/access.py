"""Who may read a file: its owner, every reader of a page that shows it, and every reader of the record it belongs to,
as the feature of that record decides (``file_readers``). The one rule for files and blobs.

While an instance is unclaimed, everybody may read what has no owner. A blob is readable if the caller may read some
file with its hash: a caller who only knows a hash, or uploads the same bytes as others, gets nothing of theirs.

Others' files are looked up by the same statements as missing ones, so that the time reveals no more than the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, cast

from svc.file_reader import FileReader
from svc.files.model import File
from svc.pages import file_is_readable_through_a_page, first_file_readable_through_a_page
from svc.principal import Principal
from svc.store import ReadTx, Row, Value

_FILE: Final = "f.id, f.sha256, f.name, f.mime, f.size, f.created_at"

OWN: Final = "(:everything or f.owner_id is :user_id)"
"""A condition on a row ``f`` of ``files``: it is the caller's. A caller without a user owns what has no owner."""


def who(principal: Principal) -> dict[str, Value]:
    """The parameters of :data:`OWN`."""
    return {"everything": int(principal.sees_everything), "user_id": principal.user_id}


def readable_file(tx: ReadTx, principal: Principal, *, file_id: str, readers: Sequence[FileReader] = ()) -> File | None:
    """The file, if the caller may read it."""
    row = tx.one(f"select {_FILE} from files f where f.id = :id and {OWN}", id=file_id, **who(principal))
    if row is not None:
        return file_of(row)
    if file_is_readable_through_a_page(tx, principal, file_id):
        return _file(tx, file_id)
    return _through_a_record(tx, principal, readers, by="id", value=file_id)


def readable_file_with_content(
    tx: ReadTx, principal: Principal, *, sha256: str, readers: Sequence[FileReader] = ()
) -> File | None:
    """A readable file with that content: the caller's oldest one, else one on a page, else one of a record."""
    row = tx.one(
        f"select {_FILE} from files f where f.sha256 = :sha256 and {OWN} order by f.created_at, f.id limit 1",
        sha256=sha256,
        **who(principal),
    )
    if row is not None:
        return file_of(row)
    on_pages = tx.all(
        """
        select f.id from files f
        where f.sha256 = :sha256 and f.id in (select file_id from page_files) order by f.created_at, f.id
        """,
        sha256=sha256,
    )
    file_id = first_file_readable_through_a_page(tx, principal, [cast(str, shown_id) for (shown_id,) in on_pages])
    if file_id is not None:
        return _file(tx, file_id)
    return _through_a_record(tx, principal, readers, by="sha256", value=sha256)


def _through_a_record(
    tx: ReadTx, principal: Principal, readers: Sequence[FileReader], *, by: Literal["id", "sha256"], value: str
) -> File | None:
    found = [reader(tx, principal, by=by, value=value) for reader in readers]
    file_id = next((one for one in found if one is not None), None)
    return None if file_id is None else _file(tx, file_id)


def _file(tx: ReadTx, file_id: str) -> File | None:
    """The file, without a check of access. ``None`` is possible: a page keeps the id of a deleted file."""
    row = tx.one(f"select {_FILE} from files f where f.id = :id", id=file_id)
    return None if row is None else file_of(row)


def file_of(row: Row) -> File:
    return File(
        id=cast(str, row[0]),
        sha256=cast(str, row[1]),
        name=cast(str, row[2]),
        mime=cast(str, row[3]),
        size=cast(int, row[4]),
        created_at=cast(int, row[5]),
    )
