"""Opens a thread: its messages with their sanitized bodies. This is the only way a body reaches a browser.

The HTML of strangers is sanitized on the server, within a budget. Small bodies are sanitized in a thread of this
process, larger ones in a worker process that is killed at its deadline. A body that is too large or takes too long is
shown as text. Results are cached by content and policy version, so each body is sanitized once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Concatenate, Final, ParamSpec

import msgspec

from svc.clock import rfc3339
from svc.errors import NotFound, Refusal
from svc.formats.authentication import Authentication
from svc.formats.html import FOLD, POLICY_VERSION, CleanHtml, or_text, plan, sanitize, text_fallback, text_to_html
from svc.formats.person import Person
from svc.formats.quoted import folds_from, is_forwarded
from svc.formats.text import text_from_html
from svc.log import Log
from svc.mail.accounts.acts import Act, acts_of
from svc.mail.authentication.checking import UNKNOWN, Authenticator
from svc.mail.authentication.wire import authentication_out
from svc.mail.images import actions as actions_of_images
from svc.mail.images.actions import note_images
from svc.mail.images.queries import trusted_among
from svc.mail.model import SPAM, UNREAD, AttachmentRef, Body, MessageRow, ThreadRow, is_own
from svc.mail.proposing import replies as proposed_replies
from svc.mail.proposing.replies import ProposedReply
from svc.mail.reading import queries as reading_queries
from svc.mail.reading import wire as reading_wire
from svc.mail.reading.deception import failed_origin, many_senders, misleading_name, misleading_reply, no_address
from svc.mail.threads import correspondents
from svc.mail.threads import queries as thread_queries
from svc.mail.threads import wire as thread_wire
from svc.mail.threads.wire import ThreadOut
from svc.nursery import ProcessPool, ThreadPool, WorkerCrashed, WorkerTimeout
from svc.people import PageRef
from svc.principal import Principal
from svc.store import BlobCorrupt, BlobMissing, Blobs, ReadTx, Store, Tx, damage, json_array

SANITIZE_DEADLINE_S: Final = 5.0
"""Making the HTML of a mail safe to show. Beyond: its text is shown."""
MAX_BODY_BLOB_BYTES: Final = 64 * 1024 * 1024
"""The stored text and HTML of a mail, which the parser keeps far below. Beyond: 413 `too_large`."""
MAX_TEXT_OF_HTML_CHARS: Final = 512 * 1024
"""HTML that is read for its text where nothing else is shown. Beyond: it is cut."""
MAX_MESSAGES_SHOWN: Final = 500
"""Messages that an open thread shows. Beyond: its newest ones are shown."""

P = ParamSpec("P")

_LOST: Final = (
    "<p><em>This part of the message is damaged on this server. Where that is possible it is mended by itself, and "
    "shown then.</em></p>"
)


@dataclass(frozen=True, kw_only=True)
class OpenThread:
    thread: ThreadRow
    summary: ThreadOut
    acts: list[Act]
    messages: list[MessageRow]
    labels: dict[str, thread_wire.LabelOut]
    filing: PageRef | None
    clean: dict[str, CleanHtml]
    """The bodies that were sanitized before, by the blob's hash."""
    trusted: dict[str, bool]
    """The senders, in lower case, whose remote images the reader wants to see; see :func:`trusted_among`."""
    damaged: frozenset[str]
    """The hashes of the messages' attachments that are known to be damaged."""
    proposed: ProposedReply | None
    origins: Mapping[str, Authentication]
    """The result of the origin check, by message id; filled after the rest."""


