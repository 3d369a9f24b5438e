"""Where each message lies: what vanishes, arrives, is moved and flagged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from svc.erase import Left
from svc.ids import derived_id
from svc.mail.model import DRAFT, SPAM, TRASH
from svc.mail.providers.folders import ARCHIVE, Place, labels_of
from svc.mail.providers.imap.rows import drafts, moves, queries
from svc.mail.providers.imap.rows.changes import has_news, note, tell
from svc.mail.providers.imap.rows.model import Arrival, Flags, FolderRow, Kept, kept_of
from svc.mail.providers.imap.rows.queries import PLACE
from svc.store import Tx, Value, json_array

ERASED_AT_ONCE: Final = 5_000
_AWAY: Final = frozenset({SPAM, TRASH})


def lose(tx: Tx, *, account_id: str, folder_id: int, uids: Sequence[int] | None) -> None:
    """These are in the folder no more; ``None``: none of them is."""
    which = "uid is not null" if uids is None else "uid in (select value from json_each(:uids))"
    tx.run(
        f"update mail_imap_places set uid = null, lost_at = :now where folder_id = :folder_id and {which}",
        folder_id=folder_id,
        now=tx.now,
        **({} if uids is None else {"uids": json_array(uids)}),
    )
    if uids is None:
        moves.numbered_anew(tx, folder_id=folder_id)
    else:
        moves.removed(tx, folder_id=folder_id, uids=uids)


def store_flags(tx: Tx, *, account_id: str, folder_id: int, found: Iterable[Flags]) -> None:
    for one in found:
        row = tx.one(
            f"select {PLACE} where p.folder_id = :folder_id and p.uid = :uid", folder_id=folder_id, uid=one.uid
        )
        if row is not None:
            before = kept_of(row)
            after = replace(before.place, seen=one.seen, flagged=one.flagged)
            after = after if one.keywords is None else replace(after, keywords=one.keywords)
            if after != before.place:
                _write_place(tx, account_id, before, after, folder_id=folder_id, uid=one.uid)
                if not before.is_ours:
                    tell(tx, account_id, before.id, before.place, after)


def store_arrivals(
    tx: Tx, *, account_id: str, folder: FolderRow, uid_validity: int, found: Iterable[Arrival], is_told: bool
) -> None:
    """``is_told``: whether sync has to hear of it; not before it has read the mailbox for the first time."""
    for one in found:
        known = tx.one(
            "select 1 from mail_imap_places where folder_id = :folder_id and uid = :uid",
            folder_id=folder.id,
            uid=one.uid,
        )
        if known is not None or moves.is_left(tx, folder=folder, arrival=one):
            continue
        is_ours = folder.label == DRAFT and drafts.is_ours(tx, account_id=account_id, mark=one.draft_mark)
        is_edited = folder.label == DRAFT and folder.uid_validity == uid_validity
        if not _known_again(tx, account_id, folder, one, is_ours=is_ours, is_edited=is_edited):
            message_id = one.server_id or _new_id(tx, account_id, folder, uid_validity=uid_validity, uid=one.uid)
            insert(tx, account_id, message_id, folder_id=folder.id, arrival=one, uid=one.uid, is_ours=is_ours)
            if is_told and not is_ours:
                note(tx, account_id, "added", message_id)


def forget_lost(tx: Tx, *, account_id: str, lost_before: Collection[str]) -> bool:
    """What was lost before a look that is through now, and did not come back, was deleted. Whether there is more that
    is lost."""
    moves.forget_missed(tx, account_id=account_id)
    lost = queries.lost(tx, account_id=account_id)
    for message_id in lost & set(lost_before):
        note(tx, account_id, "deleted", message_id)
        forget(tx, account_id=account_id, message_id=message_id)
    return not lost <= set(lost_before)


def forget(tx: Tx, *, account_id: str, message_id: str) -> None:
    moves.end(tx, account_id=account_id, message_ids=[message_id])
    tx.run("delete from mail_imap_places where account_id = :account and id = :id", account=account_id, id=message_id)


def store_change(
    tx: Tx,
    *,
    account_id: str,
    before: Kept,
    after: Place,
    folder_id: int,
    uid: int | None,
    expected: frozenset[str],
) -> None:
    """A message that we moved and flagged. Where its labels are not the ``expected`` ones, sync hears of it.

    Without ``uid`` it is lost, until it is met where it went.
    """
    _write_place(tx, account_id, before, after, folder_id=folder_id, uid=uid)
    if uid is None:
        tx.run(
            "update mail_imap_places set lost_at = :now where account_id = :account_id and id = :id",
            now=tx.now,
            account_id=account_id,
            id=before.id,
        )
    carried = labels_of(after)
    if has_news(tx, account_id=account_id, message_id=before.id):
        # What is still to be heard happened before this change, and must not stand over it.
        note(tx, account_id, "labels-added", before.id, carried)
        note(tx, account_id, "labels-removed", before.id, (labels_of(before.place) | expected) - carried)
        return
    note(tx, account_id, "labels-added", before.id, carried - expected)
    note(tx, account_id, "labels-removed", before.id, expected - carried)


def erase(tx: Tx, *, account_id: str) -> Left:
    """Some of what is kept of an account's server."""
    gone = tx.run(
        """
        delete from mail_imap_places where account_id = :id and id in (
            select id from mail_imap_places where account_id = :id limit :limit
        )
        """,
        id=account_id,
        limit=ERASED_AT_ONCE,
    )
    if gone == ERASED_AT_ONCE:
        return "more"
    tx.run("delete from mail_imap_changes where account_id = :id", id=account_id)
    tx.run("delete from mail_imap_keywords where account_id = :id", id=account_id)
    tx.run("delete from mail_imap_drafts where account_id = :id", id=account_id)
    moves.erase(tx, account_id=account_id)
    tx.run("delete from mail_imap_folders where account_id = :id", id=account_id)
    return "nothing"


