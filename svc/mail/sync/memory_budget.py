"""A memory budget for the raw messages of an account, in bytes.

Theory: the size of a message is not known before it has come. So the largest expected size is reserved before the call,
and the difference is released when the message has come. Its own size stays in use until it is durable. When there is
no room for another message, the batch ends, and the rest goes into the next batch. A batch that is made durable while
the next one is fetched uses the same budget.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import trio

HELD_BYTES: Final = 128 * 1024 * 1024
"""The budget for one account, messages on their way included. Each account has its own, so an account whose provider is
slow, or that waits for its quota, delays no other. While a message is decoded it takes about three times its size.
"""

LARGEST_BYTES: Final = 32 * 1024 * 1024
"""Reserved for a message that is on its way. Hardly any provider accepts larger ones. A larger message still comes in,
and the rest waits until it is durable."""

FETCH_CONCURRENCY: Final = 4
"""Messages of one account that are fetched at the same time. This hides the round trip without too many connections.
Fewer are enough to reach a provider's quota of five messages a second."""


@dataclass(kw_only=True)
class MemoryBudget:
    """``held``: bytes that have come for the batch that is being fetched. ``leaving``: bytes of earlier batches, which
    are being made durable. ``on_the_way``: the number of messages that were requested and have not come yet."""

    size: int = HELD_BYTES
    largest: int = LARGEST_BYTES
    held: int = 0
    leaving: int = 0
    on_the_way: int = 0
    _changed: trio.Event = field(default_factory=trio.Event)

    async def reserve(self) -> bool:
        """Reserves room for one more message. Waits while messages on their way, or leaving, may still release room.
        False: this batch has no room left. The first message of a batch always gets room.
        """
        while self.on_the_way >= FETCH_CONCURRENCY or ((self.on_the_way or self.leaving) and not self._has_room):
            await self._changed.wait()
        if self.held and not self._has_room:
            return False
        self.on_the_way += 1
        return True

    def settle(self, size: int) -> None:
        """Ends a reservation: the message has come with ``size`` bytes, or does not come (0)."""
        self.on_the_way -= 1
        self.held += size
        self._tell()

    def hand_over(self) -> int:
        """Ends the batch. Returns its bytes, which must be released by :meth:`let_go` as they become durable."""
        size, self.held = self.held, 0
        self.leaving += size
        return size

    def let_go(self, size: int) -> None:
        """Releases bytes of a batch that was handed over: they are durable and no longer in memory."""
        self.leaving -= size
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    @property
    def _has_room(self) -> bool:
        return self.held + self.leaving + (self.on_the_way + 1) * self.largest <= self.size
