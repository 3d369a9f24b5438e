"""Prepares messages for the ingest transaction: fetches their raw bytes, parses them, and makes their blobs durable.

Owns the order of durability: body, raw message and attachments are blobs on disk before the transaction that refers to
them begins. A message that alone can't be fetched or parsed is reported as passed over; the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

import msgspec

from svc.clock import Clock
from svc.formats import mime
from svc.formats.mime.many import Read
from svc.formats.person import Person
from svc.ids import derived_id
from svc.log import Log
from svc.mail.accounts.failures import Passed
from svc.mail.model import AttachmentRef, Body, Incoming, MessageHeaders, message_id_of
from svc.mail.providers.seam import MessageRef, Provider, ProviderFault, RawMessage
from svc.mail.sync.getting import Getter, Got, Witness, no_witness
from svc.mail.sync.ingest import sent_at_of
from svc.mail.sync.memory_budget import MemoryBudget
from svc.mail.sync.parsing import Parser
from svc.nursery import ProcessPool, ThreadPool, give_back_memory
from svc.store import Blobs

HELD_MESSAGES: Final = 100
"""The most whole messages in memory at a time: one page, whose blobs become durable with one sync of the disk. Of large
messages there is room for fewer (`memory_budget.py`)."""

DURABLE_TOGETHER_BYTES: Final = 16 * 1024 * 1024
"""After this many bytes, the raw messages are made durable and released before more are parsed: parsed parts are copies
and need memory, too."""

LARGE_BYTES: Final = 64 * 1024 * 1024
"""If the raw messages of one call were this many bytes or more, free memory is returned to the system at its end."""

_BULK_PRECEDENCES: Final = frozenset({"bulk", "list", "junk", "auto_reply"})  # no standard; these occur in practice

AT_HAND_CHARS: Final = 64 * 1024
"""A longer text of a body is not kept in memory beside its blob, since a page holds many messages."""


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """``doubt``: a fault of single messages, which must be fetched again. ``outage``: a fault of the provider, because
    of which the rest was not fetched."""

    incoming: tuple[Incoming, ...]
    passed: tuple[Passed, ...]
    doubt: ProviderFault | None = None
    outage: ProviderFault | None = None


@dataclass(frozen=True, kw_only=True)
class RawBatch:
    """The raw messages of ``wanted`` that came. ``left``: those still to be fetched, once there is room again."""

    got: Got
    wanted: tuple[MessageRef, ...]
    left: tuple[MessageRef, ...]
    budget: MemoryBudget


@dataclass(kw_only=True)
class Gathered:
    """Collects the parts of a :class:`Fetched`."""

    incoming: list[Incoming] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)
    doubt: ProviderFault | None = None
    outage: ProviderFault | None = None


@dataclass(frozen=True, kw_only=True)
class Preparer:
    """Parses raw messages of one account, and stores their bodies, raw bytes and attachments as durable blobs."""

    account_id: str
    blobs: Blobs
    threads: ThreadPool
    processes: ProcessPool
    clock: Clock
    log: Log
    with_readable: bool = True
    """Whether the readable text is kept in memory too, for code that reads it after the storing."""
    parser: Parser = field(init=False)

    def __post_init__(self) -> None:
        parser = Parser(threads=self.threads, processes=self.processes, log=self.log, with_readable=self.with_readable)
        object.__setattr__(self, "parser", parser)

    @property
    def server_threads(self) -> bool:
        """Whether the thread ids of raw messages are the provider's. An empty one is not known yet."""
        return True

    async def prepare(self, raws: Sequence[RawMessage]) -> Fetched:
        """Prepares messages whose bytes are here already, such as our own copy of a sent mail."""
        passed: list[Passed] = []
        return Fetched(incoming=tuple(await self._prepare(raws, passed)), passed=tuple(passed))

    async def _prepare(self, raws: Sequence[RawMessage], passed: list[Passed]) -> list[Incoming]:
        parsed: list[tuple[RawMessage, Read]] = []
        for raw, outcome in zip(raws, await self.parser.parse_all([raw.raw for raw in raws]), strict=True):
            if isinstance(outcome, Read):
                parsed.append((raw, outcome))
            else:
                self.log.error("mail.parse_failed", outcome, message=raw.id, size=len(raw.raw))
                reason = f"It can't be read: {type(outcome).__name__}."
                passed.append(Passed(provider_message_id=raw.id, step="fetch", reason=reason))
        contents: list[bytes] = []
        for raw, read in parsed:
            contents.append(_body_bytes(read.message))
            contents.append(raw.raw)
            contents.extend(attachment.content for attachment in read.message.attachments)
        hashes = iter([ref.sha256 for ref in await self.blobs.put_all(contents)])
        now = self.clock.now()
        return [
            _incoming(
                self.account_id,
                raw,
                read,
                now=now,
                provider_thread_id=(raw.thread_id or None) if self.server_threads else None,
                body_sha256=next(hashes),
                raw_sha256=next(hashes),
                attachment_sha256s=[next(hashes) for _ in read.message.attachments],
            )
            for raw, read in parsed
        ]


