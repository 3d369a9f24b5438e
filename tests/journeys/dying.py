"""``python -m tests.journeys.dying ORDER``: the whole service, which dies at a step of sending when it is told to.

As soon as the file ORDER holds a number, it counts the steps of the task that delivers, and at that one kills itself
with ``kill -9``: nothing of it is told, cleaned up or flushed. A step is what Trio calls one, from a checkpoint of the
task to the next; together they are everything that can be between two deaths.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Final

import trio
from trio.abc import Instrument
from trio.lowlevel import Task

from svc.cli import main

DELIVERS: Final = "sending "
"""How the name of a delivering task begins."""


class DiesAt(Instrument):
    def __init__(self, order: Path) -> None:
        self.order = order
        self.steps_seen = 0

    def before_task_step(self, task: Task) -> None:
        if task.name.startswith(DELIVERS) and self.order.exists():
            self.steps_seen += 1
            if self.steps_seen == int(self.order.read_text()):
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    trio.run = partial(trio.run, instruments=[DiesAt(Path(sys.argv[1]))])
    sys.argv = ["svc", "serve"]
    sys.exit(main())
