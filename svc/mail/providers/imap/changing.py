"""Carries out changes of labels at an IMAP server: as flags, keywords, and moves between folders.

A move uses ``MOVE`` if the server has it. Otherwise it is a copy, the flag ``\\Deleted``, and a removal of exactly
these messages; a removal that would also delete messages that others marked is never sent. Flags are changed first,
since a move gives a message another UID. The new UIDs that the server names (``COPYUID``) are used if they are
plausible. Otherwise the message counts as lost until the next look finds it in its new folder.

A move in two steps may be interrupted between them. So a note is stored before the copy, and the place of the copy
before the removal (``rows/moves.py``). A retry makes no second copy: it searches for the first one among the messages
that arrived since. The removal is no part of the change any more: each look at the mailbox continues it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import trio

from svc.mail.providers.folders import Place, labels_of, relabelled
from svc.mail.providers.imap import roles
from svc.mail.providers.imap.answers import Answer, CommandRefused
from svc.mail.providers.imap.fetching import NUMBERED_ANEW
from svc.mail.providers.imap.looking import MEET, arrivals
from svc.mail.providers.imap.protocol.faults import ProtocolFault
from svc.mail.providers.imap.protocol.messages import Message
from svc.mail.providers.imap.protocol.names import written_name
from svc.mail.providers.imap.protocol.responses import Folder
from svc.mail.providers.imap.protocol.sets import MAX_UID, UidSet, in_written_order
from svc.mail.providers.imap.protocol.writing import Text
from svc.mail.providers.imap.rows import folders as folder_rows
from svc.mail.providers.imap.rows import messages as message_rows
from svc.mail.providers.imap.rows import moves, queries
from svc.mail.providers.imap.rows.model import UNFINISHED, FolderRow, Kept
from svc.mail.providers.imap.rows.moves import uids_by_id
from svc.mail.providers.imap.session import Using
from svc.mail.providers.seam import Refused, Unreachable
from svc.store import Store, Tx

NO_KEYWORDS: Final = "This mail server keeps no labels of one's own on messages."
NO_FOLDER: Final = "The mail server has no such folder."
NO_MOVE: Final = "This mail server can't move a message without removing others with it."
_NO_ANSWER: Final = "The mail server did not say whether it has copied the message."
_NOT_READ: Final = "The folders of this mailbox are not known yet."
COPY_ENDS_S: Final = 10.0
"""How long a shutdown may wait for a copy that is under way."""
NOT_THERE: Final = "The message is on its way between two folders; the server is asked again."


@dataclass(frozen=True, kw_only=True)
class _Alike:
    """Messages of one folder that get the same change."""

    rows: list[Kept]
    after: Place


@dataclass(frozen=True, kw_only=True)
class Changing:
    """One change. The caller holds the session's turn."""

    account_id: str
    store: Store
    using: Using

    async def change(self, rows: Sequence[Kept], *, add: frozenset[str], remove: frozenset[str]) -> None:
        """Raises :class:`Refused`, :class:`Unreachable` and what the session raises; some may be changed then."""
        for group in _alike(rows, add=add, remove=remove):
            await self._change(group, add=add, remove=remove)

    async def folder(self, label: str) -> FolderRow:
        """The folder of a label. Makes it if it is missing and every mailbox should have it (``roles.NEW_NAMES``)."""
        known = await self.store.read(folder_rows.folders, account_id=self.account_id)
        found = next((one for one in known if one.label == label and one.uid_validity), None)
        if found is not None:
            return found
        if any(one.messages == UNFINISHED for one in known):
            raise Unreachable(_NOT_READ)  # it may be there: only the first look opens the folders
        if label not in roles.NEW_NAMES:
            raise Refused(NO_FOLDER)
        return await self._make(label, known)

    async def make_folder(self, name: str) -> FolderRow:
        """Makes a user's own folder; slashes in ``name`` separate the steps of its path. Returns the existing folder if
        there is one of that name."""
        delimiter = await self._delimiter()
        path = delimiter.join(written_name(step) for step in name.split("/"))
        known = await self.store.read(folder_rows.folders, account_id=self.account_id)
        written = _below_the_inbox(path, known, delimiter)
        try:
            await self.using.command("CREATE", Text(written))
        except CommandRefused as refused:
            if refused.code != "ALREADYEXISTS":
                raise
        return await self._add(roles.Place(name=written, label=roles.own_label(written), shown=name))

    async def _change(self, group: _Alike, *, add: frozenset[str], remove: frozenset[str]) -> None:
        first = group.rows[0]
        if first.uid is None:
            raise Unreachable(NOT_THERE)
        target = None if group.after.folder == first.place.folder else await self.folder(group.after.folder)
        # Opened again: if the folder was replaced while it was open, Dovecot would go on with the old one.
        opened = await self.using.open(first.folder_name, anew=True)
        if opened.uid_validity != first.uid_validity:
            raise Unreachable(NUMBERED_ANEW)
        uids = uids_of(row.uid for row in group.rows)
        for sign, flags in (("+", _flags_added(group)), ("-", _flags_removed(group))):
            if any(not flag.startswith("\\") for flag in flags) and not opened.takes_keywords:
                raise Refused(NO_KEYWORDS)
            if flags:
                await self.using.command("UID", "STORE", str(uids), f"{sign}FLAGS.SILENT", f"({' '.join(flags)})")
        if target is not None and "MOVE" not in self.using.able:
            if "UIDPLUS" not in self.using.able:
                raise Refused(NO_MOVE)
            moved = await self._copied(group.rows, target)
        elif target is not None:
            uids = uids_of(row.uid for row in group.rows)
            answer = await self.using.command("UID", "MOVE", str(uids), Text(target.name))
            moved = uids_by_id(group.rows, copied(answer, target))
        else:
            moved = {}
        await self.store.write(
            _store_all,
            account_id=self.account_id,
            group=group,
            target=target,
            moved=moved,
            leaves="MOVE" not in self.using.able,
            add=add,
            remove=remove,
        )
        if target is not None:
            await remove_left(self.account_id, self.store, self.using)

    async def _copied(self, rows: Sequence[Kept], target: FolderRow) -> dict[str, int]:
        """Copies messages to the target. Returns the UIDs of the copies by message id, as far as they are known. A
        message that was copied in an earlier try is not copied again."""
        ids = [row.id for row in rows]
        begun = await self.store.read(moves.begun, account_id=self.account_id, message_ids=ids, folder_id=target.id)
        opened = await self.using.open(target.name, anew=True)
        if opened.uid_validity != target.uid_validity:
            raise Unreachable(NUMBERED_ANEW)
        there = await self._there(
            [row for row in rows if row.id in begun], target, since=min(begun.values(), default=1)
        )
        wanted = [row for row in rows if row.id not in there]
        if not wanted:
            return there
        # If a server does not name its next UID, any unknown message in the target may be the copy.
        since = opened.uid_next or 1
        await self.store.write(
            moves.begin,
            account_id=self.account_id,
            message_ids=[row.id for row in wanted],
            folder_id=target.id,
            first_uid=since,
        )
        opened = await self.using.open(rows[0].folder_name, anew=True)
        if opened.uid_validity != rows[0].uid_validity:
            raise Unreachable(NUMBERED_ANEW)
        made = uids_by_id(wanted, copied(await self._copy(wanted, target), target))
        unsaid = [row for row in wanted if row.id not in made]
        if unsaid:
            await self.using.open(target.name, anew=True)
            made |= await self._there(unsaid, target, since=since)
        return there | made

    async def _copy(self, rows: Sequence[Kept], target: FolderRow) -> Answer:
        """Sends the copy. A cancellation does not interrupt it: the server would still finish it, and a retry that
        searches too early would copy a second time."""
        uids = uids_of(row.uid for row in rows)
        try:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + COPY_ENDS_S):
                return await self.using.command("UID", "COPY", str(uids), Text(target.name))
        except CommandRefused:
            await self.store.write(moves.end, account_id=self.account_id, message_ids=[row.id for row in rows])
            raise
        raise Unreachable(_NO_ANSWER)

    async def _there(self, rows: Sequence[Kept], target: FolderRow, *, since: int) -> dict[str, int]:
        """The copies of these messages in the target folder, which is open. Searches the unknown messages from the UID
        ``since`` on."""
        if not rows or self.using.opened is None or not self.using.opened.messages:
            return {}
        known = set(await self.store.read(queries.known_uids, folder_id=target.id))
        answer = await self.using.command("UID", "FETCH", f"{since}:{MAX_UID}", MEET)
        new = arrivals(answer.all(Message), wanted=UidSet(((since, MAX_UID),)), now=0)
        uids: dict[str, list[int]] = {}
        for one in sorted(new, key=lambda one: -one.uid):
            if one.uid not in known:
                uids.setdefault(one.mark, []).append(one.uid)
        return {row.id: uids[row.mark].pop() for row in rows if uids.get(row.mark)}

    async def _make(self, label: str, known: Sequence[FolderRow]) -> FolderRow:
        name = _below_the_inbox(written_name(roles.NEW_NAMES[label]), known, await self._delimiter())
        try:
            if "CREATE-SPECIAL-USE" in self.using.able:
                await self.using.command("CREATE", Text(name), f"(USE ({roles.USE_OF[label].capitalize()}))")
            else:
                await self.using.command("CREATE", Text(name))
        except CommandRefused as refused:
            if refused.code != "ALREADYEXISTS":
                raise
        return await self._add(roles.Place(name=name, label=label, shown=roles.NEW_NAMES[label]))

    async def _delimiter(self) -> bytes:
        """What stands between the steps of a folder's path at this server."""
        listed = (await self.using.command("LIST", Text(b""), Text(b""))).all(Folder)
        return next((one.delimiter for one in listed if one.delimiter), b"/")

    async def _add(self, place: roles.Place) -> FolderRow:
        opened = await self.using.open(place.name)
        return await self.store.write(
            folder_rows.add_folder, account_id=self.account_id, place=place, uid_validity=opened.uid_validity
        )


