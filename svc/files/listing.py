"""The list of a person's uploads, sorted as they choose and filtered by words of the names and by kind; where each is
used; and how much space all take.

A page of the list is read along an index, and files that do not match are skipped. A call that looks through more than
``MAX_LOOKED_THROUGH`` stops there and returns where to continue: so the cost of a search does not depend on the number
of files.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from svc.files.access import OWN, file_of, who
from svc.files.kinds import Kind, kind_of
from svc.files.model import Cursor, File
from svc.pages import pages_that_show
from svc.principal import Principal
from svc.store import ReadTx, Value, json_array

MAX_LOOKED_THROUGH: Final = 5_000
"""Uploads that one call of a list or of a search by name looks through. Beyond: `nextCursor` goes on behind them."""
MAX_WORDS: Final = 8
"""Words of a search by name. Beyond: further ones are ignored."""

Sort = Literal["newest", "name", "size"]
Attached = Literal["draft", "mail"]


@dataclass(frozen=True)
class _Order:
    """``key``: the column as it is compared; it and the id have the same direction. ``onwards``: the condition for rows
    after a position."""

    index: str
    key: str
    goes: Literal["asc", "desc"]
    onwards: str


_ORDERS: Final[dict[Sort, _Order]] = {
    "newest": _Order("files_uploads", "created_at", "desc", "(created_at, id) < (:value, :id)"),
    "name": _Order(
        "files_uploads_by_name",
        "name collate nocase",
        "asc",
        # SQLite does not use an index for a row value in which one column has another collation.
        "name collate nocase >= :value and (name collate nocase > :value or id > :id)",
    ),
    "size": _Order("files_uploads_by_size", "size", "desc", "(size, id) < (:value, :id)"),
}
_ORIGINS: Final[dict[str, Attached]] = {"draft:": "draft", "outgoing:": "mail", "mail:": "mail"}


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """``text``: words that must all be in the name. ``kinds``: any of them, or empty for all."""

    sort: Sort = "newest"
    text: str = ""
    kinds: tuple[Kind, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Listed:
    files: tuple[File, ...]
    next: Cursor | None


@dataclass(frozen=True, kw_only=True)
class Uses:
    """Where a file is used: pages that show it and that the caller may read (path and title), and the caller's mail
    that has it attached."""

    pages: tuple[tuple[str, str], ...] = ()
    attached: tuple[Attached, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Taken:
    files: int
    bytes: int


def listed(tx: ReadTx, principal: Principal, *, wanted: Wanted, cursor: Cursor | None, limit: int) -> Listed:
    """The caller's own uploads from ``cursor`` on. Attachments of mails are not uploads."""
    params: dict[str, Value] = {"limit": MAX_LOOKED_THROUGH}
    if not principal.sees_everything:
        params |= {"user_id": principal.user_id}
    if cursor is not None:
        params |= {"value": cursor.value, "id": cursor.id}
    words = words_of(wanted.text)
    found: list[File] = []
    passed = 0
    file: File | None = None
    sql = listed_sql(wanted.sort, everybodys=principal.sees_everything, onwards=cursor is not None)
    for row in tx.each(sql, **params):
        file = file_of(row)
        passed += 1
        if has_all(file.name, words) and (not wanted.kinds or kind_of(file.mime, file.name) in wanted.kinds):
            if len(found) == limit:
                return Listed(files=tuple(found), next=cursor_at(found[-1], wanted.sort))
            found.append(file)
    goes_on = file is not None and passed == MAX_LOOKED_THROUGH
    return Listed(files=tuple(found), next=cursor_at(file, wanted.sort) if file is not None and goes_on else None)


def listed_sql(sort: Sort, *, everybodys: bool, onwards: bool) -> str:
    """The statement of the list. It names the index, because SQLite would otherwise read all uploads by origin and sort
    them."""
    order = _ORDERS[sort]
    return f"""
        select id, sha256, name, mime, size, created_at
        from files indexed by {order.index}{"" if everybodys else "_of"}
        where origin = 'upload' {"" if everybodys else "and owner_id is :user_id"}
            {f"and {order.onwards}" if onwards else ""}
        order by {order.key} {order.goes}, id {order.goes} limit :limit
    """


def cursor_at(file: File, sort: Sort) -> Cursor:
    values: dict[Sort, int | str] = {"newest": file.created_at, "name": file.name, "size": file.size}
    return Cursor(sort=sort, value=values[sort], id=file.id)


def uses_of(tx: ReadTx, principal: Principal, files: Sequence[File]) -> dict[str, Uses]:
    """The uses by file id, of those files that are used."""
    pages = pages_that_show(tx, principal, [file.id for file in files])
    attached = _attached(tx, principal, files)
    return {
        file.id: Uses(pages=tuple(pages.get(file.id, ())), attached=attached.get(file.sha256, ()))
        for file in files
        if file.id in pages or file.sha256 in attached
    }


def _attached(tx: ReadTx, principal: Principal, files: Sequence[File]) -> dict[str, tuple[Attached, ...]]:
    """Attachments by content, because a mail has its own copies of attached files."""
    rows = tx.all(
        f"""
        select distinct f.sha256, substr(f.origin, 1, instr(f.origin, ':')) from files f
        where f.sha256 in (select value from json_each(:contents)) and f.origin <> 'upload' and {OWN}
        """,
        contents=json_array(sorted({file.sha256 for file in files})),
        **who(principal),
    )
    found: dict[str, set[Attached]] = {}
    for sha256, origin in rows:
        if origin in _ORIGINS:
            found.setdefault(cast(str, sha256), set()).add(_ORIGINS[origin])
    return {sha256: tuple(sorted(kinds)) for sha256, kinds in found.items()}


def taken_by(tx: ReadTx, principal: Principal) -> Taken:
    """The space of the caller's own uploads; content that two of them share counts twice."""
    sums = "select count(*), coalesce(sum(size), 0) from files"
    if principal.sees_everything:
        return _taken(tx.one(f"{sums} indexed by files_uploads_by_size where origin = 'upload'"))
    mine = f"{sums} indexed by files_uploads_by_size_of where origin = 'upload' and owner_id is :user_id"
    return _taken(tx.one(mine, user_id=principal.user_id))


def taken_by_all(tx: ReadTx) -> Taken:
    """The space of all files of all users, attachments of mails included; each content counts once, as it is stored."""
    return _taken(
        tx.one("select count(*), coalesce(sum(size), 0) from (select max(size) as size from files group by sha256)")
    )


def _taken(row: tuple[object, ...] | None) -> Taken:
    files, size = row or (0, 0)
    return Taken(files=cast(int, files), bytes=cast(int, size))


def words_of(text: str) -> list[str]:
    return folded(text).split()[:MAX_WORDS]


def has_all(name: str, words: list[str]) -> bool:
    if not words:
        return True
    letters = folded(name)
    return all(word in letters for word in words)


def folded(text: str) -> str:
    """The text without case and diacritics."""
    if text.isascii():
        return text.lower()
    return "".join(one for one in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(one))
