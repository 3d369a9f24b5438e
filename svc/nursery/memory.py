"""Freed memory, given back to the system where the C library would keep it.

glibc keeps what was freed for the next one who asks, some tens of MiB for each of its arenas. After large contents have
passed through, nobody asks for as much again for hours.
"""

from __future__ import annotations

import ctypes


def give_back_memory() -> None:
    """Blocks for some milliseconds: in a thread. Does nothing where the C library is another one."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