async def remove_left(account_id: str, store: Store, using: Using) -> None:
    """Removes the originals that moves in two steps left behind. A removal that the server refuses is tried later."""
    for left in await store.read(moves.left, account_id=account_id):
        try:
            opened = await using.open(left.folder_name, anew=True)
            if opened.uid_validity != left.uid_validity or "UIDPLUS" not in using.able:
                continue
            uids = UidSet.of(left.uids)
            await using.command("UID", "STORE", str(uids), "+FLAGS.SILENT", "(\\Deleted)")
            await using.command("UID", "EXPUNGE", str(uids))
        except CommandRefused:
            continue
        await store.write(moves.removed, folder_id=left.folder_id, uids=left.uids)


def _below_the_inbox(name: bytes, known: Sequence[FolderRow], delimiter: bytes) -> bytes:
    """The name of a new folder: below the inbox, if all other folders of the server are there."""
    root = b"INBOX" + delimiter
    others = [one.name for one in known if one.name.upper() != b"INBOX"]
    if others and all(one.upper().startswith(root) for one in others):
        return others[0][: len(root)] + name
    return name


def _alike(rows: Sequence[Kept], *, add: frozenset[str], remove: frozenset[str]) -> list[_Alike]:
    found: dict[tuple[int, bool, Place, Place], _Alike] = {}
    for row in rows:
        after = relabelled(row.place, add=add, remove=remove)
        group = found.setdefault((row.folder_id, row.uid is None, row.place, after), _Alike(rows=[], after=after))
        group.rows.append(row)
    return sorted(found.values(), key=lambda one: one.rows[0].uid is None)


