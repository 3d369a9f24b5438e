"""Changes of labels, as what they are at an IMAP server: flags, keywords, and moves between folders.

A move is ``MOVE`` where there is one, else a copy, the flag that deletes, and the removal of exactly these messages.
A copy is only made where there is none yet, for a move may have ended half way. A
removal that would take what others have marked, too, is never asked for. Flags go first, for a move gives another
UID. What the server says of the new UIDs (``COPYUID``) is taken where it can be true; else the message is lost until
the next look finds it where it went.
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
from svc.mail.providers.imap.rows import queries
from svc.mail.providers.imap.rows.model import FolderRow, Kept
from svc.mail.providers.imap.session import Using
from svc.mail.providers.seam import Refused, Unreachable
from svc.store import Store, Tx

NO_KEYWORDS: Final = "This mail server keeps no labels of one's own on messages."
NO_FOLDER: Final = "The mail server has no such folder."
NO_MOVE: Final = "This mail server can't move a message without removing others with it."
_NO_ANSWER: Final = "The mail server did not say whether it has copied the message."
COPY_ENDS_S: Final = 10.0
"""How long a shutdown may wait for a copy that is under way."""
NOT_THERE: Final = "The message is on its way between two folders; the server is asked again."


@dataclass(frozen=True, kw_only=True)
class _Alike:
    """Messages of one folder that are changed alike."""

    rows: list[Kept]
    after: Place


@dataclass(frozen=True, kw_only=True)
class Changing:
    """One change, by who has the turn."""

    account_id: str
    store: Store
    using: Using

    async def change(self, rows: Sequence[Kept], *, add: frozenset[str], remove: frozenset[str]) -> None:
        """Raises :class:`Refused`, :class:`Unreachable` and what the session raises; then some may be changed."""
        for group in _alike(rows, add=add, remove=remove):
            await self._change(group, add=add, remove=remove)

    async def folder(self, label: str) -> FolderRow:
        """The folder of a label; one of those that every mailbox has is made where there is none."""
        known = await self.store.read(folder_rows.folders, account_id=self.account_id)
        found = next((one for one in known if one.label == label and one.uid_validity), None)
        if found is not None:
            return found
        if label not in roles.NEW_NAMES:
            raise Refused(NO_FOLDER, status=404)
        return await self._make(label, known)

    async def make_folder(self, name: str) -> FolderRow:
        """A folder of the person's own; the slashes in its name are steps of its path. The one of that name where there
        is one already."""
        listed = (await self.using.command("LIST", Text(b""), Text(b""))).all(Folder)
        delimiter = next((one.delimiter for one in listed if one.delimiter), None)
        steps = [written_name(step) for step in name.split("/")]
        path = (delimiter or b"/").join(steps)
        known = await self.store.read(folder_rows.folders, account_id=self.account_id)
        written = _below_the_inbox(path, known)
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
        # Anew, for who had it open before it was replaced may go on in what it was, and change it there (Dovecot).
        opened = await self.using.open(first.folder_name, anew=True)
        if opened.uid_validity != first.uid_validity:
            raise Unreachable(NUMBERED_ANEW)
        uids = uids_of(row.uid for row in group.rows)
        for sign, flags in (("+", _flags_added(group)), ("-", _flags_removed(group))):
            if any(not flag.startswith("\\") for flag in flags) and not opened.takes_keywords:
                raise Refused(NO_KEYWORDS, status=405)
            if flags:
                await self.using.command("UID", "STORE", str(uids), f"{sign}FLAGS.SILENT", f"({' '.join(flags)})")
        moved = {} if target is None else await self._move(group.rows, target)
        await self.store.write(
            _store_all,
            account_id=self.account_id,
            group=group,
            target=target,
            moved=moved,
            add=add,
            remove=remove,
        )

    async def _move(self, rows: Sequence[Kept], target: FolderRow) -> dict[int, int]:
        """New UIDs by the old ones, as far as the server says them in a way that can be true."""
        uids = uids_of(row.uid for row in rows)
        if "MOVE" in self.using.able:
            return copied(await self.using.command("UID", "MOVE", str(uids), Text(target.name)), target)
        if "UIDPLUS" not in self.using.able:
            raise Refused(NO_MOVE, status=405)
        there = await self._there(rows, target)
        await self.using.open(rows[0].folder_name)
        moved: dict[int, int] = {}
        if wanted := uids_of(row.uid for row in rows if row.mark not in there):
            moved = copied(await self._copy(wanted, target), target)
        await self.using.command("UID", "STORE", str(uids), "+FLAGS.SILENT", "(\\Deleted)")
        await self.using.command("UID", "EXPUNGE", str(uids))
        return moved

    async def _copy(self, uids: UidSet, target: FolderRow) -> Answer:
        """Not broken off by a cancellation: the server goes on with what it was sent, and who looks before it is done
        would copy a second time."""
        with trio.CancelScope(shield=True, deadline=trio.current_time() + COPY_ENDS_S):
            return await self.using.command("UID", "COPY", str(uids), Text(target.name))
        raise Unreachable(_NO_ANSWER)

    async def _there(self, rows: Sequence[Kept], target: FolderRow) -> frozenset[str]:
        """The marks of those that were copied already: by a move that ended between its copy and its removal."""
        marks = {row.mark for row in rows}
        known = await self.store.read(queries.marks_in, folder_id=target.id, among=marks)
        opened = await self.using.open(target.name, anew=True)
        if opened.uid_next and opened.uid_next <= target.uid_next:
            return known
        first = max(target.uid_next, 1)
        answer = await self.using.command("UID", "FETCH", f"{first}:{MAX_UID}", MEET)
        new = arrivals(answer.all(Message), wanted=UidSet(((first, MAX_UID),)), now=0)
        return known | (marks & {one.mark for one in new})

    async def _make(self, label: str, known: Sequence[FolderRow]) -> FolderRow:
        name = _below_the_inbox(written_name(roles.NEW_NAMES[label]), known)
        try:
            if "CREATE-SPECIAL-USE" in self.using.able:
                await self.using.command("CREATE", Text(name), f"(USE ({roles.USE_OF[label].capitalize()}))")
            else:
                await self.using.command("CREATE", Text(name))
        except CommandRefused as refused:
            if refused.code != "ALREADYEXISTS":
                raise
        return await self._add(roles.Place(name=name, label=label, shown=roles.NEW_NAMES[label]))

    async def _add(self, place: roles.Place) -> FolderRow:
        opened = await self.using.open(place.name)
        return await self.store.write(
            folder_rows.add_folder, account_id=self.account_id, place=place, uid_validity=opened.uid_validity
        )


def _below_the_inbox(name: bytes, known: Sequence[FolderRow]) -> bytes:
    """Where all folders of a server lie, the new one has to lie, too."""
    if len(known) > 1 and all(one.name.upper().startswith(b"INBOX") for one in known):
        return known[0].name + b"." + name
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
    """Swapped, malformed or of another numbering (all of it was seen): then nothing is known."""
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
    moved: dict[int, int],
    add: frozenset[str],
    remove: frozenset[str],
) -> None:
    for row in group.rows:
        uid = row.uid if target is None else moved.get(row.uid or 0)
        message_rows.store_change(
            tx,
            account_id=account_id,
            before=row,
            after=group.after,
            folder_id=row.folder_id if target is None else target.id,
            uid=uid,
            expected=(labels_of(row.place) - remove) | add,
        )
