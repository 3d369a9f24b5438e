"""The memory that this process uses, as the system counts it. ``None`` where the system does not report it."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path


def resident_bytes() -> int | None:
    """Memory that is in use now, in bytes."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    return None


def open_descriptors() -> int | None:
    with suppress(OSError):
        return len(os.listdir("/proc/self/fd"))
    return None
