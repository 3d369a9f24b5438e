"""The pace that a client has to keep while it sends a body. Owns the current window of one body."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from svc.errors import Refusal
from svc.protocol.limits import Limits

T = TypeVar("T")


class Pace:
    """Counts what arrives in each window of waiting; pauses of the handler do not count."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left_s = limits.body_window_s
        self._bytes = 0

    async def keep(self, receive: Callable[[], Awaitable[T]], size_of: Callable[[T], int]) -> T:
        """The result of ``receive``. Raises :class:`Refusal` ``request_timeout`` if too little arrived in a window."""
        while True:
            began = trio.current_time()
            with trio.move_on_after(self._left_s):
                received = await receive()
                self._left_s = max(0.0, self._left_s - (trio.current_time() - began))
                self._bytes += size_of(received)
                return received
            if self._bytes < self._limits.body_rate_bytes_s * self._limits.body_window_s:
                raise Refusal("The body arrives too slowly.", code="request_timeout")
            self._left_s = self._limits.body_window_s
            self._bytes = 0
