"""The indexer: indexes messages a moment after they were stored, and removes the words of deleted messages.

The queue is a table that a durable consumer of stored mail fills: nothing is lost in a crash, and code that stores mail
does not have to call the indexer. The outbox says that there may be work; events recorded until then are queued first.
Bodies that were just parsed are passed in memory; others are read from their blobs. With a debounce of 0 the indexer is
synchronous: the code that stored mail waits until the mail can be found.
"""

from __future__ import annotations

import math
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec
import trio

from svc.formats.words.entries import Entries, entries_of_each, entries_of_text, unpacked
from svc.log import Log
from svc.mail.model import Body, Incoming, message_id_of
from svc.mail.search import actions, queries
from svc.mail.search.actions import Words
from svc.mail.search.queries import Waiting
from svc.mail.search.version import VERSION
from svc.mail.search.vocabulary import joined
from svc.mail.search.words import words_of, words_with
from svc.nursery import Child, ProcessPool, ThreadPool, Wake, WorkerCrashed, WorkerTimeout, open_task_group
from svc.store import BlobCorrupt, BlobMissing, Blobs, Store

BATCH: Final = 100
"""Messages per transaction: other writes wait for it for some tens of milliseconds."""

TOGETHER: Final = 20
"""Messages whose words are extracted in one call to a thread or a worker process: a call costs as much as a short
message, and others wait for a worker until it has ended."""

MANY: Final = 50
"""The entries of at least so many messages are computed in a worker process: it takes a moment to start."""

MAX_SENT_CHARS: Final = 1024 * 1024
"""The most text that is sent to it in one call: the event loop waits while it is packed."""

A_PAGE: Final = 50
"""So many messages stored together are a page of a mailbox that is being read: more are to come."""

PAGES_PAUSE_S: Final = 0.5
"""They are indexed once so long none came."""

LONGEST_PAUSE_S: Final = 10.0
"""But after so long at the latest."""

DEADLINE_S: Final = 20.0
CLEARED_AT_A_TIME: Final = 200
MAX_HELD_CHARS: Final = 16 * 1024 * 1024
MAX_BODY_BLOB_BYTES: Final = 64 * 1024 * 1024
TOPICS: Final = frozenset({"mail", "accounts"})


