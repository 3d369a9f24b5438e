"""The deterministic fake mail provider: mailboxes in memory behind the real provider's interface, with hooks, faults.

For the service it is a remote system, which never touches its database. At boot it is rebuilt from fixtures and an
fsynced journal of each hook and call that changed something (``SVC_HOME/spool/fake.jsonl``): it survives a crash.
"""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import Final, Literal

import msgspec
import trio

from svc.clock import Clock, Millis
from svc.errors import NotFound
from svc.fakes.authority import AUTHORITY
from svc.fakes.mail.journal import Entry, append, b64, read
from svc.mail import SENT
from svc.mail.providers.seam import (
    Capabilities,
    ChangeKind,
    GrantLost,
    HistoryChange,
    HistoryExpired,
    HistoryPage,
    Listed,
    ListPage,
    LostAnswer,
    MessageGone,
    MessageRef,
    Profile,
    ProviderFault,
    ProviderLabel,
    RawMessage,
    Refused,
    SendingAddress,
    SentMessage,
    ThreadGone,
    Throttled,
    Unreachable,
)
from svc.nursery import ThreadPool

HISTORY_PAGE: Final = 100
SYSTEM_LABELS: Final = ("INBOX", "UNREAD", "STARRED", "IMPORTANT", "SENT", "DRAFT", "SPAM", "TRASH")
RETRY_AFTER_S: Final = 1.0
_SECOND_MS: Final = 1_000

Operation = Literal["list", "get", "history", "send", "modify"]
Fault = Literal[401, 403, 404, 429, 500, "timeout", "cut", "lost-answer"]


@dataclass(kw_only=True)
class _Message:
    id: str
    thread_id: str
    labels: frozenset[str]
    received_at: Millis
    raw: bytes


@dataclass(frozen=True, kw_only=True)
class SentRecord:
    provider_message_id: str
    raw: bytes


@dataclass(kw_only=True)
class _Mailbox:
    address: str
    name: str | None = None
    aliases: tuple[SendingAddress, ...] = ()
    messages: dict[str, _Message] = field(default_factory=dict)
    labels: dict[str, ProviderLabel] = field(default_factory=dict)
    history: list[tuple[int, HistoryChange]] = field(default_factory=list)
    cursor: int = 1_000
    oldest_cursor: int = 0
    sent: list[SentRecord] = field(default_factory=list)
    next_number: int = 1
    labels_deleted: int = 0

    def change(self, kind: ChangeKind, message: _Message, labels: frozenset[str] = frozenset()) -> None:
        self.cursor += 1
        change = HistoryChange(kind=kind, message_id=message.id, thread_id=message.thread_id, labels=labels)
        self.history.append((self.cursor, change))


