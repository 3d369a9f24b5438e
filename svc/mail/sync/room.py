"""Room in memory for the raw messages of an account, in bytes.

Theory: nobody says how large a message is before it is here. So the largest that is to be expected is reserved before
it is asked for, and the difference is given back once it has come. What has come stays until it is durable: when there
is no room beside it, its batch ends there and the rest is the next one's. Where a batch is made durable while the next
one is fetched, both are in the same room.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import trio

HELD_BYTES: Final = 128 * 1024 * 1024
"""Raw messages of one account in memory, those on their way included. Each account has its own: one whose provider is
slow, or waits for its quota, holds up no other. A message that is just being decoded takes about three times its size.
"""

LARGEST_BYTES: Final = 32 * 1024 * 1024
"""Reserved for a message that is on its way. Hardly any provider takes in more; what is larger passes all the same, and
the rest waits until it is durable."""

FETCH_CONCURRENCY: Final = 4
"""Messages of one account fetched at a time: hides the round trip without opening a crowd of connections. A
provider's quota of five messages a second is reached with fewer."""


@dataclass(kw_only=True)
class Room:
    """``held``: bytes of what has come for the batch that is being fetched; ``leaving``: of those before it, which are
    being made durable; ``on_the_way``: messages that were asked for."""

    size: int = HELD_BYTES
    largest: int = LARGEST_BYTES
    held: int = 0
    leaving: int = 0
    on_the_way: int = 0
    _changed: trio.Event = field(default_factory=trio.Event)

    async def reserve(self) -> bool:
        """Take room for one more message, once what is on its way, or leaving, leaves any. False: there is none in this
        batch.

        The first one always has room.
        """
        while self.on_the_way >= FETCH_CONCURRENCY or ((self.on_the_way or self.leaving) and not self._has_room):
            await self._changed.wait()
        if self.held and not self._has_room:
            return False
        self.on_the_way += 1
        return True

    def settle(self, size: int) -> None:
        """What was on its way has come, with ``size`` bytes; or does not come, with none."""
        self.on_the_way -= 1
        self.held += size
        self._tell()

    def hand_over(self) -> int:
        """The batch is complete: whoever makes it durable lets go of so many bytes."""
        size, self.held = self.held, 0
        self.leaving += size
        return size

    def let_go(self, size: int) -> None:
        """So much of what was handed over is durable, and nobody holds it any more."""
        self.leaving -= size
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    @property
    def _has_room(self) -> bool:
        return self.held + self.leaving + (self.on_the_way + 1) * self.largest <= self.size
