"""A look at the whole mailbox: compares what the server has now with what is stored, and stores the differences.

First it asks every folder for its changes: messages that vanished, flags that changed, new messages. Only then it reads
the new messages, so that a message that was moved is recognized. A folder's new state is stored after all its changes;
after an interruption, the next look asks for them again.

A message with the flag ``\\Deleted`` counts as gone: programs that do not move messages to the trash only set this
flag, and remove the messages much later. Without the flag, it comes back.

A server with CONDSTORE reports the changes since a number. From other servers, flags are read: of the newest messages
each time, and of all messages every ten minutes. Each look also counts the messages. If the counts differ, all UIDs are
compared, since servers do not always report vanished messages correctly.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from svc.clock import MINUTE_MS, Clock, Millis
from svc.log import Log
from svc.mail.model import DRAFT, INBOX
from svc.mail.providers.folders import ARCHIVE
from svc.mail.providers.imap import labels, roles
from svc.mail.providers.imap.answers import CommandRefused
from svc.mail.providers.imap.namespaces import own_folders
from svc.mail.providers.imap.own_drafts import copies_among
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
from svc.mail.providers.seam import Listed, Unreachable
from svc.nursery import ThreadPool
from svc.store import Store, Tx

MEET_AT_ONCE: Final = 500
"""The most new messages in one command and one transaction."""
NEWEST_FLAGS: Final = 300
ALL_FLAGS_EVERY_MS: Final = 10 * MINUTE_MS
FLAGS_AT_ONCE: Final = 2_000
"""The most known messages whose flags are asked for in one command."""
MAX_MESSAGES: Final = 5_000_000
MAX_SET_CHARS: Final = 4_000
"""The longest set of UIDs in one command; servers accept lines of 8,000 characters."""
ALL: Final = f"1:{MAX_UID}"

MEET: Final = (
    "(UID FLAGS INTERNALDATE RFC822.SIZE "
    "BODY.PEEK[HEADER.FIELDS (MESSAGE-ID X-MICROSOFT-ORIGINAL-MESSAGE-ID X-SVC-OUTGOING DATE)])"
)
MEET_LABELLED: Final = MEET.replace("(UID FLAGS ", "(UID FLAGS X-GM-LABELS X-GM-MSGID X-GM-THRID ")
"""For servers that keep labels."""
_FLAGS: Final = "(UID FLAGS)"
_FLAGS_LABELLED: Final = "(UID FLAGS X-GM-LABELS)"
_DELETED: Final = "DELETED"
_STATUS: Final = "MESSAGES UIDNEXT UIDVALIDITY"


@dataclass(kw_only=True)
class Changed:
    """The changes of one folder, to be stored. ``lost``: UIDs that vanished; ``None``: all known ones. ``marked``:
    those that are marked as deleted."""

    folder: FolderRow
    opened: Opened
    lost: list[int] | None = field(default_factory=list)
    marked: list[int] = field(default_factory=list)
    flags: list[Flags] = field(default_factory=list)
    new: list[int] = field(default_factory=list)
    looked: bool = False
    begins: bool = False
    """Whether it is the first reading of the folder, or of one with new UIDs."""


@dataclass(kw_only=True)
class Count:
    """How far a look is with the new messages of all folders. Those that were stored before count, too: a look that was
    interrupted goes on with them."""

    listed: Listed | None = None
    done: int = 0
    total: int = 0

    async def add(self, messages: int) -> None:
        self.done += messages
        if self.listed is not None:
            await self.listed(self.done, self.total)


@dataclass(frozen=True, kw_only=True)
class Look:
    """One look. The caller holds the session's turn."""

    account_id: str
    store: Store
    threads: ThreadPool
    clock: Clock
    log: Log
    using: Using
    tell: bool
    """Whether new messages are reported to sync: only if it has read the whole mailbox before."""
    listed: Listed | None = None
    """Called after each part of the new messages that was stored."""
    left_out: list[str] = field(default_factory=list)
    """The names of listed folders that are not the user's own, as of the last round."""
    unread: set[int] = field(default_factory=set)
    """The folders whose first reading was refused, or did not come to its end because they got new UIDs meanwhile."""
    missed: set[int] = field(default_factory=set)
    """The folders some of whose new messages had gone before they were read: maybe into a folder that had been compared
    before."""

    async def take(self) -> None:
        """Looks at all folders. If messages vanished, looks once more at once before they count as deleted: they may
        have been moved to a folder that was read earlier in the same round. In the first look, looks once more also if
        the reading of a folder failed, or missed messages: what is read only later counts as new mail."""
        self.unread.clear()
        self.missed.clear()
        if await self._round() or self.unread or (self.missed and not self.tell):
            await self._round()

    async def take_newest(self, *, at_most: int) -> None:
        """Before the first look: reads the newest messages of the inbox, or of all mail at a server that keeps labels.
        The folder counts as unfinished, so that the first look finds the others as new ones."""
        listed, _ = await self._list()
        folders = await self.store.write(folder_rows.store_folders, account_id=self.account_id, found=listed)
        folder = next(one for one in folders if one.label == (ARCHIVE if self.using.keeps_labels else INBOX))
        if folder.is_read:
            return
        opened = await self.using.open(folder.name, anew=True)
        there, deleted = await self._uids(), await self._uids(which=_DELETED)
        newest = sorted(uid for uid in there.uids(at_most=MAX_MESSAGES) if uid not in deleted)[-at_most:]
        if folder.uid_validity != opened.uid_validity:
            begins = Changed(folder=folder, opened=opened, lost=None, begins=True)
            await self.store.write(_store_known, account_id=self.account_id, changed=[begins])
        known = set(await self.store.read(queries.known_uids, folder_id=folder.id))
        await self._read(folder, opened, [uid for uid in newest if uid not in known], Count())

    async def _round(self) -> bool:
        """Looks at each folder once. Messages that were lost before and are still missing count as deleted. Returns
        whether others are lost now."""
        lost_before = await self.store.read(queries.lost, account_id=self.account_id)
        listed, states = await self._list()
        folders = await self.store.write(folder_rows.store_folders, account_id=self.account_id, found=listed)
        changed = [
            one for folder in folders if (one := await self._compare(folder, states.get(folder.name))) is not None
        ]
        if changed:
            await self.store.write(_store_known, account_id=self.account_id, changed=changed)
        count = await self._begin_count(sum(len(one.new) for one in changed))
        # Folders with new UIDs first, so that their messages are recognized in their own folder. One of them may also
        # have a copy in another folder, by a move that was interrupted, and that move must find its original.
        for one in sorted(changed, key=lambda one: not one.begins):
            await self._meet(one, count)
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
                raise Unreachable(labels.HIDDEN)  # all messages are in this folder; the inbox is only a label
            await self.store.write(
                keyword_rows.store_listed, account_id=self.account_id, found=labels.own_labels(folders)
            )
        else:
            own, self.left_out[:] = own_folders(folders, self.using.namespaces)
            listed = roles.places(own)
            if not any(one.label == INBOX for one in listed):
                raise Unreachable("The mail server lists no inbox.")  # every mailbox has one: the list is incomplete
        states = {one.name: one for one in answer.all(FolderStatus)}
        for one in listed:
            if one.name not in states:
                try:
                    told = await self.using.command("STATUS", Text(one.name), items)
                except CommandRefused:
                    continue  # if the folder can't be opened either, _compare finds out
                states.update((one.name, state) for state in told.all(FolderStatus))
        return listed, states

    async def _compare(self, folder: FolderRow, state: FolderStatus | None) -> Changed | None:
        """The changes of a folder; ``None`` if there are none, or if it can't be opened. Raises :class:`CommandRefused`
        for the inbox."""
        if state is not None and not self._may_differ(folder, state):
            return None
        try:
            opened = await self.using.open(folder.name, anew=True)
        except CommandRefused:
            if folder.label == INBOX:
                raise  # each mailbox has one: a mailbox whose inbox stays closed would seem to be empty
            if folder.id in self.unread:
                await self.store.write(folder_rows.note_closed, folder_id=folder.id)
            elif not folder.was_looked_at:
                self.unread.add(folder.id)
            return None
        changed = Changed(folder=folder, opened=opened)
        if folder.uid_validity != opened.uid_validity or not folder.is_read:
            await self._begin(changed)
            return changed
        known = set(await self.store.read(queries.known_uids, folder_id=folder.id))
        if folder.modseq and opened.modseq:
            whole = await self._since(changed, known)
        else:
            whole = await self._newest(changed, known)
        gone = {*(changed.lost or ()), *changed.marked}
        if not whole or len(known - gone) + len(changed.new) != opened.messages:
            await self._reconcile(changed, known, whole=whole)
        return changed

    async def _begin(self, changed: Changed) -> None:
        """The first reading of a folder, or of one with new UIDs. If a first reading was interrupted, it goes on behind
        the messages that it has stored: a large mailbox on a bad line would never come to its end."""
        folder, changed.looked, changed.begins, changed.lost = changed.folder, True, True, None
        there, deleted = set((await self._uids()).uids(at_most=MAX_MESSAGES)), await self._uids(which=_DELETED)
        known = set[int]()
        if folder.uid_validity == changed.opened.uid_validity:
            known = set(await self.store.read(queries.known_uids, folder_id=folder.id))
            changed.lost = sorted(known - there)
            met = sorted(known & there)
            for start in range(0, len(met), FLAGS_AT_ONCE):  # their flags may have changed since
                await self._ask_flags(changed, known, _set_of(met[start : start + FLAGS_AT_ONCE]))
        changed.new = sorted(uid for uid in there - known if uid not in deleted)

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
        """Asks for the changes since the stored number (RFC 7162). Returns whether the server answered."""
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
        """Those that are really gone: some servers also report existing messages as vanished."""
        if not vanished:
            return []
        there = await self._uids(_set_of(vanished))
        return [uid for uid in vanished if uid not in there]

    async def _newest(self, changed: Changed, known: set[int]) -> bool:
        """Without CONDSTORE: reads the new messages, and the flags of the newest ones, or of all if that is due."""
        changed.looked = self.clock.now() - changed.folder.looked_at > ALL_FLAGS_EVERY_MS
        ordered = sorted(known)
        firsts = (ordered if changed.looked else ordered[-NEWEST_FLAGS:])[::FLAGS_AT_ONCE] or [1]
        if changed.looked:
            firsts[0] = 1
        for first, after in zip(firsts, [*firsts[1:], MAX_UID + 1], strict=True):
            await self._ask_flags(changed, known, f"{first}:{after - 1}")
        return True

    async def _ask_flags(self, changed: Changed, known: set[int], uids: str) -> None:
        """Reads the flags of some messages, and keeps those that changed: a transaction that compared all of a large
        mailbox would hold up every other one."""
        answer = await self.using.command("UID", "FETCH", uids, self._flags)
        before = len(changed.flags)
        self._sort(changed, known, answer.all(Message))
        changed.flags[before:] = await self.store.read(
            message_rows.other_flags, folder_id=changed.folder.id, found=changed.flags[before:]
        )

    def _sort(self, changed: Changed, known: set[int], found: Iterable[Message]) -> None:
        new: set[int] = set()
        for one in found:
            if one.uid is None:
                continue
            if is_deleted(one):
                changed.marked += [one.uid] if one.uid in known else []
            elif one.uid not in known:
                new.add(one.uid)
            elif one.flags is not None:
                changed.flags.append(flags_of(one.uid, one, labelled=self.using.keeps_labels))
        changed.new = sorted({*changed.new, *new})

    @property
    def _flags(self) -> str:
        return _FLAGS_LABELLED if self.using.keeps_labels else _FLAGS

    async def _reconcile(self, changed: Changed, known: set[int], *, whole: bool) -> None:
        """Compares all UIDs: only that is certain. It is not needed if messages that are marked as deleted explain the
        count. ``whole``: the server has answered what changed."""
        deleted = set((await self._uids(which=_DELETED)).uids(at_most=MAX_MESSAGES))
        changed.marked = sorted(known & deleted)
        changed.new = sorted(set(changed.new) - deleted)
        if whole and len((known - set(changed.lost or ())) | {*changed.new} | deleted) == changed.opened.messages:
            return
        there = set((await self._uids()).uids(at_most=MAX_MESSAGES))
        changed.lost = sorted(known - there)
        changed.new = sorted(there - known - deleted)

    async def _uids(self, among: str = ALL, *, which: str | None = None) -> UidSet:
        """The UIDs that exist. The search key ``UID`` is needed: without it, iCloud answers with sequence numbers."""
        how = ["RETURN (ALL)"] if "ESEARCH" in self.using.able else []
        answer = await self.using.command("UID", "SEARCH", *how, "UID", among, *([] if which is None else [which]))
        found = UidSet()
        for one in answer.all(Found):
            found |= one.uids
        return found

    async def _begin_count(self, new: int) -> Count:
        if self.listed is None:
            return Count()
        known = await self.store.read(queries.placed, account_id=self.account_id)
        count = Count(listed=self.listed, done=known, total=known + new)
        await count.add(0)
        return count

    async def _meet(self, changed: Changed, count: Count) -> None:
        """Reads and stores the new messages; then stores the folder's state."""
        await self._read(changed.folder, changed.opened, changed.new, count)
        opened = changed.opened
        if changed.begins and not await self._is_still(changed):
            self.unread.add(changed.folder.id)
            return
        await self.store.write(
            folder_rows.store_state,
            folder_id=changed.folder.id,
            uid_validity=opened.uid_validity,
            uid_next=opened.uid_next,
            modseq=opened.modseq,
            messages=opened.messages,
            looked=changed.looked,
        )

    async def _is_still(self, changed: Changed) -> bool:
        """Whether the folder has still the UIDs of its first reading. A server may find nothing in an open folder that
        was replaced."""
        try:
            opened = await self.using.open(changed.folder.name, anew=True)
        except CommandRefused:
            return False
        return opened.uid_validity == changed.opened.uid_validity

    async def _read(self, folder: FolderRow, opened: Opened, uids: Sequence[int], count: Count) -> None:
        """Reads and stores these new messages, newest first, in several transactions."""
        newest_first = sorted(uids, reverse=True)
        for start in range(0, len(newest_first), MEET_AT_ONCE):
            await self.using.open(folder.name)
            some = UidSet.of(newest_first[start : start + MEET_AT_ONCE])
            answer = await self.using.command(
                "UID", "FETCH", str(some), MEET_LABELLED if self.using.keeps_labels else MEET
            )
            found = [one for one in answer.all(Message) if not is_deleted(one)]
            ours = await self._ours(found) if folder.label == DRAFT else frozenset()
            met = arrivals(found, wanted=some, now=self.clock.now(), ours=ours)
            await self.store.write(
                message_rows.store_arrivals,
                account_id=self.account_id,
                folder=folder,
                uid_validity=opened.uid_validity,
                found=met,
                is_told=self.tell,
            )
            if len({one.uid for one in met}) < len(some):
                self.missed.add(folder.id)
            await count.add(len(some))

    async def _ours(self, met: Sequence[Message]) -> frozenset[int]:
        return await copies_among(
            met,
            account_id=self.account_id,
            store=self.store,
            threads=self.threads,
            log=self.log,
            using=self.using,
        )


