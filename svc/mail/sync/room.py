"""Room in memory for the raw messages of one batch, in bytes.

Theory: nobody says how large a message is before it is here. So the largest that is to be expected is reserved before
it is asked for, and the difference is given back once it has come. What has come stays until the batch is durable: when
there is no room beside it, the batch ends there and the rest is the next one's.
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
    """``held``: bytes of what has come; ``on_the_way``: messages that were asked for."""

    size: int = HELD_BYTES
    largest: int = LARGEST_BYTES
    held: int = 0
    on_the_way: int = 0
    _settled: trio.Event = field(default_factory=trio.Event)

    async def reserve(self) -> bool:
        """Take room for one more message, once what is on its way leaves any. False: there is none in this batch.

        The first one always has room.
        """
        while self.on_the_way >= FETCH_CONCURRENCY or (self.on_the_way and not self._has_room):
            await self._settled.wait()
        if self.held and not self._has_room:
            return False
        self.on_the_way += 1
        return True

    def settle(self, size: int) -> None:
        """What was on its way has come, with ``size`` bytes; or does not come, with none."""
        self.on_the_way -= 1
        self.held += size
        self._settled.set()
        self._settled = trio.Event()

    @property
    def _has_room(self) -> bool:
        return self.held + (self.on_the_way + 1) * self.largest <= self.size
