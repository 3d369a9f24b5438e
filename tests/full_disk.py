"""Full and failing disks without a disk: SQLite and the system both take a bound on how far a file may grow. And a real
one that is small, where the system allows it.
"""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from svc.store import Tx
from tests.sizes import HANGS_S
from tests.support.process import ROOT

_NAMESPACE: Final = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")


def limit_pages(tx: Tx, more: int | None) -> None:
    """SQLite's own way to a full disk: the file may not grow beyond ``more`` pages."""
    pages = 2**30 if more is None else tx.value("pragma page_count") + more
    tx.value(f"pragma max_page_count = {pages}")


@contextmanager
def files_end_at(size: int) -> Iterator[None]:
    """Every write of this process beyond ``size`` fails, as on a disk that gives errors."""
    previous = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, previous[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, previous)
        signal.signal(signal.SIGXFSZ, handler)


def on_a_small_disk(script: str, directory: Path, *, megabytes: int) -> str:
    """Run a Python script whose ``sys.argv[1]`` is ``directory``, which is a disk of its own then; what it prints.

    The disk stands in a mount namespace that ends with the process.
    """
    if subprocess.run([*_NAMESPACE, "mount -t tmpfs tmpfs /mnt"], capture_output=True, check=False).returncode != 0:
        pytest.skip(
            "no small disk can be mounted: this system lets nobody but root make a user namespace "
            "(sysctl kernel.unprivileged_userns_clone=1; in a container, run it with --privileged)"
        )
    mount = f'mount -t tmpfs -o size={megabytes}m tmpfs "$1" && shift && exec "$@"'
    command = [*_NAMESPACE, mount, "sh", str(directory), sys.executable, "-c", script, str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS_S, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout
