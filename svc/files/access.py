"""Who may read a file: its owner, and whoever may read a page that shows it. The one rule for files and blobs.

While an instance is unclaimed, what belongs to nobody is everybody's. A blob is readable where some file with its hash
is: whoever merely knows a hash, or uploads bytes that others have too, gets nothing of theirs.

What is somebody else's is looked up by the same statements as what never was, so that time tells no more than words do.
"""

from __future__ import annotations

from typing import Final, cast

from svc.files.model import File
from svc.pages import file_is_readable_through_a_page, first_file_readable_through_a_page
from svc.principal import Principal
from svc.store import ReadTx, Row, Value

_FILE: Final = "f.id, f.sha256, f.name, f.mime, f.size, f.created_at"

OWN: Final = "(:everything or f.owner_id is :user_id)"
"""A condition on a row ``f`` of ``files``: it is the caller's. Who has no user yet owns what belongs to nobody."""


def who(principal: Principal) -> dict[str, Value]:
    """The parameters of :data:`OWN`."""
    return {"everything": int(principal.sees_everything), "user_id": principal.user_id}


def readable_file(tx: ReadTx, principal: Principal, *, file_id: str) -> File | None:
    """The file, if the caller may read it."""
    row = tx.one(f"select {_FILE} from files f where f.id = :id and {OWN}", id=file_id, **who(principal))
    if row is not None:
        return file_of(row)
    return _file(tx, file_id) if file_is_readable_through_a_page(tx, principal, file_id) else None


def readable_file_with_content(tx: ReadTx, principal: Principal, *, sha256: str) -> File | None:
    """Some readable file with that content: the caller's oldest one, else one on a page."""
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
    return None if file_id is None else _file(tx, file_id)


def _file(tx: ReadTx, file_id: str) -> File | None:
    """Whoever may read it. A page keeps the id of a file that was deleted."""
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
