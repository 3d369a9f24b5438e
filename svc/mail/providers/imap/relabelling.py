"""Carries out changes of labels at a server that keeps labels: as labels, without copying messages.

Only spam and trash are real folders: to go there, or to come back, is a move from or to the folder of all mail. Other
label changes of the same message are sent before a move into spam or trash, and after a move out of it. A move gives
the message another UID: the server names it, or we search for it by the server's own id of the message.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from svc.mail.model import INBOX, SPAM, STARRED, TRASH, UNREAD
from svc.mail.providers.folders import ARCHIVE, Place, labels_of
from svc.mail.providers.imap import labels
from svc.mail.providers.imap.changing import NO_FOLDER, NO_MOVE, NOT_THERE, copied, uids_of
from svc.mail.providers.imap.fetching import NUMBERED_ANEW
from svc.mail.providers.imap.protocol.responses import Found
from svc.mail.providers.imap.protocol.writing import Listed, Text
from svc.mail.providers.imap.rows import folders as folder_rows
from svc.mail.providers.imap.rows import keywords as keyword_rows
from svc.mail.providers.imap.rows import messages as message_rows
from svc.mail.providers.imap.rows.model import UNFINISHED, FolderRow, Kept
from svc.mail.providers.imap.session import Using
from svc.mail.providers.seam import ProviderLabel, Refused, Unreachable
from svc.store import Store, Tx

_AWAY: Final = frozenset({SPAM, TRASH})
_NOT_READ: Final = "The folders of this mailbox are not known yet."


@dataclass(frozen=True, kw_only=True)
class Relabelling:
    """One change. The caller holds the session's turn."""

    account_id: str
    store: Store
    using: Using

    async def change(self, rows: Sequence[Kept], *, add: frozenset[str], remove: frozenset[str]) -> None:
        """Raises :class:`Refused`, :class:`Unreachable` and what the session raises; some may be changed then."""
        for group in _by_folder(rows):
            await self._change(group, add=add, remove=remove)

    async def all_mail(self) -> FolderRow:
        """The folder of all messages that are neither in spam nor in trash."""
        return await self._folder(ARCHIVE)

    async def make_label(self, name: str) -> ProviderLabel:
        label = labels.new_label(name)
        await self.using.command("CREATE", Text(label.removeprefix(labels.OWN).encode("ascii")))
        await self.store.write(keyword_rows.make, account_id=self.account_id, label=label, name=name)
        return ProviderLabel(id=label, name=name, system=False)

    async def _change(self, rows: Sequence[Kept], *, add: frozenset[str], remove: frozenset[str]) -> None:
        first = rows[0]
        if first.uid is None:
            raise Unreachable(NOT_THERE)
        goes_to = _folder_after(first.place.folder, add=add, remove=remove)
        target = None if goes_to == first.place.folder else await self._folder(goes_to)
        opened = await self.using.open(first.folder_name, anew=True)
        if opened.uid_validity != first.uid_validity:
            raise Unreachable(NUMBERED_ANEW)
        uids: dict[str, int] = {row.id: row.uid for row in rows if row.uid is not None}
        if target is None or goes_to in _AWAY:
            await self._tell(uids.values(), add=add, remove=remove)
        if target is not None:
            uids = await self._move(rows, target)
        if target is not None and goes_to not in _AWAY:
            await self._tell(uids.values(), add=add, remove=remove)
        await self.store.write(
            _store_all,
            account_id=self.account_id,
            rows=rows,
            uids=uids,
            folder_id=first.folder_id if target is None else target.id,
            folder=goes_to,
            add=add,
            remove=remove,
        )

    async def _folder(self, label: str) -> FolderRow:
        known = await self.store.read(folder_rows.folders, account_id=self.account_id)
        found = next((one for one in known if one.label == label and one.uid_validity), None)
        if found is not None:
            return found
        if label == ARCHIVE or any(one.messages == UNFINISHED for one in known):
            raise Unreachable(_NOT_READ)
        raise Refused(NO_FOLDER)

    async def _tell(self, uids: Collection[int], *, add: frozenset[str], remove: frozenset[str]) -> None:
        """Sends the change of flags and labels, in the folder that is open."""
        if not uids:
            return
        among = str(uids_of(uids))
        for sign, changed, seen in (("+", add, remove), ("-", remove, add)):
            flags = ["\\Seen"] * (UNREAD in seen) + ["\\Flagged"] * (STARRED in changed)
            if flags:
                await self.using.command("UID", "STORE", among, f"{sign}FLAGS.SILENT", f"({' '.join(flags)})")
            words = tuple(word for word in map(labels.word_of, sorted(changed)) if word is not None)
            if words:
                await self.using.command("UID", "STORE", among, f"{sign}X-GM-LABELS", Listed(words))

    async def _move(self, rows: Sequence[Kept], target: FolderRow) -> dict[str, int]:
        """Moves messages, and opens the target. Returns the new UIDs by message id, as far as they are known."""
        if "MOVE" not in self.using.able:
            raise Refused(NO_MOVE)
        asked = {row.uid: row for row in rows if row.uid is not None}
        answer = await self.using.command("UID", "MOVE", str(uids_of(asked)), Text(target.name))
        told = copied(answer, target)
        found = {row.id: told[uid] for uid, row in asked.items() if uid in told}
        await self.using.open(target.name)
        for row in asked.values():
            if row.id not in found and row.server_id is not None:
                search = await self.using.command("UID", "SEARCH", "X-GM-MSGID", str(int(row.server_id, 16)))
                uids = [uid for one in search.all(Found) for uid in one.uids.uids(at_most=2)]
                if len(uids) == 1:
                    found[row.id] = uids[0]
        return found


def _by_folder(rows: Iterable[Kept]) -> list[list[Kept]]:
    """Groups messages by folder. Those without a UID at the moment come last, so that they delay no others."""
    found: dict[tuple[bool, int], list[Kept]] = {}
    for row in rows:
        found.setdefault((row.uid is None, row.folder_id), []).append(row)
    return [found[key] for key in sorted(found)]


def _folder_after(folder: str, *, add: frozenset[str], remove: frozenset[str]) -> str:
    """The folder of a message after a change. To add the inbox label to a message in spam or trash moves it out."""
    if wanted := [one for one in (TRASH, SPAM) if one in add]:
        return wanted[0]
    return ARCHIVE if folder in remove or (folder in _AWAY and INBOX in add) else folder


def _after(row: Kept, folder: str, *, add: frozenset[str], remove: frozenset[str]) -> Place:
    """The state of a message after a change. Labels that a client can't set (sent, draft) stay as they are."""
    carried = (labels_of(row.place) - remove) | add
    told = frozenset(label for label in carried if labels.word_of(label) is not None)
    kept = frozenset(label for label in row.place.keywords if labels.word_of(label) is None)
    return replace(
        row.place, folder=folder, seen=UNREAD not in carried, flagged=STARRED in carried, keywords=told | kept
    )


def _store_all(
    tx: Tx,
    *,
    account_id: str,
    rows: Sequence[Kept],
    uids: dict[str, int],
    folder_id: int,
    folder: str,
    add: frozenset[str],
    remove: frozenset[str],
) -> None:
    for row in rows:
        message_rows.store_change(
            tx,
            account_id=account_id,
            before=row,
            after=_after(row, folder, add=add, remove=remove),
            folder_id=folder_id,
            uid=uids.get(row.id),
            expected=(labels_of(row.place) - remove) | add,
        )