@dataclass(frozen=True, kw_only=True)
class Reader:
    store: Store
    blobs: Blobs
    threads: ThreadPool
    processes: ProcessPool
    authenticator: Authenticator
    log: Log

    async def thread(self, principal: Principal, *, thread_id: str) -> reading_wire.ThreadDetailOut:
        opened = await self._with_origins(principal, await self.store.read(_open, principal, thread_id=thread_id))
        messages = [await self._message(opened, message) for message in opened.messages]
        return reading_wire.ThreadDetailOut(
            thread=opened.summary,
            filing=None if opened.filing is None else reading_wire.filing(opened.filing),
            messages=tuple(messages),
            acts=tuple(map(reading_wire.act, opened.acts)),
            proposed_reply=None if opened.proposed is None else reading_wire.proposed_reply(opened.proposed),
        )

    async def _with_origins(self, principal: Principal, opened: OpenThread) -> OpenThread:
        origins = await self.authenticator.read([message.id for message in opened.messages])
        senders = {one.id: one.sender.address.lower() for one in opened.messages}
        proved = {senders[message_id] for message_id, origin in origins.items() if origin.is_verified}
        unbound = [one for one in proved if opened.trusted.get(one) is False]
        if unbound:
            await self._try_write(actions_of_images.bind, principal, addresses=unbound)
        trusted = opened.trusted | dict.fromkeys(unbound, True)
        return replace(opened, origins=origins, trusted=trusted)

    async def _message(self, opened: OpenThread, message: MessageRow) -> reading_wire.MessageOut:
        body = await self._body(message)
        clean = opened.clean.get(message.body_sha256)
        if clean is None and body is not None:
            clean = await self._clean(body)
            if clean is None:  # not cached: another time, when the machine is less busy, it may be sanitized
                clean = or_text(await self.threads.run(text_fallback, body.html or ""), body.text)
            else:
                clean = await self.threads.run(or_text, clean, body.text)
                await self._keep(message.body_sha256, clean)
        text = await self.threads.run(text_of_body, body) if body else ""
        line = await self.threads.run(folds_from, text)
        out = _message_out(message, text=text, clean=clean, opened=opened)
        if is_forwarded(message.subject):
            return out
        return msgspec.structs.replace(out, folds=FOLD in out.html, folded_line=line)

    async def _keep(self, body_sha256: str, clean: CleanHtml) -> None:
        """Cache it for the next time. Reading goes on where nothing can be written, such as on a full disk."""
        await self._try_write(_remember, body_sha256=body_sha256, clean=clean)

    async def _try_write(self, action: Callable[Concatenate[Tx, P], None], *args: P.args, **more: P.kwargs) -> None:
        try:
            await self.store.write(action, *args, **more)
        except Refusal as refusal:
            self.log.warning("mail.reading_not_kept", reason=refusal.detail)

    async def _body(self, message: MessageRow) -> Body | None:
        try:
            data = await self.blobs.read(message.body_sha256, limit=MAX_BODY_BLOB_BYTES)
        except (BlobMissing, BlobCorrupt) as fault:
            self.log.error("mail.body_lost", message=message.id, sha256=message.body_sha256, reason=str(fault))
            return None
        return msgspec.json.decode(data, type=Body)

    async def _clean(self, body: Body) -> CleanHtml | None:
        """The body as HTML that is safe for a browser; ``None`` when the sanitizer gave up."""
        if body.html is None:
            return CleanHtml(html=await self.threads.run(partial(text_to_html, body.text, folds=True)))
        how = plan(body.html)
        if how == "text":
            return await self.threads.run(text_fallback, body.html)
        try:
            if how == "inline":
                return await self.threads.run(sanitize, body.html)
            return await self.processes.run(sanitize, body.html, deadline_s=SANITIZE_DEADLINE_S)
        except (WorkerTimeout, WorkerCrashed) as fault:
            self.log.warning("mail.sanitize_gave_up", size=len(body.html), reason=str(fault))
        except Exception as error:  # a boundary: the thread opens, whatever the parser raises for a stranger's HTML
            self.log.error("mail.sanitize_failed", error, size=len(body.html))
        return None


def _open(tx: ReadTx, principal: Principal, *, thread_id: str) -> OpenThread:
    thread = thread_queries.thread_for(tx, principal, thread_id=thread_id)
    if thread is None:
        raise NotFound("There is no such thread.")
    messages = thread_queries.messages_of(tx, thread.id)[-MAX_MESSAGES_SHOWN:]
    hashes = [message.body_sha256 for message in messages]
    return OpenThread(
        thread=thread,
        summary=thread_wire.thread_summaries(tx, [thread], principal)[0],
        acts=acts_of(tx, thread.id),
        messages=messages,
        labels=thread_wire.labels_out(tx, thread.account_id),
        filing=correspondents.filing(tx, principal, account_id=thread.account_id, messages=messages),
        clean=reading_queries.clean_bodies(tx, body_sha256s=hashes, policy=POLICY_VERSION),
        trusted=trusted_among(tx, principal, addresses=[message.sender.address for message in messages]),
        proposed=proposed_replies.of_thread(tx, thread.id),
        damaged=damage.damaged_among(tx, [one.sha256 for row in messages for one in row.headers.attachments]),
        origins={},
    )


