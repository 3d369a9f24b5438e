"""Fetches whole messages, several with one command: calls that wait while a command runs share the next one.

Messages that are needed soon are announced (:meth:`Fetching.expect`). They are fetched in the same command, up to its
limit, and kept until :meth:`Fetching.get` asks for them.

A message that is no longer where the last look found it was deleted, moved, or its folder has new UIDs. Only another
look can say which. Since sync never asks again for a message that is gone, that look comes before the answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from svc.mail.providers.folders import Place, labels_of
from svc.mail.providers.imap.answers import Answer, CommandRefused
from svc.mail.providers.imap.labels import is_starred
from svc.mail.providers.imap.looking import flags_of, keywords_of
from svc.mail.providers.imap.protocol.messages import Message
from svc.mail.providers.imap.protocol.sets import UidSet
from svc.mail.providers.imap.rows import messages as message_rows
from svc.mail.providers.imap.rows import queries
from svc.mail.providers.imap.rows.model import Kept
from svc.mail.providers.imap.session import ImapSession, Using
from svc.mail.providers.seam import MessageGone, ProviderFault, RawMessage, Refused, Unreachable
from svc.store import Store

TOGETHER: Final = 50
TOGETHER_BYTES: Final = 16 * 1024 * 1024
"""The limit of one command, by the sizes that the server named; a larger message is fetched alone."""

_ITEMS: Final = "(UID FLAGS INTERNALDATE BODY.PEEK[])"
_ITEMS_LABELLED: Final = "(UID FLAGS X-GM-LABELS INTERNALDATE BODY.PEEK[])"
_GONE: Final = "The message is gone from the server."
_MOVED: Final = "The message was moved while it was asked for; the server is asked again."
NUMBERED_ANEW: Final = "The server has numbered a folder anew; it is read again first."

Outcome = RawMessage | ProviderFault


@dataclass(kw_only=True)
class Fetching:
    """``look``: looks at the whole mailbox, with the connection of the caller's turn."""

    account_id: str
    session: ImapSession
    store: Store
    look: Callable[[Using], Awaitable[None]]
    _expected: dict[str, None] = field(default_factory=dict)
    _waiting: dict[str, int] = field(default_factory=dict)  # the number of waiting calls by message id
    _ready: dict[str, Outcome] = field(default_factory=dict)

    def expect(self, message_ids: Sequence[str]) -> None:
        """Announces the next :meth:`get` calls, in this order, in place of those announced before. Messages that were
        fetched ahead before are dropped, since their state may be old."""
        self._expected = dict.fromkeys(message_ids)
        self._forget()

    async def get(self, message_id: str) -> RawMessage:
        """Raises :class:`ProviderFault`, and what the session raises."""
        self._waiting[message_id] = self._waiting.get(message_id, 0) + 1
        try:
            if message_id not in self._ready:
                async with self.session.turn() as using:
                    if message_id not in self._ready:
                        await self._fetch(using, message_id)
            outcome = self._ready[message_id]
        finally:
            self._waiting[message_id] -= 1
            if not self._waiting[message_id]:
                del self._waiting[message_id]
        if message_id not in self._waiting:
            self._ready.pop(message_id, None)
        self._expected.pop(message_id, None)
        if isinstance(outcome, ProviderFault):
            raise outcome
        return outcome

    async def _fetch(self, using: Using, message_id: str) -> None:
        """Fetches that message, together with other wanted messages of the same folder."""
        self._forget()
        found = await self._try(using, message_id)
        if any(isinstance(one, MessageGone) for one in found.values()):
            await self.look(using)
            found = {one: outcome for one, outcome in found.items() if not isinstance(outcome, MessageGone)}
            if message_id not in found:
                found |= await self._try(using, message_id)
            lost = await self.store.read(queries.lost, account_id=self.account_id)
            missed = [one for one, outcome in found.items() if isinstance(outcome, MessageGone)]
            there = await self.store.read(queries.kept, account_id=self.account_id, message_ids=missed)
            for one in missed:  # moved during the look: the next look finds where to
                if one in lost or (one in there and there[one].uid is not None):
                    found[one] = Unreachable(_MOVED)
        self._ready |= found

    async def _try(self, using: Using, message_id: str) -> dict[str, Outcome]:
        wanted = dict.fromkeys((message_id, *self._waiting, *self._expected))
        rows = await self.store.read(queries.kept, account_id=self.account_id, message_ids=wanted)
        together = _together(message_id, (rows[one] for one in wanted if one in rows and one not in self._ready))
        if not together or message_id not in rows:
            return {message_id: MessageGone(_GONE)}
        try:
            return await self._ask(using, together)
        except CommandRefused:
            if len(together) > 1:
                return await self._ask_alone(using, together[0])
            return {message_id: _cannot(together[0])}

    def _forget(self) -> None:
        """Drops messages that were fetched ahead and that no call waits for."""
        self._ready = {one: outcome for one, outcome in self._ready.items() if one in self._waiting}

    async def _ask_alone(self, using: Using, row: Kept) -> dict[str, Outcome]:
        try:
            return await self._ask(using, [row])
        except CommandRefused:
            return {row.id: _cannot(row)}

    async def _ask(self, using: Using, rows: Sequence[Kept]) -> dict[str, Outcome]:
        opened = await using.open(rows[0].folder_name)
        if opened.uid_validity != rows[0].uid_validity:
            return {row.id: MessageGone(NUMBERED_ANEW) for row in rows}
        by_uid = {row.uid: row for row in rows if row.uid is not None}
        answer = await using.command(
            "UID", "FETCH", str(UidSet.of(by_uid)), _ITEMS_LABELLED if using.keeps_labels else _ITEMS
        )
        found: dict[str, Outcome] = {row.id: MessageGone(_GONE) for row in rows}
        for message in answer.all(Message):
            row = None if message.uid is None else by_uid.get(message.uid)
            if row is not None and (message.raw is not None or isinstance(found[row.id], MessageGone)):
                found[row.id] = _outcome(row, message, labelled=using.keeps_labels)
        await self._note_flags(rows, answer, labelled=using.keeps_labels)
        return found

    async def _note_flags(self, rows: Sequence[Kept], answer: Answer, *, labelled: bool) -> None:
        """Stores the flags that came with the messages, and reports changes to sync, as a look does. If the flags
        change back before the next look, that one would see no change."""
        before = {row.uid: row.place for row in rows}
        now = [
            flags_of(one.uid, one, labelled=labelled)
            for one in answer.all(Message)
            if one.uid is not None and one.uid in before and one.flags is not None
        ]
        other = [
            one
            for one in now
            if (one.seen, one.flagged) != (before[one.uid].seen, before[one.uid].flagged)
            or (one.keywords is not None and one.keywords != before[one.uid].keywords)
        ]
        if other:
            await self.store.write(
                message_rows.store_flags, account_id=self.account_id, folder_id=rows[0].folder_id, found=other
            )


