"""Imports a source batch by batch: reads and parses mails here, and stores them in the transaction of :mod:`storing`.

The caller, a run or the command line, provides the access to the database; the processing of a mail is the same.
Memory holds the raw mails of two batches, however large the source is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

import trio

from svc.mail.porting.model import Taken, Tally
from svc.mail.porting.sources import Found, Item, SourceFault
from svc.mail.providers.seam import RawMessage
from svc.mail.sync.fetch import DURABLE_TOGETHER_BYTES, Preparer
from svc.nursery import ThreadPool, open_task_group

BATCH_MAILS: Final = 100
"""Mails per transaction; fewer if they are large."""
BATCH_SEEN: Final = 2_000
"""The most items of a batch, with those that are not mail. So a batch ends even in a long part without mail."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A batch of items. ``seen``: how many items of the source it contains; ``is_last``: it is the last batch."""

    found: tuple[Found, ...]
    seen: int
    is_last: bool


class LocalPreparer(Preparer):
    @property
    def server_threads(self) -> bool:
        return False


class Destination(Protocol):
    """The account into which mail is imported: what an import asks of it."""

    async def known(self, provider_message_ids: Sequence[str]) -> Set[str]: ...

    async def label_id(self, name: str) -> str:
        """The id of the user label of that name, created if it does not exist."""
        ...


@dataclass(kw_only=True)
class Reader:
    """Reads a source in threads. ``skip`` passes over items that were processed before."""

    items: Iterator[Found]
    threads: ThreadPool
    _fault: SourceFault | None = None

    async def skip(self, count: int) -> None:
        await self.threads.run(self._skip, count)

    async def next(self) -> Batch:
        return await self.threads.run(self._next)

    def _skip(self, count: int) -> None:
        for _ in zip(range(count), self.items, strict=False):
            pass

    def _next(self) -> Batch:
        """If the source ends in a fault, what came before it is a batch, and the next call raises the fault."""
        if self._fault is not None:
            raise self._fault
        found: list[Found] = []
        mails = size = 0
        try:
            for one in self.items:
                found.append(one)
                if isinstance(one, Item):
                    mails, size = mails + 1, size + len(one.raw)
                if mails >= BATCH_MAILS or size >= DURABLE_TOGETHER_BYTES or len(found) >= BATCH_SEEN:
                    return Batch(found=tuple(found), seen=len(found), is_last=False)
        except SourceFault as fault:
            self._fault = fault
            return Batch(found=tuple(found), seen=len(found), is_last=False)
        return Batch(found=tuple(found), seen=len(found), is_last=True)


@dataclass(kw_only=True)
class Taker:
    preparer: Preparer
    destination: Destination
    threads: ThreadPool
    _label_ids: dict[str, str] = field(default_factory=dict)

    async def take(self, found: Sequence[Found]) -> tuple[list[Taken], Tally]:
        """The mails of a batch, each once, and the counts of known and skipped ones."""
        tally = Tally()
        items: dict[str, Item] = {}
        names: dict[str, set[str]] = {}
        for one, sha256 in zip(found, await self.threads.run(_hashes, found), strict=True):
            if isinstance(one, Item):
                tally.known += sha256 in items
                items.setdefault(sha256, one)
                names.setdefault(sha256, set()).update(one.marks.own)
            else:
                tally.skip(one.reason)
        known = await self.destination.known(list(items))
        raws = [
            RawMessage(id=sha256, labels=item.marks.system, received_at=item.at, raw=item.raw)
            for sha256, item in items.items()
            if sha256 not in known
        ]
        prepared = await self.preparer.prepare(raws)
        for passed in prepared.passed:
            tally.skip(passed.reason)
        incoming = {one.provider_message_id: one for one in prepared.incoming}
        taken = [
            Taken(
                provider_message_id=sha256,
                labels=frozenset([await self._label_id(name) for name in sorted(names[sha256])]),
                incoming=incoming.get(sha256),
            )
            for sha256 in items
            if sha256 in known or sha256 in incoming
        ]
        return taken, tally

    async def _label_id(self, name: str) -> str:
        if name not in self._label_ids:
            self._label_ids[name] = await self.destination.label_id(name)
        return self._label_ids[name]


def _hashes(found: Sequence[Found]) -> list[str]:
    return [hashlib.sha256(one.raw).hexdigest() if isinstance(one, Item) else "" for one in found]


async def take_all(
    reader: Reader,
    taker: Taker,
    *,
    store: Callable[[Batch, Sequence[Taken], Tally], Awaitable[bool]],
) -> None:
    """Import to the end of the source, or until ``store`` returns ``False``. Raises the source's fault after everything
    before it is stored.

    While a batch is stored, the next one is parsed and made durable, and the one after that is read. Batches are stored
    in order. If one is not stored, the batches read ahead are dropped.
    """
    read_in, read_out = trio.open_memory_channel[Batch](0)
    taken_in, taken_out = trio.open_memory_channel[_TakenBatch](0)
    faults: list[SourceFault] = []
    async with open_task_group() as nursery:
        nursery.start_soon(
            _read_all, reader, read_in, faults, lambda: nursery.start_soon(taker.preparer.parser.warm_up)
        )
        nursery.start_soon(_prepare_all, taker, read_out, taken_in)
        async for one in taken_out:
            if not await store(one.batch, one.taken, one.tally):
                break
        nursery.cancel_scope.cancel()
    for fault in faults:
        raise fault


@dataclass(frozen=True, kw_only=True)
class _TakenBatch:
    """A batch with its parsed mails. ``batch`` has no items any more."""

    batch: Batch
    taken: Sequence[Taken]
    tally: Tally


async def _read_all(
    reader: Reader,
    batches: trio.MemorySendChannel[Batch],
    faults: list[SourceFault],
    there_are_more: Callable[[], None],
) -> None:
    with batches:
        while True:
            try:
                batch = await reader.next()
            except SourceFault as fault:
                faults.append(fault)
                return
            is_last = batch.is_last
            if not is_last:
                there_are_more()
            await batches.send(batch)
            del batch  # the receiver holds it now
            if is_last:
                return


async def _prepare_all(
    taker: Taker, batches: trio.MemoryReceiveChannel[Batch], prepared: trio.MemorySendChannel[_TakenBatch]
) -> None:
    with prepared:
        async for batch in batches:
            taken, tally = await taker.take(batch.found)
            batch = replace(batch, found=())  # its raw mails are durable, so memory need not hold them
            await prepared.send(_TakenBatch(batch=batch, taken=taken, tally=tally))
