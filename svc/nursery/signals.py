"""SIGTERM and SIGINT become a drain; a second one cuts it short; a third one ends the process the system's way.

Owns the handlers while :func:`watch_signals` runs, and gives them back when it ends.
"""

from __future__ import annotations

import signal
from typing import Final

import trio

from svc.nursery.root import Root

DRAIN_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
SIGNALS_HEEDED: Final = 2


async def watch_signals(root: Root, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
    """Drain ``root`` on the first signal, hurry on the second. Runs beside ``root.run``, cancelled after it."""
    with trio.open_signal_receiver(*DRAIN_SIGNALS) as received:
        task_status.started()
        heeded = 0
        async for number in received:
            root.drain(signal.Signals(number).name)
            heeded += 1
            if heeded == SIGNALS_HEEDED:
                return
