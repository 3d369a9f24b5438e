"""``python -m tests.journeys.dying ORDER NAME [WORD…]``: the whole service, or the command of these words, which dies
at a step of its work when told to.

As soon as the file ORDER holds a number, it counts the steps of the tasks whose names begin with NAME, and of all below
them, and at that one kills itself with ``kill -9``: nothing of it is told, cleaned up or flushed. A step is what Trio
calls one, from a checkpoint of the task to the next; together they are everything that can be between two deaths.

So a death comes where the test says, and not where a slow machine happens to be when somebody outside looks at it.

The pauses before a server hears of a draft, or is asked again, are short here: they are there for people who type and
for servers in trouble, and in between the same happens. Rules take old mail on, and undo it, two at a time: so few
mails have many places to die at.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path

import trio
from trio.abc import Instrument
from trio.lowlevel import Task

from svc.backoff import Retries
from svc.cli import main
from svc.mail.sending import draft_copies, draft_copying, elsewhere
from svc.rules import acting, calls

SHORT_MS = 300
FEW_MAILS = 2


class DiesAt(Instrument):
    def __init__(self, order: Path, name: str) -> None:
        self.order = order
        self.name = name
        self.steps_seen = 0

    def before_task_step(self, task: Task) -> None:
        if self._is_meant(task) and (step := self._ordered()) is not None:
            self.steps_seen += 1
            if self.steps_seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    def _ordered(self) -> int | None:
        """``None``: there is no order, or the test is just writing or removing it. An error here would end the
        instrument, and it would never kill."""
        try:
            return int(self.order.read_text())
        except (FileNotFoundError, ValueError):
            return None

    def _is_meant(self, task: Task) -> bool:
        above: Task | None = task
        while above is not None and not above.name.startswith(self.name):
            above = above.parent_nursery.parent_task if above.parent_nursery else None
        return above is not None


def hurry() -> None:
    draft_copies.REST_MS = SHORT_MS  # type: ignore[misc]
    elsewhere.LOOK_AGAIN_MS = SHORT_MS  # type: ignore[misc]
    draft_copying.RETRIES = Retries(first_s=SHORT_MS / 1_000, cap_s=5.0)  # type: ignore[misc]
    calls.A_TIME = FEW_MAILS  # type: ignore[misc]
    acting.UNDONE_AT_ONCE = FEW_MAILS  # type: ignore[misc]


if __name__ == "__main__":
    hurry()
    trio.run = partial(trio.run, instruments=[DiesAt(Path(sys.argv[1]), sys.argv[2])])  # type: ignore[assignment]
    sys.argv = ["svc", *(sys.argv[3:] or ["serve"])]
    sys.exit(main())
