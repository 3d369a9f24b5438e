"""Reads the calendar files of messages in a worker process, because strangers wrote them, and stores the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from svc.clock import Clock
from svc.errors import Refusal
from svc.formats.invitations import Invitation, read_invitations
from svc.formats.invitations.model import MAX_BYTES
from svc.log import Log
from svc.mail.invitations import actions, queries
from svc.mail.model import AttachmentRef, MessageRow
from svc.mail.threads import queries as thread_queries
from svc.nursery import ProcessPool, WorkerCrashed, WorkerTimeout
from svc.principal import Principal
from svc.store import BlobCorrupt, BlobMissing, Blobs, ReadTx, Store

READ_DEADLINE_S: Final = 5.0
MAX_FILES: Final = 3
"""Calendar files of one message that are read."""
MAX_MESSAGES: Final = 50
"""How many of the newest messages of a thread are read together, because a later one may change an invitation."""
_TYPES: Final = frozenset({"text/calendar", "application/ics"})


@dataclass(frozen=True, kw_only=True)
class InvitationReader:
    store: Store
    blobs: Blobs
    processes: ProcessPool
    clock: Clock
    log: Log

    async def read(self, messages: Sequence[MessageRow]) -> None:
        """Read the calendar files that were not read yet."""
        for message in messages[-MAX_MESSAGES:]:
            files = calendar_files(message)
            if files and not await self.store.read(queries.of_message, message_id=message.id):
                await self._read_one(message, files)

    async def read_received(self, principal: Principal, message_id: str) -> None:
        message = await self.store.read(thread_queries.message_for, principal, message_id=message_id)
        if message is not None:
            await self.read([message])

    async def _read_one(self, message: MessageRow, files: Sequence[AttachmentRef]) -> None:
        found = [(one.sha256, await self._invitations(one)) for one in files]
        try:
            await self.store.write(
                actions.keep,
                account_id=message.account_id,
                message_id=message.id,
                sender=message.sender.address,
                files=found,
            )
        except Refusal as refusal:
            self.log.warning("mail.invitation_not_kept", reason=refusal.detail)

    async def _invitations(self, file: AttachmentRef) -> tuple[Invitation, ...]:
        try:
            data = await self.blobs.read(file.sha256, limit=MAX_BYTES)
            return await self.processes.run(read_invitations, data, self.clock.now(), deadline_s=READ_DEADLINE_S)
        except (BlobMissing, BlobCorrupt, WorkerTimeout, WorkerCrashed) as fault:
            self.log.warning("mail.invitation_unread", size=file.size, reason=str(fault))
            return ()


def calendar_files(message: MessageRow) -> list[AttachmentRef]:
    """The attachments that are calendars by their type or name, without those that are too large."""
    return [
        one
        for one in message.headers.attachments
        if one.size <= MAX_BYTES and (one.mime in _TYPES or one.filename.lower().endswith(".ics"))
    ][:MAX_FILES]


def with_thread(tx: ReadTx, principal: Principal, *, message_id: str) -> tuple[MessageRow, list[MessageRow]] | None:
    """A message that the caller may read, and all messages of its thread; ``None`` where they may not read it."""
    message = thread_queries.message_for(tx, principal, message_id=message_id)
    return None if message is None else (message, thread_queries.messages_of(tx, message.thread_id))
