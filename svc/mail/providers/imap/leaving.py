"""A mail that leaves by SMTP, and our own copy of it in the folder of sent mail.

Some servers file a copy by themselves, and none says so. So the copy is expected there first; looks that come soon
after find it by its Message-ID, and where none of them does, we file it. However that ends, it is tried three times
at most, and each look looks first: rather no copy than a hundred.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import trio

from svc.clock import SECOND_MS, Clock, Millis
from svc.formats import mime
from svc.mail.model import SENT
from svc.mail.providers.imap import labels
from svc.mail.providers.imap.answers import CommandRefused
from svc.mail.providers.imap.looking import filing_mark, mark_of
from svc.mail.providers.imap.protocol.responses import Folder
from svc.mail.providers.imap.protocol.writing import Bytes, Text
from svc.mail.providers.imap.rows import copies
from svc.mail.providers.imap.rows.model import FolderRow
from svc.mail.providers.imap.session import Using
from svc.mail.providers.imap.submission.replies import names_in
from svc.mail.providers.imap.submission.session import Envelope, SubmissionSession
from svc.mail.providers.seam import Refused, SentMessage
from svc.nursery import ThreadPool, Wake
from svc.store import BlobCorrupt, BlobMissing, Blobs, Store

LOOK_AFTER_S: Final = (0.0, 1.0, 2.0, 4.5)
"""When a mail's copy is looked for, from when it was taken."""
SERVER_FILES_MS: Final = 4 * SECOND_MS
"""So long a server has to file the copy itself."""
FILE_TRIES: Final = 3
MAX_COPY_BYTES: Final = 64 * 1024 * 1024

_BCC: Final = re.compile(rb"^bcc:[^\n]*\n(?:[ \t][^\n]*\n)*", re.IGNORECASE | re.MULTILINE)
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")


@dataclass(frozen=True, kw_only=True)
class Leaving:
    """``sign_in`` opens a session at the submission server."""

    account_id: str
    address: str
    store: Store
    blobs: Blobs
    threads: ThreadPool
    clock: Clock
    sign_in: Callable[[], Awaitable[SubmissionSession]]
    _sent: Wake = field(default_factory=Wake)

    async def listen(self, heard: Callable[[], None]) -> None:
        """Ask for looks after each mail that left, for ever: until its copy lies there, something may happen."""
        while True:
            await self._sent.wait()
            before_s = 0.0
            for after_s in LOOK_AFTER_S:
                await trio.sleep(after_s - before_s)
                before_s = after_s
                heard()

    async def send(self, raw: bytes, *, folder: FolderRow, thread_id: str = "") -> SentMessage:
        """Raises :class:`MailServerFault` and :class:`Refused`; ``folder``: where sent mail lies. ``thread_id``: where
        the mail will belong, as far as that is known.

        The envelope is from the account's own address, whatever ``From`` says. A server that binds senders to logins
        looks there, and knows this one; SPF of its domain names this server, and an alias's domain may not; and what
        bounces comes to this mailbox.
        """
        head = await self.threads.run(mime.parse_head_only, raw)
        people = dict.fromkeys(one.address for one in (*head.to, *head.cc, *head.bcc) if one.address)
        if not people:
            raise Refused("This mail has no recipient.", status=501)
        kept = await self.blobs.put(raw)
        session = await self.sign_in()
        try:
            reply = await session.submit(Envelope(sender=self.address, recipients=tuple(people)), without_bcc(raw))
        except BaseException:
            await session.aclose()
            raise
        message_id = await self.store.write(
            copies.expect_copy,
            account_id=self.account_id,
            folder=folder,
            filing=filing_mark(head.message_id) or kept.sha256[:32],
            mark=mark_of(message_id=head.message_id, arrived_at=self.clock.now(), size=len(raw)),
            sha256=kept.sha256,
            size=len(raw),
            labels=frozenset({SENT}) - {folder.label},
        )
        self._sent.call()
        await session.say_goodbye()
        names = names_in(reply, host=session.server.host)
        return SentMessage(id=message_id, thread_id=thread_id, labels=frozenset({SENT}), names=names)

    async def file_copies(self, using: Using) -> bool:
        """What the server has not filed by now; the look before this has just been through all of it. Whether there was
        something."""
        before = self.clock.now() - SERVER_FILES_MS
        waiting = await self.store.read(copies.awaited, account_id=self.account_id, before=before, tries=FILE_TRIES)
        folder_name = await _sent_folder(using) if waiting and using.keeps_labels else None
        for one in waiting:
            await self.store.write(copies.note_filed, account_id=self.account_id, message_id=one.id)
            try:
                raw = await self.blobs.read(one.sha256, limit=MAX_COPY_BYTES)
                await using.command(
                    "APPEND",
                    Text(folder_name or one.folder_name),
                    "(\\Seen)",
                    f'"{_internal_date(one.since)}"',
                    Bytes(raw),
                )
            except (BlobMissing, BlobCorrupt, CommandRefused):
                continue  # it stays here, and the person's mail is sent all the same
        return bool(waiting)


async def _sent_folder(using: Using) -> bytes | None:
    """Where sent mail is a label: what is put there carries it."""
    listed = await using.command("LIST", Text(b""), Text(b"*"))
    return labels.folder_for(listed.all(Folder), "\\sent")


def without_bcc(raw: bytes) -> bytes:
    """As others may see it."""
    found = _HEAD_END.search(raw)
    end = len(raw) if found is None else found.start() + 1 + (raw[found.start() : found.start() + 1] == b"\r")
    return _BCC.sub(b"", raw[:end]) + raw[end:]


def _internal_date(at: Millis) -> str:
    return datetime.fromtimestamp(at / SECOND_MS, tz=UTC).strftime("%d-%b-%Y %H:%M:%S +0000")
