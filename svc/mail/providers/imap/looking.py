"""A look at the whole mailbox: what its server has now is written down beside what it had.

First every folder is asked what changed in it: what vanished, which flags are others, which messages are new. Only then
are the new ones met, so that one that was moved is known again. A folder's new state is stored when all of it is
written down; whatever ends before is asked again.

Where the server counts changes (CONDSTORE) it tells what changed since; where it does not, flags are read: of the
newest each time, of all each ten minutes. Each time the messages are counted, and where the numbers disagree all UIDs
are compared: what servers tell of what vanished is not always true.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from svc.clock import MINUTE_MS, Clock, Millis
from svc.mail.model import INBOX
from svc.mail.providers.folders import ARCHIVE
from svc.mail.providers.imap import labels, roles
from svc.mail.providers.imap.answers import CommandRefused
from svc.mail.providers.imap.protocol.messages import Message
from svc.mail.providers.imap.protocol.responses import Folder, FolderStatus, Found, Vanished
from svc.mail.providers.imap.protocol.sets import MAX_UID, UidSet
from svc.mail.providers.imap.protocol.writing import Text
from svc.mail.providers.imap.rows import folders as folder_rows
from svc.mail.providers.imap.rows import keywords as keyword_rows
from svc.mail.providers.imap.rows import messages as message_rows
from svc.mail.providers.imap.rows import queries
from svc.mail.providers.imap.rows.model import Arrival, Flags, FolderRow
from svc.mail.providers.imap.session import Opened, Using
from svc.mail.providers.seam import Unreachable
from svc.store import Store, Tx

MEET_AT_ONCE: Final = 500
"""New messages of one command and one transaction."""
NEWEST_FLAGS: Final = 300
ALL_FLAGS_EVERY_MS: Final = 10 * MINUTE_MS
MAX_MESSAGES: Final = 5_000_000
MAX_SET_CHARS: Final = 4_000
"""Of a set of UIDs in one command; servers take lines of 8,000."""
ALL: Final = f"1:{MAX_UID}"

MEET: Final = (
    "(UID FLAGS INTERNALDATE RFC822.SIZE "
    "BODY.PEEK[HEADER.FIELDS (MESSAGE-ID X-MICROSOFT-ORIGINAL-MESSAGE-ID X-SVC-OUTGOING DATE)])"
)
MEET_LABELLED: Final = MEET.replace("(UID FLAGS ", "(UID FLAGS X-GM-LABELS X-GM-MSGID X-GM-THRID ")
"""At servers that keep labels."""
_FLAGS: Final = "(UID FLAGS)"
_FLAGS_LABELLED: Final = "(UID FLAGS X-GM-LABELS)"
_STATUS: Final = "MESSAGES UIDNEXT UIDVALIDITY"


@dataclass(kw_only=True)
class Changed:
    """What is to be written down of one folder. ``lost``: ``None`` where all that was known is."""

    folder: FolderRow
    opened: Opened
    lost: list[int] | None = field(default_factory=list)
    flags: list[Flags] = field(default_factory=list)
    new: list[int] = field(default_factory=list)
    looked: bool = False


@dataclass(frozen=True, kw_only=True)
class Look:
    """One look, by who has the turn."""

    account_id: str
    store: Store
    clock: Clock
    using: Using
    tell: bool
    """Whether sync has to hear of what is new: it has read the mailbox before."""

    async def take(self) -> None:
        """What is lost then was perhaps moved to a folder that had been asked before: so all of them are asked once
        more, at once, before it counts as deleted."""
        if await self._round():
            await self._round()

    async def _round(self) -> bool:
        """Whether something is lost that was not lost before. What was, and was not found, is deleted."""
        lost_before = await self.store.read(queries.lost, account_id=self.account_id)
        listed, states = await self._list()
        folders = await self.store.write(folder_rows.store_folders, account_id=self.account_id, found=listed)
        changed = [
            one for folder in folders if (one := await self._compare(folder, states.get(folder.name))) is not None
        ]
        if changed:
            await self.store.write(_store_known, account_id=self.account_id, changed=changed)
        # A folder that was numbered anew goes first, so that its messages are known again where they lay: one may lie
        # elsewhere, too, by a move that ended after its copy, and that move has to find what it is to remove.
        for one in sorted(changed, key=lambda one: one.lost is not None):
            await self._meet(one)
        return await self.store.write(message_rows.forget_lost, account_id=self.account_id, lost_before=lost_before)

    async def _list(self) -> tuple[list[roles.Place], dict[bytes, FolderStatus]]:
        await self.using.leave()
        items = f"({_STATUS} HIGHESTMODSEQ)" if self.using.keeps_modseq else f"({_STATUS})"
        if self.using.keeps_labels:
            answer = await self.using.command("LIST", Text(b""), Text(b"*"))
        elif {"LIST-EXTENDED", "LIST-STATUS", "SPECIAL-USE"} <= self.using.able:
            answer = await self.using.command("LIST", Text(b""), Text(b"*"), f"RETURN (SPECIAL-USE STATUS {items})")
        else:
            answer = await self.using.command("LIST", Text(b""), Text(b"*"))
        folders = list(answer.all(Folder))
        if self.using.keeps_labels:
            listed = labels.places(folders)
            if not any(one.label == ARCHIVE for one in listed):
                raise Unreachable(labels.HIDDEN)  # the inbox is a label there, and this the whole mailbox
            await self.store.write(
                keyword_rows.store_listed, account_id=self.account_id, found=labels.own_labels(folders)
            )
        else:
            listed = roles.places(folders)
            if not any(one.label == INBOX for one in listed):
                raise Unreachable("The mail server lists no inbox.")  # every one has it: this is not the whole list
        states = {one.name: one for one in answer.all(FolderStatus)}
        for one in listed:
            if one.name not in states:
                try:
                    told = await self.using.command("STATUS", Text(one.name), items)
                except CommandRefused:
                    continue  # one that can't be opened either says so there
                states.update((one.name, state) for state in told.all(FolderStatus))
        return listed, states

    async def _compare(self, folder: FolderRow, state: FolderStatus | None) -> Changed | None:
        """What changed in a folder; ``None`` where nothing did, or it can't be opened."""
        if state is not None and not self._may_differ(folder, state):
            return None
        try:
            opened = await self.using.open(folder.name, anew=True)
        except CommandRefused:
            return None
        changed = Changed(folder=folder, opened=opened)
        if folder.uid_validity != opened.uid_validity or folder.uid_validity == 0:
            changed.lost, changed.looked = None, True
            changed.new = (await self._uids()).uids(at_most=MAX_MESSAGES)
            return changed
        known = set(await self.store.read(queries.known_uids, folder_id=folder.id))
        if folder.modseq and opened.modseq:
            whole = await self._since(changed, known)
        else:
            whole = await self._newest(changed, known)
        lost = set(changed.lost or ())
        if not whole or len(known - lost) + len(changed.new) != opened.messages:
            await self._reconcile(changed, known)
        return changed

    def _may_differ(self, folder: FolderRow, state: FolderStatus) -> bool:
        told = state.items
        if (told.get("UIDVALIDITY") or 1) != folder.uid_validity:
            return True
        if told.get("MESSAGES") != folder.messages or told.get("UIDNEXT", 0) != folder.uid_next:
            return True
        if folder.modseq and told.get("HIGHESTMODSEQ", 0):
            return told["HIGHESTMODSEQ"] != folder.modseq
        return (
            folder.label == INBOX or self.using.keeps_labels or self.clock.now() - folder.looked_at > ALL_FLAGS_EVERY_MS
        )

    async def _since(self, changed: Changed, known: set[int]) -> bool:
        """By the server's count of changes (RFC 7162). Whether it told all of it."""
        since = f"CHANGEDSINCE {changed.folder.modseq}"
        if self.using.tells_vanished:
            since += " VANISHED"
        try:
            answer = await self.using.command("UID", "FETCH", ALL, self._flags, f"({since})")
        except CommandRefused:
            return False
        self._sort(changed, known, answer.all(Message))
        vanished = UidSet()
        for one in answer.all(Vanished):
            vanished |= one.uids
        changed.lost = await self._confirmed([uid for uid in known if uid in vanished])
        return True

    async def _confirmed(self, vanished: Sequence[int]) -> list[int]:
        """Those that are really gone: some servers tell that of mails that are there."""
        if not vanished:
            return []
        among = str(UidSet.of(vanished))
        there = await self._uids(among if len(among) <= MAX_SET_CHARS else ALL)
        return [uid for uid in vanished if uid not in there]

    async def _newest(self, changed: Changed, known: set[int]) -> bool:
        """Without such a count: what is new, and the flags of the newest; of all where that is due."""
        changed.looked = self.clock.now() - changed.folder.looked_at > ALL_FLAGS_EVERY_MS
        newest = sorted(known)[-NEWEST_FLAGS:]
        first = 1 if changed.looked or not newest else newest[0]
        answer = await self.using.command("UID", "FETCH", f"{first}:{MAX_UID}", self._flags)
        self._sort(changed, known, answer.all(Message))
        return True

    def _sort(self, changed: Changed, known: set[int], found: Iterable[Message]) -> None:
        new: set[int] = set()
        for one in found:
            if one.uid is None:
                continue
            if one.uid not in known:
                new.add(one.uid)
            elif one.flags is not None:
                changed.flags.append(flags_of(one.uid, one, labelled=self.using.keeps_labels))
        changed.new = sorted(new)

    @property
    def _flags(self) -> str:
        return _FLAGS_LABELLED if self.using.keeps_labels else _FLAGS

    async def _reconcile(self, changed: Changed, known: set[int]) -> None:
        """By all UIDs that there are: nothing else is certain."""
        there = set((await self._uids()).uids(at_most=MAX_MESSAGES))
        changed.lost = sorted(known - there)
        changed.new = sorted(there - known)

    async def _uids(self, among: str = ALL) -> UidSet:
        """Also by those who answer a search without ``UID`` with numbers (iCloud)."""
        how = ["RETURN (ALL)"] if "ESEARCH" in self.using.able else []
        answer = await self.using.command("UID", "SEARCH", *how, "UID", among)
        found = UidSet()
        for one in answer.all(Found):
            found |= one.uids
        return found

    async def _meet(self, changed: Changed) -> None:
        """The new messages, newest first, a transaction for some; the last one stores the folder's state."""
        uids = sorted(changed.new, reverse=True)
        for start in range(0, len(uids), MEET_AT_ONCE):
            await self.using.open(changed.folder.name)
            some = UidSet.of(uids[start : start + MEET_AT_ONCE])
            answer = await self.using.command(
                "UID", "FETCH", str(some), MEET_LABELLED if self.using.keeps_labels else MEET
            )
            met = arrivals(answer.all(Message), wanted=some, now=self.clock.now())
            await self.store.write(
                message_rows.store_arrivals,
                account_id=self.account_id,
                folder=changed.folder,
                uid_validity=changed.opened.uid_validity,
                found=met,
                is_told=self.tell,
            )
        opened = changed.opened
        await self.store.write(
            folder_rows.store_state,
            folder_id=changed.folder.id,
            uid_validity=opened.uid_validity,
            uid_next=opened.uid_next,
            modseq=opened.modseq,
            messages=opened.messages,
            looked=changed.looked,
        )