# The parts


def _known_again(
    tx: Tx, account_id: str, folder: FolderRow, arrival: Arrival, *, is_ours: bool, is_edited: bool
) -> bool:
    """Whether it is one that was lost, or a copy of ours that was awaited: it keeps its id. The copy of a draft that
    somebody has moved is a message like any other. ``is_edited``: what was lost in this same folder is another text,
    though it may have the same Message-ID and size."""
    copied = moves.copy_met(tx, account_id=account_id, folder=folder, arrival=arrival)
    if copied is not None:
        moves.leave(
            tx, account_id=account_id, before=queries.kept(tx, account_id=account_id, message_ids=[copied])[copied]
        )
    row = _same(tx, account_id, folder, arrival, copied=copied, is_ours=is_ours, is_edited=is_edited) or tx.one(
        f"""
        select {PLACE} where p.account_id = :account_id and p.folder_id = :folder_id
            and p.filing in (select value from json_each(:filings)) limit 1
        """,
        account_id=account_id,
        folder_id=folder.id,
        filings=json_array(sorted(arrival.filings)),
    )
    if row is None:
        return False
    before = kept_of(row)
    came_from = before.place.came_from
    if folder.label != before.place.folder:
        came_from = before.place.folder if folder.label in _AWAY and before.place.folder not in _AWAY else came_from
    after = Place(
        folder=folder.label,
        seen=arrival.seen,
        flagged=arrival.flagged,
        keywords=arrival.keywords,
        came_from=came_from if folder.label in _AWAY else ARCHIVE,
    )
    _write_place(tx, account_id, before, after, folder_id=folder.id, uid=arrival.uid)
    if _is_renamed(tx, account_id, before.id, arrival):
        note(tx, account_id, "added", before.id, renamed=True)
    tx.run(
        """
        update mail_imap_places set mark = :mark, size = :size, filing = null,
            server_id = :server_id, server_thread = :server_thread
        where account_id = :account_id and id = :id
        """,
        mark=arrival.mark,
        size=arrival.size,
        server_id=arrival.server_id,
        server_thread=arrival.server_thread,
        account_id=account_id,
        id=before.id,
    )
    if not is_ours:
        tell(tx, account_id, before.id, before.place, after)
    return True