@dataclass(frozen=True, kw_only=True)
class Fetcher(Preparer):
    """Fetches messages of one account."""

    provider: Provider
    new_budget: Callable[[], MemoryBudget] = MemoryBudget
    _getter: Getter = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "_getter", Getter(provider=self.provider))

    @property
    def server_threads(self) -> bool:
        return self.provider.capabilities.server_threads

    async def fetch(
        self, refs: Sequence[MessageRef], *, failed_before: Set[str] = frozenset(), witness: Witness = no_witness
    ) -> Fetched:
        """Fetches and prepares ``refs``, in their order. See :meth:`Getter.get`."""
        gathered = Gathered()
        budget = self.new_budget()
        waiting: Sequence[MessageRef] = refs
        while waiting:
            batch = await self.get_some(waiting, budget=budget, failed_before=failed_before, witness=witness)
            await self.make_durable(batch, into=gathered)
            waiting = batch.left
        return await self.gathered(gathered)

    async def get_some(
        self, refs: Sequence[MessageRef], *, budget: MemoryBudget, failed_before: Set[str], witness: Witness
    ) -> RawBatch:
        """Gets the first of ``refs``, as many as the budget has room for. The caller must release what they used."""
        wanted, later = refs[:HELD_MESSAGES], refs[HELD_MESSAGES:]
        got = await self._getter.get(wanted, budget=budget, failed_before=failed_before, witness=witness)
        budget.hand_over()
        left = () if got.outage is not None else (*got.left, *later)
        return RawBatch(got=got, wanted=tuple(wanted), left=left, budget=budget)

    async def make_durable(self, batch: RawBatch, *, into: Gathered) -> None:
        """Prepares a batch, in its order. Each raw message is released as soon as it is durable."""
        got = batch.got
        into.passed += got.passed
        for group in _groups(got.raws.pop(ref.id) for ref in batch.wanted if ref.id in got.raws):
            size = sum(len(raw.raw) for raw in group)
            into.incoming += await self._prepare(group, into.passed)
            group.clear()
            batch.budget.let_go(size)
        into.doubt = into.doubt or got.doubt
        into.outage = into.outage or got.outage

    async def gathered(self, gathered: Gathered) -> Fetched:
        """The result of all batches."""
        if sum(one.raw_size for one in gathered.incoming) >= LARGE_BYTES:
            await self.threads.run(give_back_memory)
        return Fetched(
            incoming=tuple(gathered.incoming),
            passed=tuple(gathered.passed),
            doubt=gathered.doubt,
            outage=gathered.outage,
        )


def _groups(raws: Iterable[RawMessage]) -> Iterator[list[RawMessage]]:
    """Groups of at most :data:`DURABLE_TOGETHER_BYTES`; a larger message is a group of its own."""
    group: list[RawMessage] = []
    size = 0
    for raw in raws:
        size += len(raw.raw)
        if group and size > DURABLE_TOGETHER_BYTES:
            yield group
            group, size = [], len(raw.raw)
        group.append(raw)
    if group:
        yield group


def _body_bytes(message: mime.ParsedMessage) -> bytes:
    return msgspec.json.encode(Body(html=message.html, text=message.text))


def _incoming(
    account_id: str,
    raw: RawMessage,
    read: Read,
    *,
    now: int,
    provider_thread_id: str | None,
    body_sha256: str,
    raw_sha256: str,
    attachment_sha256s: Sequence[str],
) -> Incoming:
    message = read.message
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
        references=(*message.references, *filter(None, [message.original_message_id])),
        attachments=attachments,
        list_id=message.list_id,
        bulk=_is_bulk(message),
        problems=message.problems,
        senders=_people(message.senders) if len(message.senders) > 1 else (),
        delivered_to=message.delivered_to,
    )
    return Incoming(
        provider_message_id=raw.id,
        provider_thread_id=provider_thread_id,
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
        readable=read.readable if len(read.readable or "") <= AT_HAND_CHARS else None,
        original_message_id=message.original_message_id,
        received_at=raw.received_at,
        outgoing_mark=raw.draft_of or message.outgoing_mark,
    )


def _is_bulk(message: mime.ParsedMessage) -> bool:
    """Whether a mailing list, a newsletter or a program sent the message. ``Auto-Submitted: no`` says that a person
    wrote it (RFC 3834, 5.1)."""
    automatic = (message.auto_submitted or "no").partition(";")[0].strip().lower()
    precedence = (message.precedence or "").strip().lower()
    return bool(message.list_id or message.list_unsubscribe) or automatic != "no" or precedence in _BULK_PRECEDENCES


def _people(mailboxes: Sequence[mime.Mailbox]) -> tuple[Person, ...]:
    return tuple(Person(name=one.name, address=one.address) for one in mailboxes)
