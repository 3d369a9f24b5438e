"""Moves in two steps: a copy, and the removal of the original.

A note is stored before the copy is made, and the copy's place before the original is removed. So a process that dies in
between leaves one message, with its old id. An original that must still be removed does not count as a message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from svc.mail.providers.imap.rows.model import Arrival, FolderRow, Kept
from svc.store import ReadTx, Tx, json_array


@dataclass(frozen=True, kw_only=True)
class Left:
    """The originals to remove from a folder, as far as their UIDs are known."""

    folder_id: int
    folder_name: bytes
    uid_validity: int
    uids: tuple[int, ...]


def begin(tx: Tx, *, account_id: str, message_ids: Iterable[str], folder_id: int, first_uid: int) -> None:
    """Notes that copies of these messages will be in the folder, with UIDs from ``first_uid`` on. If a copy to the same
    folder was begun before, the smaller UID stays."""
    for message_id in message_ids:
        tx.run(
            """
            insert into mail_imap_copies (account_id, id, folder_id, first_uid)
            values (:account_id, :id, :folder_id, :first_uid)
            on conflict do update set folder_id = :folder_id,
                first_uid = iif(folder_id = :folder_id, min(first_uid, :first_uid), :first_uid)
            """,
            account_id=account_id,
            id=message_id,
            folder_id=folder_id,
            first_uid=first_uid,
        )


def begun(tx: ReadTx, *, account_id: str, message_ids: Iterable[str], folder_id: int) -> dict[str, int]:
    """The messages that may have a copy in that folder: from which UID on, by message id."""
    rows = tx.all(
        """
        select id, first_uid from mail_imap_copies
        where account_id = :account_id and folder_id = :folder_id and id in (select value from json_each(:ids))
        """,
        account_id=account_id,
        folder_id=folder_id,
        ids=json_array(message_ids),
    )
    return {str(message_id): cast(int, first_uid) for message_id, first_uid in rows}


def end(tx: Tx, *, account_id: str, message_ids: Iterable[str]) -> None:
    """Deletes the notes: no copy of these messages is in progress any more."""
    tx.run(
        "delete from mail_imap_copies where account_id = :id and id in (select value from json_each(:ids))",
        id=account_id,
        ids=json_array(message_ids),
    )


def copy_met(tx: ReadTx, *, account_id: str, folder: FolderRow, arrival: Arrival) -> str | None:
    """The id of the message that this arrival is a copy of; ``None`` if it is none."""
    found = tx.value(
        """
        select c.id from mail_imap_copies c join mail_imap_places p on p.account_id = c.account_id and p.id = c.id
        where c.account_id = :account_id and c.folder_id = :folder_id and c.first_uid <= :uid and p.mark = :mark
        order by c.id limit 1
        """,
        account_id=account_id,
        folder_id=folder.id,
        uid=arrival.uid,
        mark=arrival.mark,
    )
    return None if found is None else str(found)


def leave(tx: Tx, *, account_id: str, before: Kept) -> None:
    """Makes the copy the message from now on, and notes that the original must be removed."""
    end(tx, account_id=account_id, message_ids=[before.id])
    if before.uid is not None:
        tx.run(
            """
            insert into mail_imap_leftovers (account_id, folder_id, uid, mark)
            values (:account_id, :folder_id, :uid, :mark) on conflict do nothing
            """,
            account_id=account_id,
            folder_id=before.folder_id,
            uid=before.uid,
            mark=before.mark,
        )


def left(tx: ReadTx, *, account_id: str) -> list[Left]:
    rows = tx.all(
        """
        select l.folder_id, l.uid, f.name, f.uid_validity
        from mail_imap_leftovers l join mail_imap_folders f on f.id = l.folder_id
        where l.account_id = :id and l.uid is not null order by l.folder_id, l.uid
        """,
        id=account_id,
    )
    uids: dict[tuple[int, bytes, int], list[int]] = {}
    for folder_id, uid, name, validity in rows:
        uids.setdefault((cast(int, folder_id), cast(bytes, name), cast(int, validity)), []).append(cast(int, uid))
    return [
        Left(folder_id=folder_id, folder_name=name, uid_validity=validity, uids=tuple(found))
        for (folder_id, name, validity), found in uids.items()
    ]


def is_left(tx: Tx, *, folder: FolderRow, arrival: Arrival) -> bool:
    """Whether an arrival is an original that must be removed. After a folder got new UIDs, the mark decides."""
    known = tx.value(
        """
        select id from mail_imap_leftovers
        where folder_id = :folder_id and (uid = :uid or (uid is null and mark = :mark))
        order by uid is null, id limit 1
        """,
        folder_id=folder.id,
        uid=arrival.uid,
        mark=arrival.mark,
    )
    if known is None:
        return False
    tx.run("update mail_imap_leftovers set uid = :uid where id = :id", uid=arrival.uid, id=known)
    return True


def removed(tx: Tx, *, folder_id: int, uids: Iterable[int]) -> None:
    tx.run(
        "delete from mail_imap_leftovers where folder_id = :id and uid in (select value from json_each(:uids))",
        id=folder_id,
        uids=json_array(uids),
    )


def numbered_anew(tx: Tx, *, folder_id: int) -> None:
    """Handles a folder's new UIDs: originals to remove, and copies, are recognized only by their marks from now on."""
    tx.run("update mail_imap_leftovers set uid = null where folder_id = :id", id=folder_id)
    tx.run("update mail_imap_copies set first_uid = 1 where folder_id = :id", id=folder_id)


def forget_missed(tx: Tx, *, account_id: str) -> None:
    """Deletes notes of originals that the look that ends now did not find again: they are gone."""
    tx.run("delete from mail_imap_leftovers where account_id = :id and uid is null", id=account_id)


def forget_folder(tx: Tx, *, folder_id: int) -> None:
    tx.run("delete from mail_imap_leftovers where folder_id = :id", id=folder_id)
    tx.run("delete from mail_imap_copies where folder_id = :id", id=folder_id)


def erase(tx: Tx, *, account_id: str) -> None:
    tx.run("delete from mail_imap_leftovers where account_id = :id", id=account_id)
    tx.run("delete from mail_imap_copies where account_id = :id", id=account_id)


def uids_by_id(rows: Iterable[Kept], by_uid: Mapping[int, int]) -> dict[str, int]:
    """The new UIDs by message id, from the new UIDs by old UID."""
    return {row.id: by_uid[row.uid] for row in rows if row.uid is not None and row.uid in by_uid}
