"""The loops that deliver recorded events to the durable consumers, each soon after it is recorded.

A loop waits until the store has committed an event, or until the pause after a failure is over. The wall clock decides
what is due, so that a laptop that slept goes on at once. A failing consumer does not hold up the others.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import trio

from svc.backoff import Retries
from svc.clock import SECOND_MS, Clock, Millis
from svc.errors import Refusal
from svc.log import Log
from svc.store import consumers
from svc.store.consumers import LONGEST_PAUSE_MS, Consumer, Cursor, Event
from svc.store.store import Store

C = TypeVar("C")

_NOT_THE_EVENTS: Final = frozenset({"insufficient_storage", "unavailable"})

RETRIES: Final = Retries(first_s=1.0, cap_s=LONGEST_PAUSE_MS / SECOND_MS)
LOOK_EVERY_S: Final = 30.0
"""A jump of the wall clock is noticed within this."""


@dataclass(kw_only=True)
class Following(Generic[C]):
    """The consumers of one process. ``context`` is the first argument of their ``handle``."""

    store: Store
    clock: Clock
    rng: random.Random
    log: Log
    context: C
    rows: Sequence[Consumer[C]]
    _turns: dict[str, trio.Lock] = field(default_factory=dict)

    def register(self) -> None:
        """Blocks; called at boot, before any event is recorded."""
        self.store.write_now(consumers.register, names=[row.name for row in self.rows])

    async def follow(self, consumer: Consumer[C]) -> None:
        """Deliver events forever."""
        while True:
            recorded = self.store.recorded  # read before the look: an event recorded meanwhile causes another look
            cursor = await self.catch_up(consumer.name)
            with trio.move_on_after(self._pause_s(cursor)):
                await recorded.wait()
                if cursor.failures:
                    await trio.sleep_forever()  # a new event does not end the pause after a failure

    async def catch_up(self, name: str) -> Cursor:
        """Process all events that wait for a consumer and are due. Returns its cursor after that."""
        consumer = next(row for row in self.rows if row.name == name)
        async with self._turns.setdefault(name, trio.Lock()):
            while True:
                cursor, events = await self.store.read_small(consumers.waiting, consumer)
                if not events:
                    return cursor
                await self._hand_over(consumer, cursor, events)

    async def _hand_over(self, consumer: Consumer[C], cursor: Cursor, events: Sequence[Event]) -> None:
        try:
            if consumer.handle is None:
                await self.store.write(consumers.apply_next, consumer, events=events)
                return
            await consumer.handle(self.context, events)
        except Exception as error:  # an edge: an error of one consumer must not stop the others
            await self._failed(consumer, cursor, events, error)
        else:
            await self.store.write(consumers.done, name=consumer.name, seq=events[-1].seq)

    async def _failed(self, consumer: Consumer[C], cursor: Cursor, events: Sequence[Event], error: Exception) -> None:
        self.log.error("consumer.failed", error, consumer=consumer.name, seq=events[0].seq, attempt=cursor.failures + 1)
        passed_over = await self.store.write(
            consumers.failed,
            name=consumer.name,
            events=events,
            reason=f"{type(error).__name__}: {error}",
            retry_at=self.clock.now() + round(self._backoff_s(cursor.failures) * SECOND_MS),
            may_pass_over=not (isinstance(error, Refusal) and error.code in _NOT_THE_EVENTS),
        )
        if passed_over:
            self.log.warning("consumer.passed_over", consumer=consumer.name, seq=events[0].seq)

    def _backoff_s(self, failures: int) -> float:
        """Growing, capped, with jitter. After a batch fails, its first event is tried alone at once."""
        if failures == 0:
            return 0.0
        return RETRIES.pause_s(failures, self.rng)

    def _pause_s(self, cursor: Cursor) -> float:
        if not cursor.failures:
            return LOOK_EVERY_S
        until: Millis = cursor.retry_at - self.clock.now()
        return min(LOOK_EVERY_S, max(0.0, until / SECOND_MS))
