"""Changes of labels, as what they are at an IMAP server: flags, keywords, and moves between folders.

A move is ``MOVE`` where there is one, else a copy, the flag that deletes, and the removal of exactly these messages.
A removal that would take what others have marked, too, is never asked for. Flags go first, for a move gives another
UID. What the server says of the new UIDs (``COPYUID``) is taken where it can be true; else the message is lost until
the next look finds it where it went.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from svc.mail.providers.folders import Place, labels_of, relabelled
from svc.mail.providers.imap import roles
from svc.mail.providers.imap.connection import Answer, CommandRefused
from svc.mail.providers.imap.fetching import NUMBERED_ANEW
from svc.mail.providers.imap.protocol.faults import ProtocolFault
from svc.mail.providers.imap.protocol.names import written_name
from svc.mail.providers.imap.protocol.sets import UidSet, in_written_order
from svc.mail.providers.imap.protocol.writing import Text
from svc.mail.providers.imap.rows import folders as folder_rows
from svc.mail.providers.imap.rows import messages as message_rows
from svc.mail.providers.imap.rows.model import FolderRow, Kept
from svc.mail.providers.imap.session import Using
from svc.mail.providers.seam import Refused, Unreachable
from svc.store import Store, Tx

NO_KEYWORDS: Final = "This mail server keeps no labels of one's own on messages."
NO_FOLDER: Final = "The mail server has no such folder."
NO_MOVE: Final = "This mail server can't move a message without removing others with it."
_NOT_THERE: Final = "The message is on its way between two folders; the server is asked again."


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

    async def _change(self, group: _Alike, *, add: frozenset[str], remove: frozenset[str]) -> None:
        first = group.rows[0]
        if first.uid is None:
            raise Unreachable(_NOT_THERE)
        target = None if group.after.folder == first.place.folder else await self.folder(group.after.folder)
        opened = await self.using.open(first.folder_name)
        if opened.uid_validity != first.uid_validity:
            raise Unreachable(NUMBERED_ANEW)
        uids = UidSet.of(row.uid for row in group.rows if row.uid is not None)
        for sign, flags in (("+", _flags_added(group)), ("-", _flags_removed(group))):
            if any(not flag.startswith("\\") for flag in flags) and not opened.takes_keywords:
                raise Refused(NO_KEYWORDS, status=405)
            if flags:
                await self.using.command("UID", "STORE", str(uids), f"{sign}FLAGS.SILENT", f"({' '.join(flags)})")
        moved = {} if target is None else await self._move(uids, target)
        await self.store.write(
            _store_all,
            account_id=self.account_id,
            group=group,
            target=target,
            moved=moved,
            add=add,
            remove=remove,
        )

    async def _move(self, uids: UidSet, target: FolderRow) -> dict[int, int]:
        """New UIDs by the old ones, as far as the server says them in a way that can be true."""
        if "MOVE" in self.using.able:
            return _copied(await self.using.command("UID", "MOVE", str(uids), Text(target.name)), target)
        if "UIDPLUS" not in self.using.able:
            raise Refused(NO_MOVE, status=405)
        moved = _copied(await self.using.command("UID", "COPY", str(uids), Text(target.name)), target)
        await self.using.command("UID", "STORE", str(uids), "+FLAGS.SILENT", "(\\Deleted)")
        await self.using.command("UID", "EXPUNGE", str(uids))
        return moved

    async def _make(self, label: str, known: Sequence[FolderRow]) -> FolderRow:
        name = written_name(roles.NEW_NAMES[label])
        if known and all(one.name.upper().startswith(b"INBOX") for one in known) and len(known) > 1:
            name = known[0].name + b"." + name  # all folders of this server lie below the inbox
        try:
            if "CREATE-SPECIAL-USE" in self.using.able:
                await self.using.command("CREATE", Text(name), f"(USE ({roles.USE_OF[label].capitalize()}))")
            else:
                await self.using.command("CREATE", Text(name))
        except CommandRefused as refused:
            if refused.code != "ALREADYEXISTS":
                raise
        opened = await self.using.open(name)
        place = roles.Place(name=name, label=label, shown=roles.NEW_NAMES[label])
        return await self.store.write(
            folder_rows.add_folder, account_id=self.account_id, place=place, uid_validity=opened.uid_validity
        )


def _alike(rows: Sequence[Kept], *, add: frozenset[str], remove: frozenset[str]) -> list[_Alike]:
    found: dict[tuple[int, bool, Place, Place], _Alike] = {}
    for row in rows:
        after = relabelled(row.place, add=add, remove=remove)
        group = found.setdefault((row.folder_id, row.uid is None, row.place, after), _Alike(rows=[], after=after))
        group.rows.append(row)
    return sorted(found.values(), key=lambda one: one.rows[0].uid is None)


def _flags_added(group: _Alike) -> list[str]:
    before, after = group.rows[0].place, group.after
    system = ["\\Seen"] * (after.seen and not before.seen) + ["\\Flagged"] * (after.flagged and not before.flagged)
    return system + sorted(map(roles.keyword_of, after.keywords - before.keywords))


def _flags_removed(group: _Alike) -> list[str]:
    before, after = group.rows[0].place, group.after
    system = ["\\Seen"] * (before.seen and not after.seen) + ["\\Flagged"] * (before.flagged and not after.flagged)
    return system + sorted(map(roles.keyword_of, before.keywords - after.keywords))


def _copied(answer: Answer, target: FolderRow) -> dict[int, int]:
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