@dataclass(kw_only=True)
class Indexer:
    """``follow`` returns once all messages stored before are in the queue."""

    store: Store
    blobs: Blobs
    threads: ThreadPool
    processes: ProcessPool
    log: Log
    follow: Callable[[], Awaitable[object]]
    debounce_s: float
    wake: Wake = field(default_factory=Wake)
    """Called when there may be work that no event announces."""
    _bodies: dict[str, str] = field(default_factory=dict)
    held_chars: int = field(default=0, init=False)
    _turn: trio.Lock = field(default_factory=trio.Lock)
    _page_at: float = -math.inf
    _begun: int = 0
    _ended: int = 0
    """``_begun``: the number of the turn that began last; ``_ended``: of the last turn that completed all its work."""

    async def run(self, child: Child) -> None:
        child.started()
        async with open_task_group() as nursery:
            nursery.start_soon(self.store.outbox.wake_on, lambda row: row.topic in TOPICS, self.wake.call)
            while True:
                await self.catch_up()
                await self.wake.wait()
                await self._pause()

    async def _pause(self) -> None:
        """Wait for more of what is arriving. Pages are all stored first: a person who connects a mailbox looks at the
        list, and searches later."""
        latest = trio.current_time() + LONGEST_PAUSE_S
        await trio.sleep(self.debounce_s)
        while (until := min(self._page_at + PAGES_PAUSE_S, latest)) > trio.current_time():  # noqa: ASYNC110  a page moves it
            await trio.sleep_until(until)

    @property
    def is_synchronous(self) -> bool:
        return self.debounce_s == 0

    async def stored(self, account_id: str, messages: Sequence[Incoming]) -> None:
        """Called when these messages were just stored. If the indexer is synchronous, returns once they can be
        found."""
        if len(messages) >= A_PAGE:
            self._page_at = trio.current_time()
        for message in messages:
            if message.readable is not None:
                self._hold(message_id_of(account_id, message.provider_message_id), message.readable)
        if self.is_synchronous:
            await self.catch_up()

    async def catch_up(self) -> None:
        """Index everything that waits. All callers that wait when a turn begins share it."""
        begun_before = self._begun
        async with self._turn:
            if self._ended > begun_before:
                return  # a turn that began after this call has done it all
            self._begun += 1
            held = list(self._bodies)
            await self.follow()
            while (await self.store.read_small(queries.state)).version != VERSION:
                await self.store.write(actions.queue_outdated)
            await self._take_all()
            self._let_go(held)  # these bodies belong to no waiting message; bodies stored since may
            while await self.store.read_small(queries.has_gone):
                await self.store.write(actions.clear, limit=CLEARED_AT_A_TIME)
            while (await self.store.read_small(queries.state)).wants_compacting:
                await self.store.write(actions.compact)
            self._ended = self._begun

    async def _take_all(self) -> None:
        """Index what is in the queue: the words of one batch are extracted while the batch before is written."""
        async with open_task_group() as nursery:
            extracted, batches = trio.open_memory_channel[list[tuple[Words, Entries]]](0)
            nursery.start_soon(self._extract_all, extracted)
            async for batch in batches:
                await self.store.write(actions.take, messages=batch)

    async def _extract_all(self, extracted: trio.MemorySendChannel[list[tuple[Words, Entries]]]) -> None:
        before: set[int] = set()  # the numbers of the batch that is being written
        async with extracted:
            while True:
                waiting = await self.store.read(queries.waiting, limit=BATCH + len(before))
                batch = [message for message in waiting if message.number not in before][:BATCH]
                if not batch:
                    return
                await extracted.send(await self.words(batch))
                before = {message.number for message in batch}

    async def words(self, messages: Sequence[Waiting]) -> list[tuple[Words, Entries]]:
        """The messages' words, from the bodies in memory or from their blobs, and their entries for the vocabulary."""
        found: list[Words] = []
        for start in range(0, len(messages), TOGETHER):
            some = messages[start : start + TOGETHER]
            bodies = [self._at_hand(message.message_id) for message in some]
            for message, (words, fault) in zip(some, await self.threads.run(self._words, some, bodies), strict=True):
                found.append(words)
                if fault is not None:
                    self._log_fault(message, fault)
        return list(zip(found, await self._entries(found), strict=True))

    async def _entries(self, found: Sequence[Words]) -> list[Entries]:
        """Those of many messages come from a worker process, if there is a processor for it."""
        apart = len(found) >= MANY and (os.cpu_count() or 1) > 1
        entries: list[Entries] = []
        for start in range(0, len(found), TOGETHER):
            texts = [joined(one.columns) for one in found[start : start + TOGETHER]]
            packed = await self._packed_entries(texts) if apart else None
            entries += await self.threads.run(_entries_of, texts, packed)
        return entries

    async def _packed_entries(self, texts: Sequence[str]) -> list[bytes] | None:
        """From a worker process; ``None`` if none can do it."""
        if sum(map(len, texts)) > MAX_SENT_CHARS:
            return None
        try:
            return await self.processes.run(entries_of_each, texts, deadline_s=DEADLINE_S)
        except (WorkerTimeout, WorkerCrashed, OSError) as fault:  # OSError: no process can be started
            self.log.info("search.entries_here", messages=len(texts), reason=str(fault))
            return None

    def _words(self, messages: Sequence[Waiting], bodies: Sequence[str | None]) -> list[tuple[Words, Exception | None]]:
        """Runs in a thread. Returns the words, and the fault if the body could not be read."""
        return [self._words_of(message, at_hand) for message, at_hand in zip(messages, bodies, strict=True)]

    def _words_of(self, message: Waiting, at_hand: str | None) -> tuple[Words, Exception | None]:
        try:
            if at_hand is not None:  # this program made the preview line of this same body
                return words_of(message, at_hand), None
            data = self.blobs.read_now(message.body_sha256, MAX_BODY_BLOB_BYTES)
            return words_with(message, msgspec.json.decode(data, type=Body)), None
        except Exception as fault:  # an edge: a fault in one message must not stop the others
            return words_of(message, None), fault

    def _log_fault(self, message: Waiting, fault: Exception) -> None:
        if isinstance(fault, BlobMissing | BlobCorrupt):
            self.log.error(
                "search.body_lost", message=message.message_id, sha256=message.body_sha256, reason=str(fault)
            )
        else:
            self.log.error("search.body_unread", fault, message=message.message_id)

    def _at_hand(self, message_id: str) -> str | None:
        body = self._bodies.pop(message_id, None)
        if body is not None:
            self.held_chars -= len(body)
        return body

    def _hold(self, message_id: str, body: str) -> None:
        """Keep a body until its words are extracted, unless too much is kept already."""
        if message_id not in self._bodies and self.held_chars + len(body) <= MAX_HELD_CHARS:
            self._bodies[message_id] = body
            self.held_chars += len(body)

    def _let_go(self, message_ids: Iterable[str]) -> None:
        for message_id in message_ids:
            self._at_hand(message_id)


def _entries_of(texts: Sequence[str], packed: Sequence[bytes] | None) -> list[Entries]:
    """Runs in a thread. ``packed``: what a worker answered, if one did."""
    return [*map(entries_of_text, texts)] if packed is None else [*map(unpacked, packed)]
