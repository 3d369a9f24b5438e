"""From a provider's raw bytes to what the ingest transaction wants: fetched, parsed, its blobs durable.

Owns the order of durability: body, raw message and attachments are blobs on disk before the transaction that refers to
them begins. A message that can't be had or parsed alone is reported as passed over; the others go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import trio

from svc.clock import Clock
from svc.ids import derived_id
from svc.log import Log
from svc.mail import mime
from svc.mail.ingest import sent_at_of
from svc.mail.ledger import Passed
from svc.mail.model import AttachmentRef, Body, Incoming, MessageHeaders, Person, message_id_of
from svc.mail.provider import MessageGone, MessageRef, Provider, RawMessage, Refused
from svc.nursery import GateCrashed, GateTimeout, ProcessGate, ThreadGate, open_task_group
from svc.store import Blobs

FETCH_CONCURRENCY: Final = 6
"""Messages of one account fetched at a time: hides the round trip without opening a crowd of connections."""

HELD_MESSAGES: Final = 24
"""Messages held in memory at a time, whole: a page of the largest mails must not fill the machine."""

THREAD_MAX_BYTES: Final = 256 * 1024
"""A larger message is parsed in a worker process, which can be killed: parsing holds the interpreter's lock."""

PARSE_DEADLINE_S: Final = 20.0

_BULK_PRECEDENCES: Final = frozenset({"bulk", "list", "junk", "auto_reply"})  # nobody wrote them down; these are used

AT_HAND_CHARS: Final = 256 * 1024
"""A larger body is not kept in memory beside its blob: a page holds many."""


@dataclass(frozen=True, kw_only=True)
class Fetched:
    incoming: tuple[Incoming, ...]
    passed: tuple[Passed, ...]


@dataclass(frozen=True, kw_only=True)
class Fetcher:
    """Fetches messages of one account."""

    account_id: str
    provider: Provider
    blobs: Blobs
    threads: ThreadGate
    processes: ProcessGate
    clock: Clock
    log: Log

    async def fetch(self, refs: Sequence[MessageRef]) -> Fetched:
        """Each of ``refs``, in their order. A fault that is not one message's own ends the whole fetch."""
        incoming: list[Incoming] = []
        passed: list[Passed] = []
        for start in range(0, len(refs), HELD_MESSAGES):
            raws = await self._get(refs[start : start + HELD_MESSAGES], passed)
            incoming += await self._prepare(raws, passed)
        return Fetched(incoming=tuple(incoming), passed=tuple(passed))

    async def prepare(self, raws: Sequence[RawMessage]) -> Fetched:
        """What is here already, such as our own copy of what was sent: parsed, its blobs durable."""
        passed: list[Passed] = []
        return Fetched(incoming=tuple(await self._prepare(raws, passed)), passed=tuple(passed))

    async def _get(self, refs: Sequence[MessageRef], passed: list[Passed]) -> list[RawMessage]:
        raws: dict[str, RawMessage] = {}
        limiter = trio.CapacityLimiter(FETCH_CONCURRENCY)

        async def one(ref: MessageRef) -> None:
            async with limiter:
                try:
                    raws[ref.id] = await self.provider.get(ref.id)
                except MessageGone:
                    return  # deleted between the list and now
                except Refused as fault:
                    passed.append(Passed(provider_message_id=ref.id, step="fetch", reason=fault.detail))

        async with open_task_group() as nursery:
            for ref in refs:
                nursery.start_soon(one, ref)
        return [raws[ref.id] for ref in refs if ref.id in raws]

    async def _prepare(self, raws: Sequence[RawMessage], passed: list[Passed]) -> list[Incoming]:
        parsed: list[tuple[RawMessage, mime.ParsedMessage]] = []
        for raw in raws:
            try:
                parsed.append((raw, await self._parse(raw.raw)))
            except Exception as error:  # an edge: one stranger's mail must never stop the account
                self.log.error("mail.parse_failed", error, message=raw.id, size=len(raw.raw))
                reason = f"It can't be read: {type(error).__name__}."
                passed.append(Passed(provider_message_id=raw.id, step="fetch", reason=reason))
        contents: list[bytes] = []
        for raw, message in parsed:
            contents.append(_body_bytes(message))
            contents.append(raw.raw)
            contents.extend(attachment.content for attachment in message.attachments)
        hashes = iter([ref.sha256 for ref in await self.blobs.put_all(contents)])
        now = self.clock.now()
        return [
            _incoming(
                self.account_id,
                raw,
                message,
                now=now,
                body_sha256=next(hashes),
                raw_sha256=next(hashes),
                attachment_sha256s=[next(hashes) for _ in message.attachments],
            )
            for raw, message in parsed
        ]

    async def _parse(self, raw: bytes) -> mime.ParsedMessage:
        if len(raw) <= THREAD_MAX_BYTES:
            return await self.threads.run(mime.parse_message, raw)
        try:
            return await self.processes.run(mime.parse_message, raw, deadline_s=PARSE_DEADLINE_S)
        except (GateTimeout, GateCrashed) as fault:
            # The raw bytes are kept whole; only their head is shown.
            self.log.warning("mail.parse_gave_up", size=len(raw), reason=str(fault))
            return await self.threads.run(mime.parse_head_only, raw)