def _is_renamed(tx: Tx, account_id: str, message_id: str, arrival: Arrival) -> bool:
    """Whether it is our own copy, and bears another Message-ID there than it left with."""
    filing = tx.value(
        "select filing from mail_imap_places where account_id = :account_id and id = :id",
        account_id=account_id,
        id=message_id,
    )
    return filing is not None and arrival.name is not None and filing != arrival.name


def _same(
    tx: Tx,
    account_id: str,
    folder: FolderRow,
    arrival: Arrival,
    *,
    copied: str | None,
    is_ours: bool,
    is_edited: bool,
) -> tuple[Value, ...] | None:
    """The one that was ``copied``, to be moved there. By the server's own number, wherever it lay; where there is none,
    one that is lost and looks the same."""
    if copied is not None:
        return tx.one(
            f"select {PLACE} where p.account_id = :account_id and p.id = :id", account_id=account_id, id=copied
        )
    if arrival.server_id is not None:
        return tx.one(
            f"select {PLACE} where p.account_id = :account_id and p.server_id = :server_id",
            account_id=account_id,
            server_id=arrival.server_id,
        )
    return tx.one(
        f"""
        select {PLACE}
        where p.account_id = :account_id and p.lost_at is not null and p.mark = :mark and p.is_ours = :is_ours
            and not (:is_edited and p.folder_id = :folder_id)
        order by p.folder_id <> :folder_id, p.lost_at, p.id limit 1
        """,
        account_id=account_id,
        mark=arrival.mark,
        is_ours=int(is_ours),
        is_edited=int(is_edited),
        folder_id=folder.id,
    )


def _write_place(tx: Tx, account_id: str, before: Kept, after: Place, *, folder_id: int, uid: int | None) -> None:
    tx.run(
        """
        update mail_imap_places set folder_id = :folder_id, uid = :uid, seen = :seen, flagged = :flagged,
            keywords = :keywords, came_from = :came_from, lost_at = null
        where account_id = :account_id and id = :id
        """,
        account_id=account_id,
        id=before.id,
        folder_id=folder_id,
        uid=uid,
        seen=int(after.seen),
        flagged=int(after.flagged),
        keywords=json_array(sorted(after.keywords)),
        came_from=after.came_from,
    )


def insert(
    tx: Tx,
    account_id: str,
    message_id: str,
    *,
    folder_id: int,
    arrival: Arrival,
    uid: int | None,
    is_ours: bool = False,
) -> None:
    tx.run(
        """
        insert into mail_imap_places (
            account_id, id, folder_id, uid, mark, arrived_at, size, seen, flagged, keywords, is_ours,
            server_id, server_thread
        ) values (
            :account_id, :id, :folder_id, :uid, :mark, :arrived_at, :size, :seen, :flagged, :keywords, :is_ours,
            :server_id, :server_thread
        )
        """,
        account_id=account_id,
        id=message_id,
        folder_id=folder_id,
        uid=uid,
        mark=arrival.mark,
        arrived_at=arrival.arrived_at,
        size=arrival.size,
        seen=int(arrival.seen),
        flagged=int(arrival.flagged),
        keywords=json_array(sorted(arrival.keywords)),
        is_ours=int(is_ours),
        server_id=arrival.server_id,
        server_thread=arrival.server_thread,
    )


def _new_id(tx: Tx, account_id: str, folder: FolderRow, *, uid_validity: int, uid: int) -> str:
    """It follows from where the message was first met, so a mailbox that is connected again keeps its ids.

    Servers that count anew give the same numbers to other messages.
    """
    again = 0
    while True:
        parts = (folder.name.decode("latin-1"), str(uid_validity), str(uid), *([str(again)] if again else []))
        message_id = derived_id("imap", account_id, *parts)
        row = tx.one("select 1 from mail_imap_places where account_id = :a and id = :id", a=account_id, id=message_id)
        if row is None:
            return message_id
        again += 1
