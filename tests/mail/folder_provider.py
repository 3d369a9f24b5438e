"""A mailbox with folders and flags instead of labels, and without threads, in memory, behind the seam: as IMAP servers
have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import trio

from svc.clock import Clock, Millis
from svc.mail.model import DRAFT, SENT
from svc.mail.providers.folders import ARCHIVE, FLAGS, ROLES, Place, labels_of, relabelled, told
from svc.mail.providers.seam import (
    Capabilities,
    ChangeKind,
    HistoryChange,
    HistoryExpired,
    HistoryPage,
    Listed,
    ListPage,
    MessageGone,
    MessageRef,
    Profile,
    ProviderFault,
    ProviderLabel,
    RawMessage,
    Refused,
    SendingAddress,
    SentMessage,
)

FOLDERS = Capabilities(
    labels=False, colors=False, server_threads=False, bulk_min=2, bulk_max=50, max_message_bytes=35 << 20
)


@dataclass(kw_only=True)
class Kept:
    id: str
    place: Place
    received_at: Millis
    raw: bytes


@dataclass(kw_only=True)
class FolderMailbox:
    """The mailbox itself, as its server and every other program see it."""

    address: str
    clock: Clock
    kept: dict[str, Kept] = field(default_factory=dict)
    changes: list[HistoryChange] = field(default_factory=list)
    forgotten: int = 0  # changes before this one are no longer told
    faults: list[ProviderFault | None] = field(default_factory=list)
    drafts: list[tuple[str, bytes]] = field(default_factory=list)
    """By their marks, as programs see them: two of one mark may stand there for a moment."""
    drafts_put: int = 0
    names: tuple[str, ...] = ()
    """Under which a mail is sent on, beside its own."""

    def deliver(self, raw: bytes, *, folder: str, seen: bool = False) -> str:
        message_id = f"m{len(self.changes)}"
        one = Kept(
            id=message_id,
            place=Place(folder=folder, seen=seen),
            received_at=self.clock.now(),
            raw=raw,
        )
        self.kept[message_id] = one
        self._tell("added", one)
        return message_id

    def put(self, message_id: str, place: Place) -> None:
        """Moved or flagged, by whomever."""
        one = self.kept[message_id]
        added, removed = told(one.place, place)
        one.place = place
        if added:
            self._tell("labels-added", one, added)
        if removed:
            self._tell("labels-removed", one, removed)

    def move(self, message_id: str, folder: str) -> None:
        self.put(message_id, replace(self.kept[message_id].place, folder=folder))

    def delete(self, message_id: str) -> None:
        self._tell("deleted", self.kept.pop(message_id))

    async def weather(self) -> None:
        """Raises the fault that waits for this step of a change of drafts, if there is one (``None``: it goes well)."""
        await trio.lowlevel.checkpoint()
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            raise fault

    def forget_changes(self) -> None:
        self.forgotten = len(self.changes) + 1
        self._tell("labels-added", next(iter(self.kept.values())), frozenset())

    def _tell(self, kind: ChangeKind, one: Kept, labels: frozenset[str] = frozenset()) -> None:
        self.changes.append(HistoryChange(kind=kind, message_id=one.id, labels=labels))


@dataclass(frozen=True, kw_only=True)
class FolderDrafts:
    box: FolderMailbox

    async def keep(
        self, raw: bytes, *, mark: str, instead_of: Sequence[str] = (), thread_id: str | None = None
    ) -> None:
        await self.box.weather()
        before = [one for one in self.box.drafts if one[0] == mark]
        self.box.drafts.append((mark, raw))
        self.box.drafts_put += 1
        await self.box.weather()
        self.box.drafts = [one for one in self.box.drafts if one not in before]
        self._remove(instead_of)

    async def drop(self, mark: str, *, instead_of: Sequence[str] = ()) -> None:
        await self.box.weather()
        self.box.drafts = [one for one in self.box.drafts if one[0] != mark]
        self._remove(instead_of)

    async def there(self, mark: str) -> bool:
        await self.box.weather()
        return any(one[0] == mark for one in self.box.drafts)

    def _remove(self, message_ids: Sequence[str]) -> None:
        for one in message_ids:
            if one in self.box.kept and self.box.kept[one].place.folder == DRAFT:
                self.box.delete(one)


@dataclass(frozen=True, kw_only=True)
class FolderProvider:
    """That mailbox through the seam."""

    box: FolderMailbox
    capabilities: Capabilities = FOLDERS

    @property
    def drafts(self) -> FolderDrafts:
        return FolderDrafts(box=self.box)

    async def profile(self, *, listed: Listed | None = None) -> Profile:
        await trio.lowlevel.checkpoint()
        box = self.box
        return Profile(address=box.address, cursor=str(len(box.changes)), messages_total=len(box.kept))

    async def addresses(self) -> tuple[SendingAddress, ...]:
        """A mailbox of its kind tells none."""
        return ()

    async def list_messages(
        self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
    ) -> ListPage:
        await trio.lowlevel.checkpoint()
        found = [one for one in self.box.kept.values() if label is None or label in labels_of(one.place)]
        found.sort(key=lambda one: (one.received_at, one.id), reverse=True)
        start = int(page_token or "0")
        refs = tuple(MessageRef(id=one.id) for one in found[start : start + limit])
        return ListPage(messages=refs, next_page_token=str(start + limit) if start + limit < len(found) else None)

    def expect(self, message_ids: Sequence[str]) -> None:
        """Nothing to prepare: each is asked for alone."""

    async def get(self, message_id: str) -> RawMessage:
        await trio.lowlevel.checkpoint()
        one = self._there(message_id)
        return RawMessage(id=one.id, labels=labels_of(one.place), received_at=one.received_at, raw=one.raw)

    async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
        await trio.lowlevel.checkpoint()
        if int(since) < self.box.forgotten:
            raise HistoryExpired("The server no longer knows what changed since.")
        changes = tuple(self.box.changes[int(since) :])
        return HistoryPage(changes=changes, next_page_token=None, cursor=str(len(self.box.changes)))

    async def modify(self, message_id: str, *, add: frozenset[str], remove: frozenset[str]) -> None:
        await trio.lowlevel.checkpoint()
        unknown = (add | remove) - FLAGS - frozenset(ROLES)
        if unknown:
            raise Refused(f"There is no such folder: {', '.join(sorted(unknown))}")
        self.box.put(message_id, relabelled(self._there(message_id).place, add=add, remove=remove))

    async def modify_many(self, message_ids: Sequence[str], *, add: frozenset[str], remove: frozenset[str]) -> None:
        assert len(message_ids) <= self.capabilities.bulk_max
        for message_id in message_ids:
            if message_id in self.box.kept:
                await self.modify(message_id, add=add, remove=remove)

    async def labels(self) -> tuple[ProviderLabel, ...]:
        await trio.lowlevel.checkpoint()
        return tuple(ProviderLabel(id=name, name=name, system=True) for name in (*ROLES, *sorted(FLAGS)))

    async def create_label(self, name: str, *, color: str | None = None) -> ProviderLabel:
        raise AssertionError("nobody asks a mailbox without labels for one")

    async def send(self, raw: bytes, *, thread_id: str | None = None) -> SentMessage:
        """``thread_id`` means nothing here: threads follow from what the mails say."""
        await trio.lowlevel.checkpoint()
        one = self.box.kept[self.box.deliver(raw, folder=SENT, seen=True)]
        return SentMessage(id=one.id, labels=labels_of(one.place), names=self.box.names)

    async def aclose(self) -> None:
        """Nothing is held open between two calls."""

    async def listen(self, heard: Callable[[], None]) -> None:
        """It tells nothing by itself."""

    def quota_used(self) -> None:
        return None

    def left_out(self) -> tuple[str, ...]:
        return ()

    def _there(self, message_id: str) -> Kept:
        if message_id not in self.box.kept:
            raise MessageGone("The message is gone.")
        return self.box.kept[message_id]


__all__ = ["ARCHIVE", "FolderMailbox", "FolderProvider"]
