"""Signals the start of the drain to the protocol.

Owns one flag and the list of callbacks. An idle connection closes soon after the drain begins; a busy one looks at the
flag when it answers. This module never waits for a connection: the nursery that runs the connections does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trio


class Drain:
    """Ask it (``drain()``), wait for it (``await drain.event.wait()``), or register a callback (``on_begin``)."""

    def __init__(self) -> None:
        self.event = trio.Event()
        self._callbacks: set[Callable[[], None]] = set()

    def __call__(self) -> bool:
        return self.event.is_set()

    def begin(self) -> None:
        """Begin the drain and call all callbacks, once; a second call does nothing."""
        if self.event.is_set():
            return
        self.event.set()
        for callback in tuple(self._callbacks):
            callback()

    @contextmanager
    def on_begin(self, callback: Callable[[], None]) -> Iterator[None]:
        """Inside the block, ``callback`` is called when the drain begins."""
        self._callbacks.add(callback)
        try:
            yield
        finally:
            self._callbacks.discard(callback)

    def tell(self, callback: Callable[[], None]) -> None:
        """Until :meth:`forget`, ``callback`` is called when the drain begins; at once if it has already begun."""
        self._callbacks.add(callback)
        if self.event.is_set():
            callback()

    def forget(self, callback: Callable[[], None]) -> None:
        self._callbacks.discard(callback)
