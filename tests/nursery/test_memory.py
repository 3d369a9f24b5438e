"""How the C library keeps memory that is free: in few places, so that what one thread frees another one uses."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Final

import pytest

from svc import commands
from svc.cli import main
from svc.nursery.memory import ARENAS

THREADS: Final = 12
_RUN: Final = f"""
import ctypes, threading
from svc.nursery import share_memory
share_memory()
libc, together = ctypes.CDLL(None), threading.Barrier({THREADS})
libc.malloc.restype = ctypes.c_void_p
def take():
    libc.malloc(100_000)
    together.wait()
threads = [threading.Thread(target=take) for _ in range({THREADS})]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc tells it")
def test_all_threads_share_a_few_arenas() -> None:
    told = subprocess.run([sys.executable, "-c", _RUN], capture_output=True, text=True, check=True, timeout=60).stdout
    arenas = re.findall(r"<heap nr=", told)
    assert 1 <= len(arenas) <= ARENAS


def test_every_command_begins_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    called = list[bool]()
    monkeypatch.setattr(commands, "share_memory", lambda: called.append(True))
    assert main(["config"]) == 0
    assert called == [True]
