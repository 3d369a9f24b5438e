"""The place of each message: stores that messages vanish, arrive, are moved or get other flags."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final, cast

from svc.erase import Left
from svc.ids import derived_id
from svc.mail.model import DRAFT, SPAM, TRASH
from svc.mail.providers.folders import ARCHIVE, Place, labels_of
from svc.mail.providers.imap.rows import moves, queries
from svc.mail.providers.imap.rows.changes import has_news, note, tell
from svc.mail.providers.imap.rows.model import Arrival, Flags, FolderRow, Kept, kept_of
from svc.mail.providers.imap.rows.queries import PLACE, place_by
from svc.store import ReadTx, Tx, Value, json_array, texts_of

ERASED_AT_ONCE: Final = 5_000
_AWAY: Final = frozenset({SPAM, TRASH})


def lose(tx: Tx, *, account_id: str, folder_id: int, uids: Sequence[int] | None, are_there: bool = False) -> None:
    """Marks messages as lost: they are no longer in the folder. ``None``: all messages of the folder. ``are_there``:
    they still are, and are only marked as deleted."""
    which = "uid is not null" if uids is None else "uid in (select value from json_each(:uids))"
    tx.run(
        f"update mail_imap_places set uid = null, lost_at = :now where folder_id = :folder_id and {which}",
        folder_id=folder_id,
        now=tx.now,
        **({} if uids is None else {"uids": json_array(uids)}),
    )
    if uids is None:
        moves.numbered_anew(tx, folder_id=folder_id)
    elif not are_there:
        moves.removed(tx, folder_id=folder_id, uids=uids)


def other_flags(tx: ReadTx, *, folder_id: int, found: Sequence[Flags]) -> list[Flags]:
    """Those that differ from the stored ones."""
    if not found:
        return []
    rows = tx.all(
        """
        select uid, seen, flagged, keywords from mail_imap_places
        where folder_id = :folder_id and uid between :first and :last
        """,
        folder_id=folder_id,
        first=min(one.uid for one in found),
        last=max(one.uid for one in found),
    )
    stored = {
        cast(int, uid): (bool(seen), bool(flagged), frozenset(texts_of(str(keywords))))
        for uid, seen, flagged, keywords in rows
    }
    return [
        one
        for one in found
        if (before := stored.get(one.uid)) is not None
        and before != (one.seen, one.flagged, before[2] if one.keywords is None else one.keywords)
    ]


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
    """Stores messages that arrived in a folder. ``is_told``: report new ones to sync; False before sync has read the
    mailbox for the first time."""
    for one in found:
        known = tx.one(
            "select 1 from mail_imap_places where folder_id = :folder_id and uid = :uid",
            folder_id=folder.id,
            uid=one.uid,
        )
        if known is not None or moves.is_left(tx, folder=folder, arrival=one):
            continue
        is_edited = folder.label == DRAFT and folder.is_read and folder.uid_validity == uid_validity
        if not _known_again(tx, account_id, folder, one, is_edited=is_edited):
            message_id = one.server_id or _new_id(tx, account_id, folder, uid_validity=uid_validity, uid=one.uid)
            insert(tx, account_id, message_id, folder_id=folder.id, arrival=one, uid=one.uid)
            if is_told and not one.is_ours:
                note(tx, account_id, "added", message_id)


def forget_lost(tx: Tx, *, account_id: str, lost_before: Collection[str]) -> bool:
    """Deletes messages that were lost before the look that ends now, and that it did not find. Returns whether others
    are lost."""
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
    """Stores a change that we made. Reports labels to sync if they differ from the ``expected`` ones.

    Without ``uid`` the message is lost until a look finds it in its new folder.
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
        # Changes that sync has not applied yet are older than this one, and must not override it.
        note(tx, account_id, "labels-added", before.id, carried)
        note(tx, account_id, "labels-removed", before.id, (labels_of(before.place) | expected) - carried)
        return
    note(tx, account_id, "labels-added", before.id, carried - expected)
    note(tx, account_id, "labels-removed", before.id, expected - carried)


def erase(tx: Tx, *, account_id: str) -> Left:
    """Deletes the stored state of an account's server, one batch per call."""
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


def _known_again(tx: Tx, account_id: str, folder: FolderRow, arrival: Arrival, *, is_edited: bool) -> bool:
    """Whether an arrival is a known message: one that was lost, or an expected copy of ours. It then keeps its id. The
    copy of a draft that a user moved away counts as an ordinary message. ``is_edited``: a message that was lost in this
    same folder is another version, even with the same Message-ID and size."""
    copied = moves.copy_met(tx, account_id=account_id, folder=folder, arrival=arrival)
    if copied is not None:
        moves.leave(
            tx, account_id=account_id, before=queries.kept(tx, account_id=account_id, message_ids=[copied])[copied]
        )
    row = _same(tx, account_id, folder, arrival, copied=copied, is_edited=is_edited) or tx.one(
        f"""
        select {place_by("mail_imap_places_filing")} where p.account_id = :account_id and p.folder_id = :folder_id
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
    if not arrival.is_ours:
        tell(tx, account_id, before.id, before.place, after)
    return True


def _is_renamed(tx: Tx, account_id: str, message_id: str, arrival: Arrival) -> bool:
    """Whether it is our own copy of a sent mail, with another Message-ID than it was sent with."""
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
    is_edited: bool,
) -> tuple[Value, ...] | None:
    """The known message that an arrival is: the one ``copied`` by a move of ours; else the one with the same server id,
    in any folder; or, at a server without such ids, a lost one with the same mark."""
    if copied is not None:
        return tx.one(
            f"select {PLACE} where p.account_id = :account_id and p.id = :id", account_id=account_id, id=copied
        )
    if arrival.server_id is not None:
        return tx.one(
            f"""
            select {place_by("mail_imap_places_server_id")}
            where p.account_id = :account_id and p.server_id = :server_id
            """,
            account_id=account_id,
            server_id=arrival.server_id,
        )
    return tx.one(
        f"""
        select {place_by("mail_imap_places_lost")}
        where p.account_id = :account_id and p.lost_at is not null and p.mark = :mark and p.is_ours = :is_ours
            and not (:is_edited and p.folder_id = :folder_id)
        order by p.folder_id <> :folder_id, p.lost_at, p.id limit 1
        """,
        account_id=account_id,
        mark=arrival.mark,
        is_ours=int(arrival.is_ours),
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
        is_ours=int(arrival.is_ours),
        server_id=arrival.server_id,
        server_thread=arrival.server_thread,
    )


def _id_of(account_id: str, folder: FolderRow, *, uid_validity: int, uid: int, again: int = 0) -> str:
    parts = (folder.name.decode("latin-1"), str(uid_validity), str(uid), *([str(again)] if again else []))
    return derived_id("imap", account_id, *parts)


def _new_id(tx: Tx, account_id: str, folder: FolderRow, *, uid_validity: int, uid: int) -> str:
    """A new id, derived from the place where the message was first seen. So a mailbox that is connected again keeps its
    ids. A counter is added if the id is in use: servers with new UIDs may reuse a number for another message.
    """
    again = 0
    while True:
        message_id = _id_of(account_id, folder, uid_validity=uid_validity, uid=uid, again=again)
        row = tx.one("select 1 from mail_imap_places where account_id = :a and id = :id", a=account_id, id=message_id)
        if row is None:
            return message_id
        again += 1
