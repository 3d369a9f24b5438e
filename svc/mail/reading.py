"""Opening a thread: its messages with their bodies, sanitized. The only way a body reaches a browser.

What a stranger wrote is sanitized on the server, within a budget: small bodies in a thread, larger ones in a worker
process that is killed at its deadline, and what is too large or slow is shown as text. Results are cached by content
and policy version, so a body is paid for once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from svc.clock import rfc3339
from svc.errors import NotFound, Refusal
from svc.log import Log
from svc.mail import correspondents, queries, wire
from svc.mail.model import Body, Label, MessageRow, Person, ThreadRow
from svc.mail.sanitize import POLICY_VERSION, CleanHtml, plan, sanitize, text_fallback, text_to_html
from svc.nursery import GateCrashed, GateTimeout, ProcessGate, ThreadGate
from svc.people import PageRef
from svc.principal import Principal
from svc.store import BlobCorrupt, BlobMissing, Blobs, ReadTx, Store, Tx

SANITIZE_DEADLINE_S: Final = 5.0
MAX_BODY_BLOB_BYTES: Final = 64 * 1024 * 1024
MAX_MESSAGES_SHOWN: Final = 500
"""A thread longer than this shows its newest messages."""

_LOST: Final = "<p><em>This message's body is missing or damaged on this server. Its other parts are shown.</em></p>"


@dataclass(frozen=True, kw_only=True)
class OpenThread:
    thread: ThreadRow
    messages: list[MessageRow]
    labels: dict[str, Label]
    filing: PageRef | None
    clean: dict[str, CleanHtml]
    """Those bodies that were sanitized before, by the blob's hash."""


@dataclass(frozen=True, kw_only=True)
class Reader:
    store: Store
    blobs: Blobs
    threads: ThreadGate
    processes: ProcessGate
    log: Log

    async def thread(self, principal: Principal, *, thread_id: str) -> wire.ThreadDetailOut:
        opened = await self.store.read(_open, principal, thread_id=thread_id)
        messages = [await self._message(opened, message) for message in opened.messages]
        return wire.ThreadDetailOut(
            thread=await self.store.read(wire.thread_summary, opened.thread, opened.labels),
            filing=opened.filing and wire.filing(opened.filing),
            messages=tuple(messages),
            proposed_reply=None,
        )

    async def _message(self, opened: OpenThread, message: MessageRow) -> wire.MessageOut:
        body = await self._body(message)
        clean = opened.clean.get(message.body_sha256)
        if clean is None and body is not None:
            clean = await self._clean(body)
            if clean is None:  # not kept: another time, on a calmer machine, it may be sanitized
                clean = await self.threads.run(text_fallback, body.html or "")
            else:
                await self._keep(message.body_sha256, clean)
        return _message_out(message, body=body, clean=clean, labels=opened.labels)

    async def _keep(self, body_sha256: str, clean: CleanHtml) -> None:
        """Remember it for the next time. Reading goes on where nothing can be written, such as on a full disk."""
        try:
            await self.store.write(_remember, body_sha256=body_sha256, clean=clean)
        except Refusal as refusal:
            self.log.warning("mail.clean_not_kept", reason=refusal.detail)

    async def _body(self, message: MessageRow) -> Body | None:
        try:
            data = await self.blobs.read(message.body_sha256, limit=MAX_BODY_BLOB_BYTES)
        except (BlobMissing, BlobCorrupt) as fault:
            self.log.error("mail.body_lost", message=message.id, sha256=message.body_sha256, reason=str(fault))
            return None
        return msgspec.json.decode(data, type=Body)

    async def _clean(self, body: Body) -> CleanHtml | None:
        """The body made fit for a browser; ``None`` when the sanitizer gave up on it."""
        if body.html is None:
            return CleanHtml(html=await self.threads.run(text_to_html, body.text), blocked_images=0, remote_images=())
        how = plan(body.html)
        if how == "text":
            return await self.threads.run(text_fallback, body.html)
        try:
            if how == "inline":
                return await self.threads.run(sanitize, body.html)
            return await self.processes.run(sanitize, body.html, deadline_s=SANITIZE_DEADLINE_S)
        except (GateTimeout, GateCrashed) as fault:
            self.log.warning("mail.sanitize_gave_up", size=len(body.html), reason=str(fault))
        except Exception as error:  # an edge: whatever a stranger's HTML makes the parser raise, the thread opens
            self.log.error("mail.sanitize_failed", error, size=len(body.html))
        return None


def _open(tx: ReadTx, principal: Principal, *, thread_id: str) -> OpenThread:
    thread = queries.thread_for(tx, principal, thread_id=thread_id)
    if thread is None:
        raise NotFound("There is no such thread.")
    messages = queries.messages_of(tx, thread_id)[-MAX_MESSAGES_SHOWN:]
    hashes = [message.body_sha256 for message in messages]
    cached = queries.clean_bodies(tx, body_sha256s=hashes, policy=POLICY_VERSION)
    return OpenThread(
        thread=thread,
        messages=messages,
        labels=queries.labels(tx, thread.account_id),
        filing=correspondents.filing(tx, account_id=thread.account_id, messages=messages),
        clean={
            sha256: CleanHtml(html=html, blocked_images=blocked, remote_images=remote)
            for sha256, (html, blocked, remote) in cached.items()
        },
    )


def _remember(tx: Tx, *, body_sha256: str, clean: CleanHtml) -> None:
    tx.run(
        """
        insert into mail_clean (body_sha256, policy, html, blocked_images, remote_images, made_at)
        values (:sha256, :policy, :html, :blocked, :remote, :now) on conflict do nothing
        """,
        sha256=body_sha256,
        policy=POLICY_VERSION,
        html=clean.html,
        blocked=clean.blocked_images,
        remote=msgspec.json.encode(clean.remote_images).decode(),
        now=tx.now,
    )


def _message_out(
    message: MessageRow, *, body: Body | None, clean: CleanHtml | None, labels: dict[str, Label]
) -> wire.MessageOut:
    return wire.MessageOut(
        id=message.id,
        from_=wire.person(message.sender),
        to=_people(message.headers.to),
        cc=_people(message.headers.cc),
        subject=message.subject,
        sent_at=rfc3339(message.sent_at),
        html=clean.html if clean else _LOST,
        text=body.text if body else "",
        blocked_images=clean.blocked_images if clean else 0,
        remote_images=clean.remote_images if clean else (),
        labels=wire.label_list(message.labels, labels),
        attachments=tuple(
            wire.AttachmentOut(
                filename=one.filename, mime=one.mime, sha256=one.sha256, size=one.size, file_id=one.file_id
            )
            for one in message.headers.attachments
        ),
    )


def _people(people: Sequence[Person]) -> tuple[wire.PersonOut, ...]:
    return tuple(wire.person(one) for one in people)