def _remember(tx: Tx, *, body_sha256: str, clean: CleanHtml) -> None:
    if not tx.value("select 1 from mail_messages where body_sha256 = :sha256", sha256=body_sha256):
        return  # the message was deleted in the meantime
    tx.run(
        """
        insert into mail_clean (body_sha256, policy, html, blocked_images, remote_images, warnings, made_at)
        values (:sha256, :policy, :html, :blocked, :remote, :warnings, :now) on conflict do nothing
        """,
        sha256=body_sha256,
        policy=POLICY_VERSION,
        html=clean.html,
        blocked=clean.blocked_images,
        remote=json_array(clean.remote_images),
        warnings=json_array(clean.warnings),
        now=tx.now,
    )
    note_images(tx, body_sha256=body_sha256, urls=clean.remote_images)


def text_of_body(body: Body) -> str:
    """The mail's own plain text; the text of its HTML where it has none."""
    return body.text if body.text.strip() else text_from_html((body.html or "")[:MAX_TEXT_OF_HTML_CHARS])


def _message_out(
    message: MessageRow, *, text: str, clean: CleanHtml | None, opened: OpenThread
) -> reading_wire.MessageOut:
    shown = [one for one in message.headers.attachments if one.inline and one.content_id]
    own = is_own(frozenset(message.labels))
    origin = None if own else opened.origins.get(message.id, UNKNOWN)
    return reading_wire.MessageOut(
        id=message.id,
        from_=reading_wire.person(message.sender),
        to=_people(message.headers.to),
        cc=_people(message.headers.cc),
        bcc=_people(message.headers.bcc),
        reply_to=_people(message.headers.reply_to),
        subject=message.subject,
        sent_at=rfc3339(message.sent_at),
        html=clean.html if clean else _LOST,
        text=text,
        blocked_images=clean.blocked_images if clean else 0,
        remote_images=clean.remote_images if clean else (),
        labels=thread_wire.label_list(message.labels, opened.labels),
        attachments=tuple(_attachment(one, opened.damaged) for one in message.headers.attachments),
        inline=tuple(map(_inline, shown)),
        own=own,
        unread=UNREAD in message.labels,
        images_allowed=SPAM not in message.labels and _has_trust(message, opened, origin),
        warnings=_warnings(message, clean, origin),
        authentication=None if origin is None else authentication_out(origin),
        can_unsubscribe=_can_unsubscribe(message, origin),
    )


def _can_unsubscribe(message: MessageRow, origin: Authentication | None) -> bool:
    """Whether the reader can unsubscribe. Not from spam: its sender would only learn that it is read."""
    if origin is None or SPAM in message.labels:
        return False
    return origin.unsubscribe is not None and origin.verdict != "failed"


def _has_trust(message: MessageRow, opened: OpenThread, origin: Authentication | None) -> bool:
    """Whether the sender is trusted, and the mail counts as coming from that sender."""
    bound = opened.trusted.get(message.sender.address.lower())
    if bound is None or origin is None:
        return bound is not None
    return origin.is_verified or (not bound and origin.verdict != "failed")


def _warnings(message: MessageRow, clean: CleanHtml | None, origin: Authentication | None) -> tuple[str, ...]:
    """Warnings of parts of the message that may deceive. There are none for mail that the owner sent."""
    if origin is None:
        return ()
    of_headers = (
        failed_origin(message.sender, origin),
        no_address(message.sender),
        many_senders(message.headers),
        misleading_name(message.sender),
        misleading_reply(message.sender, message.headers),
    )
    return (*filter(None, of_headers), *(clean.warnings if clean else ()))


def _attachment(one: AttachmentRef, damaged: Collection[str]) -> reading_wire.AttachmentOut:
    return reading_wire.AttachmentOut(
        filename=one.filename,
        mime=one.mime,
        sha256=one.sha256,
        size=one.size,
        file_id=one.file_id,
        damaged=one.sha256 in damaged,
    )


def _inline(one: AttachmentRef) -> reading_wire.InlineOut:
    return reading_wire.InlineOut(
        filename=one.filename, mime=one.mime, size=one.size, file_id=one.file_id, content_id=one.content_id or ""
    )


def _people(people: Sequence[Person]) -> tuple[reading_wire.PersonOut, ...]:
    return tuple(reading_wire.person(one) for one in people)
