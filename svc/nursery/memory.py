"""Returns freed memory to the system where the C library would keep it.

glibc keeps freed memory for the next allocation, some tens of MiB in each of its arenas. After large contents were
handled, as much is often not needed again for hours.
"""

from __future__ import annotations

import ctypes


def give_back_memory() -> None:
    """Blocks for some milliseconds, so call it in a thread. Does nothing where the C library is not glibc."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