def _set_of(uids: Iterable[int]) -> str:
    """These UIDs in a command, or all if the command would become too long."""
    some = str(UidSet.of(uids))
    return some if len(some) <= MAX_SET_CHARS else ALL


def mark_of(*, message_id: str | None, arrived_at: Millis, size: int) -> str:
    """The mark by which a message is recognized in another folder: from Message-ID and size. Without a Message-ID, from
    the time of arrival, which stays the same when a message is moved."""
    return _hashed(f"{message_id or arrived_at}\n{size}")


def filing_mark(message_id: str | None) -> str | None:
    """The mark of our own copy of a sent mail: without the size, since a server may have changed it."""
    return None if message_id is None else _hashed(message_id)


def _store_known(tx: Tx, *, account_id: str, changed: Sequence[Changed]) -> None:
    for one in changed:
        message_rows.lose(tx, account_id=account_id, folder_id=one.folder.id, uids=one.lost)
        message_rows.lose(tx, account_id=account_id, folder_id=one.folder.id, uids=one.marked, are_there=True)
        message_rows.store_flags(tx, account_id=account_id, folder_id=one.folder.id, found=one.flags)
        if one.begins:
            folder_rows.begin(tx, folder_id=one.folder.id, uid_validity=one.opened.uid_validity)


def is_deleted(message: Message) -> bool:
    return "\\deleted" in (message.flags or ())


def arrivals(found: Iterable[Message], *, wanted: UidSet, now: Millis, ours: Set[int] = frozenset()) -> list[Arrival]:
    """``ours``: the UIDs of copies of drafts that are kept here."""
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
                is_ours=one.uid in ours,
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
    """The labels of a message beside its folder; ``None`` if the server did not send them. ``labelled``: the server
    keeps labels."""
    if labelled:
        return None if message.labels is None else labels.labels_in(message.labels)
    if message.flags is None:
        return None
    return frozenset(one for one in map(roles.keyword_label, message.flags) if one is not None)


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