@dataclass(kw_only=True)
class FakeWorld:
    """All fake mailboxes. Changes go to the journal first, then to memory."""

    journal: Path
    clock: Clock
    threads: ThreadPool
    _mailboxes: dict[str, _Mailbox] = field(default_factory=dict)
    _faults: dict[tuple[str, Operation], list[Fault]] = field(default_factory=lambda: defaultdict(list))
    _newest: Millis = 0
    """The time of the newest of all messages."""
    _writing: trio.Lock = field(default_factory=trio.Lock)

    def load(self) -> None:
        """Rebuild the world from its journal."""
        for entry in read(self.journal):
            self._apply(entry)

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(self._mailboxes)

    async def seed(self) -> None:
        """Create the mock world, once."""
        if not self._mailboxes:
            await self._do(lambda: Entry(op="seed", at=self.clock.now()))

    def provider(self, address: str) -> FakeProvider:
        return FakeProvider(world=self, address=address)

    # The hooks

    async def inject(
        self, *, address: str, raw: bytes, thread_key: str | None, labels: frozenset[str], stamped: bool = False
    ) -> tuple[str, str]:
        """A new message arrives. Returns the provider's ids of the message and its thread. ``stamped``: it gets a
        Message-ID (always the same for the same position here) and a date, as its sender would have set them. That date
        is later than all mail of this world. So the newest mail is first even if several arrive within one second,
        which is the precision of a mail's date."""

        def decide() -> Entry:
            box = self._mailboxes.get(address.lower())
            message_id = f"fake-{box.next_number if box else 1}"
            at = max(self.clock.now(), self._newest + _SECOND_MS) if stamped else self.clock.now()
            head = f"Message-ID: <{message_id}.{address.lower()}>\nDate: {formatdate(at / 1_000)}\n" if stamped else ""
            return Entry(
                op="insert",
                address=address.lower(),
                id=message_id,
                thread=f"key-{thread_key}" if thread_key else f"thread-{message_id}",
                labels=sorted(labels),
                at=at,
                raw=b64(head.encode() + raw),
            )

        entry = await self._do(decide)
        return entry.id, entry.thread

    async def set_labels(self, *, address: str, message_id: str, labels: frozenset[str]) -> None:
        """Change labels at the provider, as another program would."""

        def decide() -> Entry:
            before = self._message(address, message_id).labels
            return _modified(address, message_id, add=labels - before, remove=before - labels)

        await self._do(decide)

    async def delete(self, *, address: str, message_id: str) -> None:
        await self._do(lambda: Entry(op="delete", address=address.lower(), id=self._message(address, message_id).id))

    async def expire_history(self, *, address: str) -> None:
        await self._do(lambda: Entry(op="expire", address=self.mailbox(address).address))

    def fault(self, *, address: str, operation: Operation, fault: Fault, times: int) -> None:
        """The next ``times`` calls of ``operation`` fail. Faults are not stored: a restart clears them."""
        self.mailbox(address)
        self._faults[address.lower(), operation].extend([fault] * times)

    # For the provider interface

    def mailbox(self, address: str) -> _Mailbox:
        box = self._mailboxes.get(address.lower())
        if box is None:
            raise NotFound("There is no such mailbox.")
        return box

    def next_fault(self, address: str, operation: Operation) -> Fault | None:
        waiting = self._faults[address.lower(), operation]
        return waiting.pop(0) if waiting else None

    async def modify(self, address: str, message_id: str, *, add: frozenset[str], remove: frozenset[str]) -> None:
        """Raises :class:`NotFound`."""
        await self._do(lambda: _modified(address, self._message(address, message_id).id, add=add, remove=remove))

    async def modify_many(
        self, address: str, message_ids: Sequence[str], *, add: frozenset[str], remove: frozenset[str]
    ) -> None:
        """Missing messages are skipped. One line of the journal: after a crash either all or nothing is there."""
        box = self.mailbox(address)

        def decide() -> Entry:
            there = [message_id for message_id in message_ids if message_id in box.messages]
            entry = _modified(address, "", add=add, remove=remove)
            return msgspec.structs.replace(entry, op="modify-many", ids=there)

        await self._do(decide)

    async def create_label(self, address: str, name: str, *, color: str | None = None) -> ProviderLabel:
        """Raises :class:`Refused` if the name exists."""
        box = self.mailbox(address)

        def decide() -> Entry:
            if any(label.name.casefold() == name.casefold() for label in box.labels.values()):
                raise Refused("Label name exists or conflicts (409).")
            number = len(box.labels) + box.labels_deleted + 1  # an id is never used again
            return Entry(op="label", address=box.address, id=f"Label_{number}", name=name, color=color or "")

        entry = await self._do(decide)
        return box.labels[entry.id]

    async def delete_label(self, *, address: str, label_id: str) -> None:
        """Delete a label at the provider, as another program would: messages lose it, and the history is silent."""
        await self._do(lambda: Entry(op="unlabel", address=self.mailbox(address).address, id=label_id))

    def require_labels(self, address: str, labels: frozenset[str]) -> None:
        """Raises :class:`Refused` like the real provider, for the whole call."""
        unknown = labels - self.mailbox(address).labels.keys()
        if unknown:
            raise Refused(f"Invalid label IDs (400): {', '.join(sorted(unknown))}")

    async def send(self, address: str, raw: bytes, *, thread_id: str | None) -> SentMessage:
        box = self.mailbox(address)

        def decide() -> Entry:
            message_id = f"fake-{box.next_number}"
            return Entry(
                op="send",
                address=box.address,
                id=message_id,
                thread=thread_id or f"thread-{message_id}",
                at=self.clock.now(),
                raw=b64(raw),
            )

        entry = await self._do(decide)
        return SentMessage(id=entry.id, thread_id=entry.thread, labels=frozenset({SENT}))

    # The journal

    async def _do(self, decide: Callable[[], Entry]) -> Entry:
        """Make one change. ``decide`` gives ids and looks up messages while nothing else changes the world."""
        async with self._writing:
            entry = decide()
            with trio.CancelScope(shield=True):  # bounded: one line to a local file; memory and journal must agree
                await self.threads.run(append, self.journal, msgspec.json.encode(entry) + b"\n")
            self._apply(entry)
            return entry

    def _apply(self, entry: Entry) -> None:
        _APPLY[entry.op](self, entry)

    def _apply_seed(self, entry: Entry) -> None:
        from svc.demo.mail import mailboxes  # imported late: only seeding needs the demo world

        for fixture in mailboxes(entry.at, authority=AUTHORITY):
            box = self._box(fixture.address)
            box.name = fixture.name
            box.labels.update((label.id, label) for label in fixture.labels)
            for message in fixture.messages:
                box.messages[message.provider_id] = _Message(
                    id=message.provider_id,
                    thread_id=f"key-{message.thread_key}",
                    labels=message.labels,
                    received_at=message.received_at,
                    raw=message.raw,
                )
                self._newest = max(self._newest, message.received_at)

    def _apply_insert(self, entry: Entry) -> None:
        box = self._box(entry.address)
        message = _Message(
            id=entry.id,
            thread_id=entry.thread,
            labels=frozenset(entry.labels),
            received_at=entry.at,
            raw=base64.b64decode(entry.raw),
        )
        box.messages[entry.id] = message
        self._newest = max(self._newest, message.received_at)
        box.next_number += 1
        box.change("added", message)

    def _apply_modify(self, entry: Entry) -> None:
        self._relabel(entry, entry.id)

    def _apply_modify_many(self, entry: Entry) -> None:
        for message_id in entry.ids:
            self._relabel(entry, message_id)

    def _relabel(self, entry: Entry, message_id: str) -> None:
        box = self._box(entry.address)
        message = box.messages[message_id]
        added = frozenset(entry.labels) - message.labels
        removed = frozenset(entry.remove) & message.labels
        message.labels = (message.labels | added) - removed
        if added:
            box.change("labels-added", message, added)
        if removed:
            box.change("labels-removed", message, removed)

    def _apply_delete(self, entry: Entry) -> None:
        box = self._box(entry.address)
        box.change("deleted", box.messages.pop(entry.id))

    def _apply_expire(self, entry: Entry) -> None:
        box = self._box(entry.address)
        box.cursor += 1
        box.oldest_cursor = box.cursor
        box.history.clear()

    def _apply_label(self, entry: Entry) -> None:
        label = ProviderLabel(id=entry.id, name=entry.name, system=False, color=entry.color or None)
        self._box(entry.address).labels[entry.id] = label

    def _apply_unlabel(self, entry: Entry) -> None:
        box = self._box(entry.address)
        if box.labels.pop(entry.id, None) is not None:
            box.labels_deleted += 1
        for message in box.messages.values():
            message.labels -= {entry.id}

    def _apply_send(self, entry: Entry) -> None:
        entry.labels = [SENT]
        self._apply_insert(entry)
        self._box(entry.address).sent.append(SentRecord(provider_message_id=entry.id, raw=base64.b64decode(entry.raw)))

    def _box(self, address: str) -> _Mailbox:
        box = self._mailboxes.get(address.lower())
        if box is None:
            system = {name: ProviderLabel(id=name, name=name, system=True) for name in SYSTEM_LABELS}
            box = self._mailboxes[address.lower()] = _Mailbox(address=address.lower(), labels=system)
        return box

    def _message(self, address: str, message_id: str) -> _Message:
        message = self.mailbox(address).messages.get(message_id)
        if message is None:
            raise NotFound("There is no such message.")
        return message