def uids_of(uids: Iterable[int | None]) -> UidSet:
    return UidSet.of(uid for uid in uids if uid is not None)


def _flags_added(group: _Alike) -> list[str]:
    before, after = group.rows[0].place, group.after
    system = ["\\Seen"] * (after.seen and not before.seen) + ["\\Flagged"] * (after.flagged and not before.flagged)
    return system + sorted(map(roles.keyword_of, after.keywords - before.keywords))


def _flags_removed(group: _Alike) -> list[str]:
    before, after = group.rows[0].place, group.after
    system = ["\\Seen"] * (before.seen and not after.seen) + ["\\Flagged"] * (before.flagged and not after.flagged)
    return system + sorted(map(roles.keyword_of, before.keywords - after.keywords))


def copied(answer: Answer, target: FolderRow) -> dict[int, int]:
    """The new UIDs by the old ones, from ``COPYUID``. Empty if it is missing, malformed, of another UIDVALIDITY or has
    lists of different lengths; real servers send such answers."""
    arguments = answer.codes().get("COPYUID", ())
    try:
        validity, old, new = arguments
        before, after = (in_written_order(one, at_most=10_000) for one in (old, new))
    except (ValueError, ProtocolFault):
        return {}
    if validity != str(target.uid_validity).encode() or len(before) != len(after):
        return {}
    return dict(zip(before, after, strict=True))


def _store_all(
    tx: Tx,
    *,
    account_id: str,
    group: _Alike,
    target: FolderRow | None,
    moved: dict[str, int],
    leaves: bool,
    add: frozenset[str],
    remove: frozenset[str],
) -> None:
    """``leaves``: the originals of moved messages must still be removed."""
    for row in group.rows:
        uid = row.uid if target is None else moved.get(row.id)
        if target is not None and leaves:
            moves.leave(tx, account_id=account_id, before=row)
        message_rows.store_change(
            tx,
            account_id=account_id,
            before=row,
            after=group.after,
            folder_id=row.folder_id if target is None else target.id,
            uid=uid,
            expected=(labels_of(row.place) - remove) | add,
        )
