"""``python -m benchmarks.run_worker``: a worker process with one workflow, so many steps one after the other.

The run's output is the seconds that they took, measured where the code runs.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import Final

from svc.worker import process
from svc.worker.halves import HALVES
from svc.worker.rows import WorkerRows
from svc.workflow import Json, Run, Workflow


async def many_steps(run: Run, input: Json) -> Json:
    began = time.perf_counter()
    for number in range(input):
        await run.step("one", partial(_number, number))
    return time.perf_counter() - began


async def _number(number: int, key: str) -> Json:
    return number


MEASURED: Final = Workflow(name="measured", version=1, title="", code=many_steps)

if __name__ == "__main__":
    sys.exit(process.main((*HALVES, WorkerRows(workflows=(MEASURED,)))))
