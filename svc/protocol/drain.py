"""The word that the house is closing, as the protocol hears it.

Owns one flag and who wants to be told. An idle connection closes the moment the word comes; a busy one looks at the
flag when it answers. It never waits for anybody: the nursery that runs the connections does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trio


class Drain:
    """Ask it (``drain()``), wait for it (``await drain.event.wait()``), or be called back (``on_begin``)."""

    def __init__(self) -> None:
        self.event = trio.Event()
        self._callbacks: set[Callable[[], None]] = set()

    def __call__(self) -> bool:
        return self.event.is_set()

    def begin(self) -> None:
        """Tell everybody, once; a second call does nothing."""
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
        """Until :meth:`forget`, ``callback`` is called when the drain begins; at once where it has begun."""
        self._callbacks.add(callback)
        if self.event.is_set():
            callback()

    def forget(self, callback: Callable[[], None]) -> None:
        self._callbacks.discard(callback)
