"""What the process pool's tests run in a worker: functions a worker finds by their import path."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from importlib import import_module


def loaded_with(*modules: str) -> set[str]:
    """All modules of the worker after it has imported these."""
    for name in modules:
        import_module(name)
    return set(sys.modules)


def double(number: int) -> int:
    return number * 2


def pid() -> int:
    return os.getpid()


def spin() -> None:
    while True:
        pass


def hang() -> None:
    signal.pause()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(reason: str) -> None:
    raise ValueError(reason)


def swell(size: int) -> int:
    return len(bytearray(size))


def survive_sigterm() -> str:
    os.kill(os.getpid(), signal.SIGTERM)
    return "still here"


def limits() -> tuple[int, int, float]:
    """Address space, core size, and what is left of the processor time."""
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    core, _ = resource.getrlimit(resource.RLIMIT_CORE)
    processor, _ = resource.getrlimit(resource.RLIMIT_CPU)
    return space, core, processor - time.process_time()


def announce_and_hang() -> None:
    """Say that we are there, and never come back."""
    os.write(1, b"here\n")  # one write, so it is read whole
    signal.pause()
