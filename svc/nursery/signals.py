"""SIGTERM and SIGINT start a drain. A second signal makes it end now; further ones change nothing.

Owns the handlers while :func:`watch_signals` runs. With ``to_the_end``, both signals are ignored from the end of the
watch on, so that another signal can't kill the process while the database is checkpointed and closed.
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
    """Drain ``root`` on the first signal, hurry on the second. Runs beside ``root.run``, and is cancelled after it.

    ``to_the_end``: the process ends with ``root``, so the old handlers are not restored.
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
            # Ignored by the system, not by a handler of ours: the interpreter's shutdown would undo a handler.
            signal.signal(number, signal.SIG_IGN if to_the_end else handler)