_APPLY: Final[dict[str, Callable[[FakeWorld, Entry], None]]] = {
    "seed": FakeWorld._apply_seed,
    "insert": FakeWorld._apply_insert,
    "modify": FakeWorld._apply_modify,
    "modify-many": FakeWorld._apply_modify_many,
    "delete": FakeWorld._apply_delete,
    "expire": FakeWorld._apply_expire,
    "label": FakeWorld._apply_label,
    "unlabel": FakeWorld._apply_unlabel,
    "send": FakeWorld._apply_send,
}


FAKE: Final = Capabilities(
    labels=True, colors=True, server_threads=True, bulk_min=11, bulk_max=1_000, max_message_bytes=35 * 1024 * 1024
)


@dataclass(frozen=True, kw_only=True)
class FakeProvider:
    """One fake mailbox with the interface of a provider."""

    world: FakeWorld
    address: str
    capabilities: Capabilities = FAKE

    @property
    def drafts(self) -> None:
        return None

    async def profile(self, *, listed: Listed | None = None) -> Profile:
        await trio.lowlevel.checkpoint()
        box = self.world.mailbox(self.address)
        return Profile(address=box.address, cursor=str(box.cursor), messages_total=len(box.messages))

    async def addresses(self) -> tuple[SendingAddress, ...]:
        await trio.lowlevel.checkpoint()
        box = self.world.mailbox(self.address)
        default = not any(one.default for one in box.aliases)
        return (SendingAddress(address=box.address, name=box.name or "", own=True, default=default), *box.aliases)

    async def list_messages(
        self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
    ) -> ListPage:
        await self._weather("list", gone=Refused("The mailbox was not found."))
        box = self.world.mailbox(self.address)
        found = [one for one in box.messages.values() if label is None or label in one.labels]
        found.sort(key=lambda one: (one.received_at, one.id), reverse=True)
        start = int(page_token or "0")
        following = str(start + limit) if start + limit < len(found) else None
        refs = tuple(MessageRef(id=one.id, thread_id=one.thread_id) for one in found[start : start + limit])
        return ListPage(messages=refs, next_page_token=following)

    def expect(self, message_ids: Sequence[str]) -> None:
        """Nothing to prepare: each message is fetched alone."""

    async def get(self, message_id: str) -> RawMessage:
        await self._weather("get", gone=MessageGone("The message is gone."))
        if (message := self.world.mailbox(self.address).messages.get(message_id)) is None:
            raise MessageGone("The message is gone.")
        return RawMessage(
            id=message.id,
            thread_id=message.thread_id,
            labels=message.labels,
            received_at=message.received_at,
            raw=message.raw,
        )

    async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
        await self._weather("history", gone=HistoryExpired("The history is older than the provider keeps."))
        box = self.world.mailbox(self.address)
        if int(since) < box.oldest_cursor:
            raise HistoryExpired("The history is older than the provider keeps.")
        after = [change for number, change in box.history if number > int(since)]
        start = int(page_token or "0")
        following = str(start + HISTORY_PAGE) if start + HISTORY_PAGE < len(after) else None
        page = tuple(after[start : start + HISTORY_PAGE])
        return HistoryPage(changes=page, next_page_token=following, cursor=str(box.cursor))

    async def modify(self, message_id: str, *, add: frozenset[str], remove: frozenset[str]) -> None:
        lost = await self._weather("modify", gone=MessageGone("The message is gone."))
        self.world.require_labels(self.address, add | remove)
        try:
            await self.world.modify(self.address, message_id, add=add, remove=remove)
        except NotFound:
            raise MessageGone("The message is gone.") from None
        if lost:
            raise lost

    async def modify_many(self, message_ids: Sequence[str], *, add: frozenset[str], remove: frozenset[str]) -> None:
        lost = await self._weather("modify", gone=Refused("The mailbox was not found."))
        self.world.require_labels(self.address, add | remove)
        await self.world.modify_many(self.address, message_ids, add=add, remove=remove)
        if lost:
            raise lost

    async def labels(self) -> tuple[ProviderLabel, ...]:
        await trio.lowlevel.checkpoint()
        return tuple(self.world.mailbox(self.address).labels.values())

    async def create_label(self, name: str, *, color: str | None = None) -> ProviderLabel:
        return await self.world.create_label(self.address, name, color=color)

    async def aclose(self) -> None:
        """Nothing stays open between two calls."""

    async def listen(self, heard: Callable[[], None]) -> None:
        """It sends no notifications."""

    def quota_used(self) -> None:
        return None

    def left_out(self) -> tuple[str, ...]:
        return ()

    async def send(self, raw: bytes, *, thread_id: str | None = None) -> SentMessage:
        lost = await self._weather("send", gone=ThreadGone("The thread was not found."))
        sent = await self.world.send(self.address, raw, thread_id=thread_id)
        if lost:
            raise lost
        return sent

    async def _weather(self, operation: Operation, *, gone: ProviderFault) -> LostAnswer | None:
        """Raise the fault that is set for this call, if any. A ``lost-answer`` is returned, to raise after the work."""
        await trio.lowlevel.checkpoint()
        fault = self.world.next_fault(self.address, operation)
        if fault == 401:  # the real provider's client refreshes its token once; only a second one ends the grant
            fault = self.world.next_fault(self.address, operation)
            if fault == 401:
                raise GrantLost("The provider no longer accepts this connection. Connect the account again.")
        if fault is None:
            return None
        if fault == "lost-answer":
            lost = LostAnswer("The connection was cut before the provider answered.")
            if operation in {"send", "modify"}:
                return lost
            raise lost
        raise gone if fault == 404 else _FAULTS[fault](operation)


def _modified(address: str, message_id: str, *, add: frozenset[str], remove: frozenset[str]) -> Entry:
    return Entry(op="modify", address=address.lower(), id=message_id, labels=sorted(add), remove=sorted(remove))


def _unavailable(operation: Operation) -> ProviderFault:
    """A 5xx: after a ``send``, it is unknown whether the mail was sent."""
    kind = LostAnswer if operation == "send" else Unreachable
    return kind("The provider answered with an internal error (500).")


_FAULTS: Final[dict[Fault, Callable[[Operation], ProviderFault]]] = {
    403: lambda operation: Refused("The provider refuses this (403)."),
    429: lambda operation: Throttled("The provider asks for a pause (429).", retry_after_s=RETRY_AFTER_S),
    500: _unavailable,
    "timeout": lambda operation: LostAnswer("The provider did not answer in time."),
    "cut": lambda operation: LostAnswer("The connection was cut before the provider answered."),
}