def mark_of(*, message_id: str | None, arrived_at: Millis, size: int) -> str:
    """By which a message is known again in another folder. Without a Message-ID it is its time of arrival, which
    stays with a message that is moved."""
    return _hashed(f"{message_id or arrived_at}\n{size}")


def filing_mark(message_id: str | None) -> str | None:
    """By which our own copy is known, whose size a server may have changed."""
    return None if message_id is None else _hashed(message_id)


def _store_known(tx: Tx, *, account_id: str, changed: Sequence[Changed]) -> None:
    for one in changed:
        message_rows.lose(tx, account_id=account_id, folder_id=one.folder.id, uids=one.lost)
        message_rows.store_flags(tx, account_id=account_id, folder_id=one.folder.id, found=one.flags)


def arrivals(found: Iterable[Message], *, wanted: UidSet, now: Millis) -> list[Arrival]:
    met: list[Arrival] = []
    for one in found:
        if one.uid is None or one.uid not in wanted:
            continue
        arrived_at = one.arrived_at if one.arrived_at is not None and one.arrived_at >= 0 else now
        size = one.size or 0
        flags = flags_of(one.uid, one, labelled=one.server_id is not None)
        met.append(
            Arrival(
                uid=one.uid,
                mark=mark_of(message_id=one.message_id, arrived_at=arrived_at, size=size),
                name=filing_mark(one.message_id),
                filings=frozenset(filter(None, map(filing_mark, (one.message_id, one.original_message_id)))),
                draft_mark=one.draft_mark,
                arrived_at=arrived_at,
                size=size,
                seen=flags.seen,
                flagged=flags.flagged,
                keywords=flags.keywords or frozenset(),
                server_id=one.server_id,
                server_thread=one.server_thread or "",
            )
        )
    return met


def flags_of(uid: int, message: Message, *, labelled: bool) -> Flags:
    return Flags(
        uid=uid,
        seen="\\seen" in (message.flags or ()),
        flagged="\\flagged" in (message.flags or ()) or labels.is_starred(message.labels or ()),
        keywords=keywords_of(message, labelled=labelled),
    )


def keywords_of(message: Message, *, labelled: bool) -> frozenset[str] | None:
    """The labels that no folder stands for; ``None`` where the server did not say. ``labelled``: it keeps labels."""
    if labelled:
        return None if message.labels is None else labels.labels_in(message.labels)
    if message.flags is None:
        return None
    return frozenset(one for one in map(roles.keyword_label, message.flags) if one is not None)


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
