"""The command: which benchmarks, how long, and in which order they print."""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Final

from benchmarks.report import Table

NAMES: Final = (
    "http",
    "sockets",
    "ingest",
    "imap",
    "gmail",
    "threads",
    "search",
    "meaning",
    "rules",
    "porting",
    "archive",
    "crowd",
    "large_mails",
    "principal",
    "refusals",
    "broker",
    "escrow",
    "fleet",
    "runs",
    "models",
    "gitops",
    "gitops_export",
    "files",
    "boot",
    "first_mail",
    "corpus",
    "sanitizing",
    "keystrokes",
    "first_load",
    "soak",
)

BUSY_LOAD_A_CORE: Final = 0.5
"""From so many other programs a core on, figures are not those of a quiet machine."""

LONG: Final = frozenset({"soak"})
"""Only where it is asked for by name: it takes an hour."""

Run = Callable[[bool], Iterable[Table]]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Ratios against peers and limits.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(NAMES)} (default: all but soak)")
    parser.add_argument("--quick", action="store_true", help="smaller samples: all of it in about a minute")
    parsed = parser.parse_args()
    unknown = [name for name in parsed.names if name not in NAMES]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    print(
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores, load {_load()}"
    )
    if _is_busy():
        print(
            f"This machine is busy with other things: {_load()} programs want its {os.cpu_count()} cores. "
            "Ratios lean to whoever waits less; run it again when the machine is quiet.",
            file=sys.stderr,
        )
    for name in parsed.names or [name for name in NAMES if name not in LONG]:
        run: Run = import_module(f"benchmarks.{name}").run  # late: one benchmark's imports are no part of another
        began = time.perf_counter()
        for table in run(parsed.quick):
            print(f"\n{table.text()}", flush=True)
        print(f"({name}: {time.perf_counter() - began:.0f} s, load {_load()} at the end)", flush=True)
    return 0


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def _is_busy() -> bool:
    """Over the last minute, and before the first benchmark: who runs two of them in a row is told of the first one."""
    return os.getloadavg()[0] > BUSY_LOAD_A_CORE * (os.cpu_count() or 1)


if __name__ == "__main__":
    sys.exit(main())
