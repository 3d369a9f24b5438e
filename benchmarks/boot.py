"""From exec to ready, and what an idle service holds in memory: on an empty home and on one with 100,000 messages, and
each of the two planes as a process of its own.

The floor is a Python that imports what no such service can do without, and does nothing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.big_home import home_with
from benchmarks.processes import svc_serve
from benchmarks.report import Table, median, ratio

ROUNDS: Final = 5
QUICK_ROUNDS: Final = 2
SETTLE_S: Final = 1.0
MESSAGES: Final = 100_000
FLOOR: Final = "floor: import trio, h11, sqlite3"
EMPTY: Final = "svc serve, empty home"
WEB: Final = "svc serve --role=web, empty home"
WORKER: Final = "svc serve --role=worker"
FULL: Final = f"svc serve, {MESSAGES:,} messages"
KIB: Final = 1024

Sample = tuple[float, float, float]
"""Seconds, resident bytes, proportional bytes."""


def run(quick: bool) -> Iterable[Table]:
    rounds = QUICK_ROUNDS if quick else ROUNDS
    samples: dict[str, list[Sample]] = {FLOOR: [], EMPTY: [], WEB: [], WORKER: [], FULL: []}
    cached = home_with(MESSAGES)
    with TemporaryDirectory() as directory:
        full = Path(directory) / "full"
        shutil.copytree(cached, full)
        shutil.copytree(cached.with_name(f"{cached.name}-config"), full.with_name(f"{full.name}-config"))
        for number in range(rounds):
            samples[FLOOR].append(_floor())
            samples[EMPTY].append(_boot(Path(directory) / f"empty-{number}"))
            samples[WEB].append(_boot(Path(directory) / f"web-{number}", role="web"))
            samples[WORKER].append(_boot(Path(directory) / f"worker-{number}", role="worker"))
            samples[FULL].append(_boot(full))
    table = Table(
        title="Boot, and memory at rest",
        columns=("program", "ready, ms", "x floor", "RSS, MiB", "x floor", "PSS, MiB", "x floor"),
    )
    floor = _median(samples[FLOOR])
    for name, found in samples.items():
        seconds, resident, proportional = _median(found)
        table.add(
            name,
            f"{seconds * 1_000:,.0f}",
            ratio(seconds, floor[0]),
            f"{resident / KIB**2:.1f}",
            ratio(resident, floor[1]),
            f"{proportional / KIB**2:.1f}",
            ratio(proportional, floor[2]),
        )
    table.notes += [
        f"medians of {rounds} interleaved rounds; ready: from exec to the first 200 of /readyz",
        f"memory {SETTLE_S:g} s later; workers for strangers' input start on use and are not there yet",
        "an empty home is created, migrated and given its key in that time; the full one has three accounts polling",
    ]
    yield table


def _boot(home: Path, *, role: str = "all") -> Sample:
    with svc_serve(home, role=role) as server:
        time.sleep(SETTLE_S)
        return server.ready_s, *_memory(f"/proc/{server.process.pid}/smaps_rollup")


def _floor() -> Sample:
    """It says when it is ready, and stays until its memory has been read."""
    program = "import trio, h11, sqlite3, sys; print(flush=True); sys.stdin.read()"
    began = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        ready_s = time.perf_counter() - began
        memory = _memory(f"/proc/{process.pid}/smaps_rollup")
        process.communicate()
    return ready_s, *memory


def _memory(rollup: str) -> tuple[float, float]:
    """Resident and proportional bytes; not a number where the system does not tell (only Linux does)."""
    try:
        lines = Path(rollup).read_text().splitlines()
    except OSError:
        return float("nan"), float("nan")
    found = {line.split(":")[0]: int(line.split()[1]) * KIB for line in lines if line.endswith("kB")}
    return found["Rss"], found["Pss"]


def _median(samples: list[Sample]) -> Sample:
    seconds, resident, proportional = zip(*samples, strict=True)
    return median(seconds), median(resident), median(proportional)
