"""What a worker process does around its calls: it limits its memory and processor time, and ends with its parent.

This runs in the worker (``svc/nursery/process_pool.py`` starts it). It is not in that package because it would load all
of the package: a worker that loads neither Trio nor the nursery starts in half the time.
"""

from __future__ import annotations

import math
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import connection, parent_process
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def prepare_worker(memory_bytes: int) -> None:
    """Runs when the worker starts."""
    # A signal to the whole process group must not break a call that the service waits for while it drains.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold mail
    with suppress(ValueError, OSError):  # macOS has no such limit; the deadline remains
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    threading.Thread(target=_end_with_parent, name="end-with-parent", daemon=True).start()


def limited(fn: Callable[..., T], processor_s: float, *args: object) -> T:
    """Run ``fn(*args)`` with at most ``processor_s`` of processor time, counted anew for each call."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + processor_s), hard_limit))
    return fn(*args)


def is_swollen(memory_bytes: int) -> bool:
    """Whether the worker has used much memory, which it does not give back: a fresh one then replaces it."""
    return _peak_bytes() > memory_bytes // 2


def _peak_bytes() -> int:
    """The most memory this process ever held. On Linux a child's ``ru_maxrss`` starts with its parent's value, so
    another source is read there."""
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
