"""Queries for the stored messages of a mailbox."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast

from svc.clock import Millis
from svc.mail.model import STARRED, UNREAD
from svc.mail.providers.imap.rows.model import Kept, kept_of
from svc.store import ReadTx, json_array

_COLUMNS: Final = """
    p.id, p.folder_id, f.name, p.uid, p.size, f.label, p.seen, p.flagged, p.came_from, p.keywords, f.uid_validity,
    p.mark, p.is_ours, p.server_id, p.server_thread
"""
_FOLDER: Final = "join mail_imap_folders f on f.id = p.folder_id"
PLACE: Final = f"{_COLUMNS} from mail_imap_places p {_FOLDER}"


def place_by(index: str) -> str:
    """:data:`PLACE` for a search that uses this index. Before the first statistics, SQLite takes the primary key for as
    good as an index of few rows. It would read all messages of the account, and that for each new one."""
    return f"{_COLUMNS} from mail_imap_places p indexed by {index} {_FOLDER}"


def kept(tx: ReadTx, *, account_id: str, message_ids: Iterable[str]) -> dict[str, Kept]:
    rows = tx.all(
        f"select {PLACE} where p.account_id = :account_id and p.id in (select value from json_each(:ids))",
        account_id=account_id,
        ids=json_array(message_ids),
    )
    return {one.id: one for one in map(kept_of, rows)}


def known_uids(tx: ReadTx, *, folder_id: int) -> list[int]:
    """All known UIDs of a folder, including originals of moves that must still be removed."""
    rows = tx.all(
        """
        select uid from mail_imap_places where folder_id = :id and uid is not null
        union all select uid from mail_imap_leftovers where folder_id = :id and uid is not null
        """,
        id=folder_id,
    )
    return [cast(int, uid) for (uid,) in rows]


def lost(tx: ReadTx, *, account_id: str) -> frozenset[str]:
    """The ids of messages that vanished from their folder, and were not seen in another since."""
    rows = tx.all(
        """
        select id from mail_imap_places indexed by mail_imap_places_lost
        where account_id = :id and lost_at is not null
        """,
        id=account_id,
    )
    return frozenset(str(message_id) for (message_id,) in rows)


def listed(
    tx: ReadTx, *, account_id: str, label: str | None, before: tuple[Millis, str] | None, limit: int
) -> list[tuple[Millis, str, str]]:
    """Messages, newest first: the time of arrival, the id, and the server's id of the thread."""
    rows = tx.all(
        f"""
        select p.arrived_at, p.id, p.server_thread
        from mail_imap_places p join mail_imap_folders f on f.id = p.folder_id
        where p.account_id = :account_id and (p.arrived_at, p.id) < (:at, :id) and not p.is_ours and {_CARRIES}
        order by p.arrived_at desc, p.id desc limit :limit
        """,
        account_id=account_id,
        at=_NEVER if before is None else before[0],
        id="" if before is None else before[1],
        label=label,
        limit=limit,
    )
    return [(cast(int, at), str(message_id), str(thread)) for at, message_id, thread in rows]


_NEVER: Final = 1 << 62
_CARRIES: Final = f"""(
    :label is null or f.label = :label or (:label = '{UNREAD}' and not p.seen) or (:label = '{STARRED}' and p.flagged)
    or exists (select 1 from json_each(p.keywords) where value = :label)
)"""


def placed(tx: ReadTx, *, account_id: str) -> int:
    """How many messages are in a folder, as far as their folders were read."""
    count = "select count(*) from mail_imap_places where account_id = :id and uid is not null and not is_ours"
    return cast(int, tx.value(count, id=account_id))


def total(tx: ReadTx, *, account_id: str) -> int:
    count = "select count(*) from mail_imap_places where account_id = :id and not is_ours"
    return cast(int, tx.value(count, id=account_id))
