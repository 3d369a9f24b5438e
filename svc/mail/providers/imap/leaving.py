"""Sends a mail by SMTP, and files our own copy of it in the sent folder.

Some servers file a copy themselves, and none announces it. So we wait for that copy first: looks soon after the sending
search for it by its Message-ID. If none of them finds it, we file it. Whatever the result, we try at most three times,
and search before each try: no copy is better than a hundred copies.
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
"""When to look for a mail's copy, counted from the moment when the server accepted the mail."""
SERVER_FILES_MS: Final = 4 * SECOND_MS
"""How long we wait for the server to file the copy itself."""
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
        """After each mail that was sent, calls ``heard`` a few times, so that looks search for its copy. Runs for
        ever."""
        while True:
            await self._sent.wait()
            before_s = 0.0
            for after_s in LOOK_AFTER_S:
                await trio.sleep(after_s - before_s)
                before_s = after_s
                heard()

    async def send(self, raw: bytes, *, folder: FolderRow, thread_id: str = "") -> SentMessage:
        """Raises :class:`MailServerFault` and :class:`Refused`. ``folder``: the folder of sent mail. ``thread_id``: the
        thread that the mail will belong to, if it is known.

        The envelope sender is the account's own address, whatever ``From`` says. A server that ties senders to logins
        checks this address, and accepts the account's own. The SPF record of its domain names this server, which may
        not be so for an alias's domain. And bounces come back to this mailbox.
        """
        head = await self.threads.run(mime.parse_head_only, raw)
        people = dict.fromkeys(one.address for one in (*head.to, *head.cc, *head.bcc) if one.address)
        if not people:
            raise Refused("This mail has no recipient.")
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
        """Files the copies that the server has not filed itself by now. Call it right after a look at the mailbox.
        Returns whether there were any."""
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
                continue  # the copy stays on this server only; the mail itself was sent
        return bool(waiting)


async def _sent_folder(using: Using) -> bytes | None:
    """The folder that stands for the label of sent mail: a message that is added there gets the label."""
    listed = await using.command("LIST", Text(b""), Text(b"*"))
    return labels.folder_for(listed.all(Folder), "\\sent")


def without_bcc(raw: bytes) -> bytes:
    """The mail as its recipients may see it, without ``Bcc``."""
    found = _HEAD_END.search(raw)
    end = len(raw) if found is None else found.start() + 1 + (raw[found.start() : found.start() + 1] == b"\r")
    return _BCC.sub(b"", raw[:end]) + raw[end:]


def _internal_date(at: Millis) -> str:
    return datetime.fromtimestamp(at / SECOND_MS, tz=UTC).strftime("%d-%b-%Y %H:%M:%S +0000")
