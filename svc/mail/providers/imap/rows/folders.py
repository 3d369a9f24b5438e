"""The folders of a mailbox, and the last known state of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.mail.providers.folders import ARCHIVE
from svc.mail.providers.imap import roles
from svc.mail.providers.imap.rows import moves
from svc.mail.providers.imap.rows.changes import note
from svc.mail.providers.imap.rows.messages import lose
from svc.mail.providers.imap.rows.model import UNFINISHED, FolderRow, folder_of
from svc.store import ReadTx, Tx

_FOLDER: Final = "id, name, label, shown, uid_validity, uid_next, modseq, messages, looked_at"


def folders(tx: ReadTx, *, account_id: str) -> list[FolderRow]:
    rows = tx.all(f"select {_FOLDER} from mail_imap_folders where account_id = :id order by id", id=account_id)
    return [folder_of(row) for row in rows]


def store_folders(tx: Tx, *, account_id: str, found: Sequence[roles.Place]) -> list[FolderRow]:
    """Stores the folders as the server lists them now. The messages of a folder that is gone become lost."""
    known = {one.name: one for one in folders(tx, account_id=account_id)}
    for one in found:
        before = known.pop(one.name, None)
        if before is not None and before.label != one.label:
            _relabel(tx, account_id, before, label=one.label)
        tx.run(
            """
            insert into mail_imap_folders (account_id, name, label, shown) values (:account_id, :name, :label, :shown)
            on conflict do update set label = :label, shown = :shown
            """,
            account_id=account_id,
            name=one.name,
            label=one.label,
            shown=one.shown,
        )
    for gone in known.values():
        lose(tx, account_id=account_id, folder_id=gone.id, uids=None)
        moves.forget_folder(tx, folder_id=gone.id)
        left = tx.value("select count(*) from mail_imap_places where folder_id = :id", id=gone.id)
        if left == 0:
            tx.run("delete from mail_imap_folders where id = :id", id=gone.id)
        else:
            tx.run(
                "update mail_imap_folders set uid_validity = 0, uid_next = 0, modseq = 0, messages = 0 where id = :id",
                id=gone.id,
            )
    names = {one.name for one in found}
    return [one for one in folders(tx, account_id=account_id) if one.name in names]


def add_folder(tx: Tx, *, account_id: str, place: roles.Place, uid_validity: int) -> FolderRow:
    """Stores a folder that was just made or found, without messages: nothing of it was read yet."""
    tx.run(
        """
        insert into mail_imap_folders (account_id, name, label, shown, uid_validity, looked_at)
        values (:account_id, :name, :label, :shown, :uid_validity, :now)
        on conflict do update set label = :label, uid_validity = :uid_validity, looked_at = :now
        """,
        account_id=account_id,
        name=place.name,
        label=place.label,
        shown=place.shown,
        uid_validity=uid_validity,
        now=tx.now,
    )
    return next(one for one in folders(tx, account_id=account_id) if one.name == place.name)


def note_closed(tx: Tx, *, folder_id: int) -> None:
    """Notes that a folder can't be opened, also not at a second try."""
    tx.run("update mail_imap_folders set looked_at = :now where id = :id", now=tx.now, id=folder_id)


def begin(tx: Tx, *, folder_id: int, uid_validity: int) -> None:
    """Notes that a folder is being read from its beginning. From now on all its stored UIDs are of this UIDVALIDITY."""
    tx.run(
        """
        update mail_imap_folders set uid_validity = :uid_validity, uid_next = 0, modseq = 0, messages = :messages
        where id = :id
        """,
        id=folder_id,
        uid_validity=uid_validity,
        messages=UNFINISHED,
    )


def store_state(
    tx: Tx, *, folder_id: int, uid_validity: int, uid_next: int, modseq: int, messages: int, looked: bool
) -> None:
    """Stores a folder's state, after all its changes up to this state are stored."""
    tx.run(
        """
        update mail_imap_folders set uid_validity = :uid_validity, uid_next = :uid_next, modseq = :modseq,
            messages = :messages, looked_at = iif(:looked, :now, looked_at)
        where id = :id
        """,
        id=folder_id,
        uid_validity=uid_validity,
        uid_next=uid_next,
        modseq=modseq,
        messages=messages,
        looked=int(looked),
        now=tx.now,
    )


def _relabel(tx: Tx, account_id: str, folder: FolderRow, *, label: str) -> None:
    """Changes the labels of a folder's messages after its role changed, for example when it became the archive."""
    rows = tx.all("select id from mail_imap_places where folder_id = :id", id=folder.id)
    for (message_id,) in rows:
        note(tx, account_id, "labels-added", str(message_id), frozenset({label}) - {ARCHIVE})
        note(tx, account_id, "labels-removed", str(message_id), frozenset({folder.label}) - {ARCHIVE})
