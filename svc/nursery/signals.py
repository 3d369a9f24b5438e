"""SIGTERM and SIGINT become a drain; a second one cuts it short; any more change nothing: it ends by itself.

Owns the handlers while :func:`watch_signals` runs. Who watches to the process's end leaves both signals ignored, so
that an impatient one can't turn a clean end into a kill while the database is folded and closed.
"""

from __future__ import annotations

import signal
from contextlib import suppress
from types import FrameType
from typing import Final

import trio

from svc.nursery.root import Root

DRAIN_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


async def watch_signals(
    root: Root, *, to_the_end: bool = False, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Drain ``root`` on the first signal, hurry on the second. Runs beside ``root.run``, cancelled after it.

    ``to_the_end``: the process ends with ``root``, so the handlers are not given back.
    """
    token = trio.lowlevel.current_trio_token()

    def heed(number: int, frame: FrameType | None) -> None:
        with suppress(trio.RunFinishedError):
            token.run_sync_soon(root.drain, signal.Signals(number).name)

    before = {number: signal.signal(number, heed) for number in DRAIN_SIGNALS}
    try:
        task_status.started()
        await trio.sleep_forever()
    finally:
        for number, handler in before.items():
            # Ignored, and not by a handler of ours: the interpreter's own end would undo that.
            signal.signal(number, signal.SIG_IGN if to_the_end else handler)