def _together(message_id: str, rows: Iterable[Kept]) -> list[Kept]:
    """The wanted message, and others of the same folder up to the limits of one command."""
    found: list[Kept] = []
    size = 0
    for row in rows:
        if row.uid is None or (found and row.folder_id != found[0].folder_id):
            if row.id == message_id:
                return []
            continue
        size += row.size
        if found and (len(found) >= TOGETHER or size > TOGETHER_BYTES):
            break
        found.append(row)
    return found


def _outcome(row: Kept, message: Message, *, labelled: bool) -> Outcome:
    if message.too_large is not None:
        return Refused(f"This mail has {message.too_large >> 20} MiB, more than is taken in.")
    if message.raw is None:
        return Unreachable("The mail server gave a message without its contents.")
    flags = message.flags or frozenset()
    keywords = keywords_of(message, labelled=labelled)
    place = Place(
        folder=row.place.folder,
        seen="\\seen" in flags,
        flagged="\\flagged" in flags or is_starred(message.labels or ()),
        keywords=row.place.keywords if keywords is None else keywords,
    )
    return RawMessage(
        id=row.id,
        thread_id=row.server_thread,
        labels=labels_of(place if message.flags is not None else row.place),
        received_at=message.arrived_at,
        raw=message.raw,
    )


def _cannot(row: Kept) -> ProviderFault:
    """The fault if a server refuses one message, perhaps for ever (Yahoo). It counts against the message."""
    return Unreachable("The mail server does not give this message.")
