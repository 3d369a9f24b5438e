"""Waiting until nothing moves any more, neither a task nor a thread."""

from __future__ import annotations

from typing import Final

import trio

_A_MOMENT_S: Final = 1e-6


async def all_quiet() -> None:
    """Until every task waits and no thread is at work; under virtual time only.

    ``wait_all_tasks_blocked`` takes a task that waits for a thread for a blocked one. Virtual time moves only when
    no thread is at work (``svc.nursery.autojump``), so a moment of it says that all is quiet.
    """
    await trio.sleep(_A_MOMENT_S)
