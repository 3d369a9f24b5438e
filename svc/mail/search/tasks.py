"""The indexer: takes the words of what was stored, a moment after it was stored, and clears away those of what is gone.

The queue is a table, filled by a durable consumer of what was stored: nothing is forgotten over a crash, and nobody who
stores mail has to call. The outbox tells that there may be work; what was recorded until then is queued first. Bodies
that were parsed a moment ago are handed over in memory; others are read from their blobs. With a debounce of 0 it is
synchronous: who stored mail waits until it can be found.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import msgspec
import trio

from svc.log import Log
from svc.mail.model import Body, Incoming, message_id_of
from svc.mail.search import actions, queries
from svc.mail.search.actions import Words
from svc.mail.search.queries import Waiting
from svc.mail.search.text import VERSION
from svc.mail.search.words import words_of, words_with
from svc.nursery import Child, ThreadPool, Wake, open_task_group
from svc.store import BlobCorrupt, BlobMissing, Blobs, Overflowed, Store

BATCH: Final = 100
"""Messages of one transaction: others' writes wait for it some tens of milliseconds."""

TOGETHER: Final = 20
"""Messages whose words are taken in one hop to a thread: a hop costs as much as a short message."""

CLEARED_AT_A_TIME: Final = 200
MAX_HELD_CHARS: Final = 16 * 1024 * 1024
MAX_BODY_BLOB_BYTES: Final = 64 * 1024 * 1024
TOPICS: Final = frozenset({"mail", "accounts"})


@dataclass(kw_only=True)
class Indexer:
    """``follow`` returns once all that was stored before stands in the queue."""

    store: Store
    blobs: Blobs
    threads: ThreadPool
    log: Log
    follow: Callable[[], Awaitable[object]]
    debounce_s: float
    wake: Wake = field(default_factory=Wake)
    """Called where there may be work that no news tell of."""
    _bodies: dict[str, str] = field(default_factory=dict)
    held_chars: int = field(default=0, init=False)
    _turn: trio.Lock = field(default_factory=trio.Lock)
    _begun: int = 0
    _ended: int = 0
    """The number of the turn that began last, and of the one that last worked off all there was."""

    async def run(self, child: Child) -> None:
        child.started()
        async with open_task_group() as nursery:
            nursery.start_soon(self._listen)
            while True:
                await self.catch_up()
                await self.wake.wait()
                await trio.sleep(self.debounce_s)

    async def _listen(self) -> None:
        while True:
            with self.store.outbox.subscribe() as news, suppress(Overflowed):
                self.wake.call()  # for what was told before
                while True:
                    if any(row.topic in TOPICS for row in await news.receive()):
                        self.wake.call()

    @property
    def is_synchronous(self) -> bool:
        return self.debounce_s == 0

    async def stored(self, account_id: str, messages: Sequence[Incoming]) -> None:
        """These were stored just now. Returns once they can be found, where that is asked for."""
        for message in messages:
            if message.readable is not None:
                self._hold(message_id_of(account_id, message.provider_message_id), message.readable)
        if self.is_synchronous:
            await self.catch_up()

    async def catch_up(self) -> None:
        """Work off all that waits. Who waits for a turn shares it with all who came before it began."""
        begun_before = self._begun
        async with self._turn:
            if self._ended > begun_before:
                return  # a turn that began after this call has done it all
            self._begun += 1
            held = list(self._bodies)
            await self.follow()
            while (await self.store.read_small(queries.state)).version != VERSION:
                await self.store.write(actions.queue_outdated)
            while waiting := await self.store.read(queries.waiting, limit=BATCH):
                await self.store.write(actions.take, messages=await self.words(waiting))
            self._let_go(held)  # it belongs to nothing that waits; what was stored since may
            while await self.store.read_small(queries.has_gone):
                await self.store.write(actions.clear, limit=CLEARED_AT_A_TIME)
            while (await self.store.read_small(queries.state)).wants_compacting:
                await self.store.write(actions.compact)
            self._ended = self._begun

    async def words(self, messages: Sequence[Waiting]) -> list[Words]:
        """Their words, from the bodies at hand or from their blobs."""
        found: list[Words] = []
        for start in range(0, len(messages), TOGETHER):
            some = messages[start : start + TOGETHER]
            bodies = [self._at_hand(message.message_id) for message in some]
            for message, (words, fault) in zip(some, await self.threads.run(self._words, some, bodies), strict=True):
                found.append(words)
                if fault is not None:
                    self._log_fault(message, fault)
        return found

    def _words(self, messages: Sequence[Waiting], bodies: Sequence[str | None]) -> list[tuple[Words, Exception | None]]:
        """In a thread. Beside the words, what kept those of the body out of them."""
        return [self._words_of(message, at_hand) for message, at_hand in zip(messages, bodies, strict=True)]

    def _words_of(self, message: Waiting, at_hand: str | None) -> tuple[Words, Exception | None]:
        try:
            if at_hand is not None:  # the line of its row was made of this very body, by this very program
                return words_of(message, at_hand), None
            data = self.blobs.read_now(message.body_sha256, MAX_BODY_BLOB_BYTES)
            return words_with(message, msgspec.json.decode(data, type=Body)), None
        except Exception as fault:  # an edge: whatever a stranger's text makes of it, the next message's turn comes
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
        """Keep a body until its words are taken, unless too much is kept already."""
        if message_id not in self._bodies and self.held_chars + len(body) <= MAX_HELD_CHARS:
            self._bodies[message_id] = body
            self.held_chars += len(body)

    def _let_go(self, message_ids: Iterable[str]) -> None:
        for message_id in message_ids:
            self._at_hand(message_id)
