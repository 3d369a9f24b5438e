"""Keeps freed memory from being held where the C library would hold it.

glibc keeps freed memory for the next allocation, some tens of MiB in each of its arenas. After large contents were
handled, as much is often not needed again for hours.

It also makes up to eight arenas for each processor, so that threads do not wait for each other. Here they wait for the
interpreter anyway, and the database's pages are freed by another thread than the one that takes the next: each arena
then grows, and none uses what another one has freed.
"""

from __future__ import annotations

import ctypes
from typing import Final

ARENAS: Final = 2
_M_ARENA_MAX: Final = -8  # malloc.h of glibc


def give_back_memory() -> None:
    """Blocks for some milliseconds, so call it in a thread. Does nothing where the C library is not glibc."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def share_memory() -> None:
    """Lets all threads take memory from the same few arenas. Called before there are threads. Does nothing where the C
    library is not glibc."""
    if hasattr(ctypes.CDLL(None), "malloc_trim"):  # others also have `mallopt`, with other numbers
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, ARENAS)