def _body_at_hand(message: mime.ParsedMessage) -> Body | None:
    chars = len(message.text) + len(message.html or "")
    return Body(html=message.html, text=message.text) if chars <= AT_HAND_CHARS else None


def _body_bytes(message: mime.ParsedMessage) -> bytes:
    return msgspec.json.encode(Body(html=message.html, text=message.text))


def _incoming(
    account_id: str,
    raw: RawMessage,
    message: mime.ParsedMessage,
    *,
    now: int,
    body_sha256: str,
    raw_sha256: str,
    attachment_sha256s: Sequence[str],
) -> Incoming:
    sender = message.sender
    message_id = message_id_of(account_id, raw.id)
    attachments = tuple(
        AttachmentRef(
            filename=one.filename,
            mime=one.mime,
            sha256=sha256,
            size=len(one.content),
            file_id=derived_id("fil", message_id, str(index)),
            inline=one.inline,
            content_id=one.content_id,
        )
        for index, (one, sha256) in enumerate(zip(message.attachments, attachment_sha256s, strict=True))
    )
    headers = MessageHeaders(
        to=_people(message.to),
        cc=_people(message.cc),
        bcc=_people(message.bcc),
        reply_to=_people(message.reply_to),
        in_reply_to=message.in_reply_to,
        references=message.references,
        attachments=attachments,
        list_id=message.list_id,
        bulk=_is_bulk(message),
        problems=message.problems,
    )
    return Incoming(
        provider_message_id=raw.id,
        provider_thread_id=raw.thread_id,
        labels=raw.labels,
        message_id_header=message.message_id,
        sent_at=sent_at_of(date=message.date, received_at=raw.received_at, now=now),
        sender=Person(name=sender.name, address=sender.address) if sender else Person(name="", address=""),
        subject=message.subject,
        snippet=message.snippet,
        headers=headers,
        body_sha256=body_sha256,
        raw_sha256=raw_sha256,
        raw_size=len(raw.raw),
        body=_body_at_hand(message),
        outgoing_mark=message.outgoing_mark,
    )


def _is_bulk(message: mime.ParsedMessage) -> bool:
    """A list's, a newsletter's, a program's. ``Auto-Submitted: no`` says that a person wrote it (RFC 3834, 5.1)."""
    automatic = (message.auto_submitted or "no").partition(";")[0].strip().lower()
    precedence = (message.precedence or "").strip().lower()
    return bool(message.list_id or message.list_unsubscribe) or automatic != "no" or precedence in _BULK_PRECEDENCES


def _people(mailboxes: Sequence[mime.Mailbox]) -> tuple[Person, ...]:
    return tuple(Person(name=one.name, address=one.address) for one in mailboxes)
