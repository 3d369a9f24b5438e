"""Moves that a server makes in two steps: a copy, and the removal of what was copied.

That a copy is about to be made is written down before it is, and where it lies before the other is removed: so whoever
dies in between leaves one message, with the id that it had. What is still to be removed then is no message any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from svc.mail.providers.imap.rows.model import Arrival, FolderRow, Kept
from svc.store import ReadTx, Tx, json_array


@dataclass(frozen=True, kw_only=True)
class Left:
    """What is to be removed from a folder, as far as its numbers are known."""

    folder_id: int
    folder_name: bytes
    uid_validity: int
    uids: tuple[int, ...]


def begin(tx: Tx, *, account_id: str, message_ids: Iterable[str], folder_id: int, first_uid: int) -> None:
    """Copies of these will lie in the folder, from that UID on. One that was begun before may lie below it."""
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
    """From which UID on there may be a copy in that folder, by the ids of those that have perhaps one."""
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
    """No copy of these is under way any more."""
    tx.run(
        "delete from mail_imap_copies where account_id = :id and id in (select value from json_each(:ids))",
        id=account_id,
        ids=json_array(message_ids),
    )


def copy_met(tx: ReadTx, *, account_id: str, folder: FolderRow, arrival: Arrival) -> str | None:
    """The id of the message whose copy this is."""
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
    """Its copy is the message from now on, and what lies at its place is to be removed."""
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
    """Whether it is what is to be removed; known again by its mark where the folder was numbered anew."""
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
    """What is left there, and what was copied there, is known again by its mark alone."""
    tx.run("update mail_imap_leftovers set uid = null where folder_id = :id", id=folder_id)
    tx.run("update mail_imap_copies set first_uid = 1 where folder_id = :id", id=folder_id)


def forget_missed(tx: Tx, *, account_id: str) -> None:
    """What was not met again in a look that is through now is gone."""
    tx.run("delete from mail_imap_leftovers where account_id = :id and uid is null", id=account_id)


def forget_folder(tx: Tx, *, folder_id: int) -> None:
    tx.run("delete from mail_imap_leftovers where folder_id = :id", id=folder_id)
    tx.run("delete from mail_imap_copies where folder_id = :id", id=folder_id)


def erase(tx: Tx, *, account_id: str) -> None:
    tx.run("delete from mail_imap_leftovers where account_id = :id", id=account_id)
    tx.run("delete from mail_imap_copies where account_id = :id", id=account_id)


def uids_by_id(rows: Iterable[Kept], by_uid: Mapping[int, int]) -> dict[str, int]:
    """New UIDs by the ids of messages, from those by the old ones."""
    return {row.id: by_uid[row.uid] for row in rows if row.uid is not None and row.uid in by_uid}
