"""Full and failing disks without a disk: SQLite and the system both take a bound on how far a file may grow."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from svc.store import Tx


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
