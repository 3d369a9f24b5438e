"""Keeps copies of the drafts that were written here as messages in the server's drafts folder.

A message there can't be changed: the new copy is added, then the old one is removed. If that is interrupted, the next
call finds all copies of the draft by their mark and leaves only one, so no UIDs have to be stored. What another program
made of a copy is a draft of its own, and stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final

from svc.clock import Clock
from svc.log import Log
from svc.mail.model import DRAFT, INBOX
from svc.mail.providers.draft_mark import MARK_FIELD, MAX_HEAD_BYTES, draft_mark, mark_in
from svc.mail.providers.imap.answers import CommandRefused
from svc.mail.providers.imap.changing import Changing
from svc.mail.providers.imap.looking import ALL, MEET, arrivals, is_deleted
from svc.mail.providers.imap.own_drafts import content_digest, copies_among, digest, text_of
from svc.mail.providers.imap.protocol.messages import Message
from svc.mail.providers.imap.protocol.responses import Found
from svc.mail.providers.imap.protocol.sets import UidSet
from svc.mail.providers.imap.protocol.writing import Bytes, Text
from svc.mail.providers.imap.rows import drafts as draft_rows
from svc.mail.providers.imap.rows import folders as folder_rows
from svc.mail.providers.imap.rows import messages as message_rows
from svc.mail.providers.imap.rows import queries as places
from svc.mail.providers.imap.rows.model import FolderRow
from svc.mail.providers.imap.session import Using
from svc.mail.providers.seam import Refused, Unreachable
from svc.nursery import ThreadPool
from svc.store import Store

MAX_KNOWN: Final = 300
"""How many of the newest known copies are checked, since the length of a command is limited."""
NO_REMOVAL: Final = "This mail server can't remove one draft without removing others with it."
IN_ALL_MAIL: Final = "On this mail server, a draft that is replaced would stay among all mail."
_NOT_READ: Final = "The folders of this mailbox are not known yet."


@dataclass(frozen=True, kw_only=True)
class Drafting:
    """``turn``: gives the connection for changes."""

    account_id: str
    store: Store
    threads: ThreadPool
    clock: Clock
    log: Log
    turn: Callable[[], AbstractAsyncContextManager[Using]]

    async def keep(
        self, raw: bytes, *, mark: str, instead_of: Sequence[str] = (), thread_id: str | None = None
    ) -> None:
        async with self.turn() as using:
            if using.keeps_labels:
                raise Refused(IN_ALL_MAIL)
            if "UIDPLUS" not in using.able:
                raise Refused(NO_REMOVAL)
            folder = await self._folder() or await self._made(using)
            before = await self._found(using, folder, mark) | await self._originals(using, folder, instead_of)
            new = draft_mark(raw[:MAX_HEAD_BYTES])
            assert new is not None
            await self._claim(raw, mark=new, content=await content_digest(raw, self.threads, self.log))
            told = await using.command("APPEND", Text(folder.name), "(\\Draft \\Seen)", Bytes(raw))
            validity, uid = (*told.codes().get("APPENDUID", ()), b"", b"")[:2]
            if uid.isdigit() and validity == str(folder.uid_validity).encode():
                await self._note(using, folder, int(uid), raw, mark=new)
            await _remove(using, before)
            await self.store.write(draft_rows.release, account_id=self.account_id, draft=mark, but=new)

    async def drop(self, mark: str, *, instead_of: Sequence[str] = ()) -> None:
        async with self.turn() as using:
            folder = await self._folder()
            if "UIDPLUS" not in using.able and instead_of:
                raise Refused(NO_REMOVAL)
            if folder is not None and "UIDPLUS" in using.able:
                found = await self._found(using, folder, mark)
                await _remove(using, found | await self._originals(using, folder, instead_of))
            await self.store.write(draft_rows.release, account_id=self.account_id, draft=mark)

    async def there(self, mark: str) -> bool:
        folder = await self._folder()
        if folder is None:
            return False
        async with self.turn() as using:
            return bool((await self._found(using, folder, mark, with_deleted=False)).ranges)

    async def _originals(self, using: Using, folder: FolderRow, message_ids: Sequence[str]) -> UidSet:
        """The UIDs of these messages in the folder. A message that was moved away is no draft any more."""
        opened = await using.open(folder.name)
        rows = await self.store.read(places.kept, account_id=self.account_id, message_ids=message_ids)
        return UidSet.of(
            row.uid
            for row in rows.values()
            if row.uid is not None and row.folder_id == folder.id and row.uid_validity == opened.uid_validity
        )

    async def _folder(self) -> FolderRow | None:
        known = await self.store.read(folder_rows.folders, account_id=self.account_id)
        return next((one for one in known if one.label == DRAFT), None)

    async def _made(self, using: Using) -> FolderRow:
        """Makes the drafts folder. Only after a look at all folders is it certain that the server has none."""
        known = await self.store.read(folder_rows.folders, account_id=self.account_id)
        if not any(one.label == INBOX and one.uid_validity for one in known):
            raise Unreachable(_NOT_READ)
        return await Changing(account_id=self.account_id, store=self.store, using=using).folder(DRAFT)

    async def _note(self, using: Using, folder: FolderRow, uid: int, raw: bytes, *, mark: str) -> None:
        """Stores the UID of the new copy, which the server named (RFC 4315): a search soon after may not find it."""
        size = await self._claim_what_is_there(using, uid, mark=mark, sent=raw)
        put = Message(number=0, uid=uid, size=size, header=raw[:MAX_HEAD_BYTES], flags=frozenset({"\\seen"}))
        await self.store.write(
            message_rows.store_arrivals,
            account_id=self.account_id,
            folder=folder,
            uid_validity=folder.uid_validity,
            found=arrivals([put], wanted=UidSet.of([uid]), now=self.clock.now(), ours={uid}),
            is_told=True,
        )

    async def _claim_what_is_there(self, using: Using, uid: int, *, mark: str, sent: bytes) -> int:
        """The size of the copy at the server. Some servers change what they are given: then their text is ours, and the
        copy is known by it after it gets another UID."""
        told = (await using.command("UID", "FETCH", str(uid), "(UID RFC822.SIZE)")).all(Message)
        size = next((one.size for one in told if one.uid == uid), None)
        if size is None:
            return len(sent)
        there = sent if size == len(sent) else await text_of(using, uid)
        if there is not None:
            await self._claim(there, mark=mark, size=size)
        return size

    async def _claim(self, text: bytes, *, mark: str, size: int | None = None, content: bytes | None = None) -> None:
        await self.store.write(
            draft_rows.claim,
            account_id=self.account_id,
            mark=mark,
            size=len(text) if size is None else size,
            sha256=digest(text),
            content=content,
        )

    async def _found(self, using: Using, folder: FolderRow, draft: str, *, with_deleted: bool = True) -> UidSet:
        """The UIDs of our copies of a draft, without versions that another program made. Opens the folder again, since
        some servers do not find messages that came after it was opened. ``with_deleted``: also those that are only
        marked as deleted."""
        opened = await using.open(folder.name, anew=True)
        marked = UidSet.of(await self.store.read(draft_rows.newest_uids, folder_id=folder.id, limit=MAX_KNOWN))
        try:  # the search key ``UID`` is needed: without it, iCloud answers with sequence numbers
            answer = await using.command("UID", "SEARCH", "UID", ALL, "HEADER", MARK_FIELD, Text(draft.encode()))
        except CommandRefused:  # some servers do not search such a field
            known = await self.store.read(places.known_uids, folder_id=folder.id)
            marked |= UidSet.of(sorted(known)[-MAX_KNOWN:])
        else:
            for one in answer.all(Found):
                marked |= one.uids
        if not marked.ranges:
            return marked
        told = (await using.command("UID", "FETCH", str(marked), MEET)).all(Message)
        met = [one for one in told if one.draft_mark is not None and mark_in(one.draft_mark) == draft]
        met = [one for one in met if with_deleted or not is_deleted(one)]
        uids = [one.uid for one in met if one.uid is not None]
        is_same_folder = opened.uid_validity == folder.uid_validity
        ours = await self.store.read(draft_rows.known_uids, folder_id=folder.id, uids=uids) if is_same_folder else ()
        found = await copies_among(
            met,
            account_id=self.account_id,
            store=self.store,
            threads=self.threads,
            log=self.log,
            using=using,
            known=ours,
        )
        return UidSet.of(found)


async def _remove(using: Using, uids: UidSet) -> None:
    if uids.ranges:
        await using.command("UID", "STORE", str(uids), "+FLAGS.SILENT", "(\\Deleted)")
        await using.command("UID", "EXPUNGE", str(uids))
