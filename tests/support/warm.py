"""Starts the service from a Python that has loaded it already: to load it is most of what a start costs.

    program = Warm.of(root).start(["-m", "svc", "serve"], cwd=root, environ={…}, stdout=…, stderr=…)
    program.wait(timeout=180)

A process forks for each start, and what is forked is a process like any other: its own environment, folder and files,
killed by its own number. It differs from a started one in what the system shows of it (``/proc/PID/cmdline``,
``environ``), and in what Python reads of its environment as it starts.

``python -m tests.support.warm`` is that process. It takes a line of JSON on its standard input for each thing to do,
and answers with one. At the end of its input it kills what it started, and ends.
"""

from __future__ import annotations

import gc
import json
import os
import random
import runpy
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

LOOK_AGAIN_S: Final = 0.01
ENDS_S: Final = 10.0


class WarmEnded(AssertionError):
    def __init__(self, status: int) -> None:
        super().__init__(f"the process that starts the others ended with {status}: what it said stands above")


@dataclass(kw_only=True)
class Program:
    """What was started, with as much of ``subprocess.Popen`` as :class:`ServiceProcess` uses."""

    warm: Warm
    pid: int
    returncode: int | None = None
    _one_at_a_time: threading.RLock = field(default_factory=threading.RLock)
    """Of two threads of a test one waits for the end of the program, and the other must not ask for it again."""

    def poll(self) -> int | None:
        with self._one_at_a_time:
            if self.returncode is None:
                self.returncode = self.warm.ask(poll=self.pid)
                if self.returncode is not None:
                    self.warm.running.discard(self.pid)
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Raises ``subprocess.TimeoutExpired``."""
        give_up = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if give_up is not None and time.monotonic() > give_up:
                raise subprocess.TimeoutExpired("a warm start", timeout or 0.0)
            time.sleep(LOOK_AGAIN_S)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        with self._one_at_a_time:
            if self.poll() is None:  # nobody else has its number before it was waited for
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@dataclass
class Warm:
    """``running``: those that were started and not waited for."""

    process: subprocess.Popen[str]
    running: set[int] = field(default_factory=set)
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, root: Path) -> Self:
        """The one that has loaded the package below ``root``. If it has ended, another one takes its place."""
        warm = _OF_ROOT.get(root)
        if warm is not None and (status := warm.process.poll()) is not None:
            print(f"what starts the others has ended, with {status}", file=sys.stderr)  # as where memory is short
            warm = None
        if warm is None:
            warm = _OF_ROOT[root] = _loaded(root)
        return warm  # type: ignore[return-value]

    def start(
        self, arguments: Sequence[str], *, cwd: Path, environ: Mapping[str, str], stdout: Path | None, stderr: Path
    ) -> Program:
        """``arguments``: ``-m``, the name of a module, and its own. Files are appended to; None is thrown away."""
        out = os.devnull if stdout is None else str(stdout)
        order = {"argv": list(arguments[1:]), "cwd": str(cwd), "environ": dict(environ), "files": [out, str(stderr)]}
        pid = self.ask(start=order)
        self.running.add(pid)
        return Program(warm=self, pid=pid)

    def ask(self, **order: object) -> Any:
        assert self.process.stdin is not None, "it was asked for"
        assert self.process.stdout is not None, "it was asked for"
        with self._one_at_a_time:
            with suppress(BrokenPipeError):
                self.process.stdin.write(json.dumps(order) + "\n")
                self.process.stdin.flush()
            answer = self.process.stdout.readline()
        if not answer:
            raise WarmEnded(self.process.wait(timeout=ENDS_S))
        return json.loads(answer)


_OF_ROOT: Final[dict[Path, Warm]] = {}


def _loaded(root: Path) -> Warm:
    here = Path(__file__).parents[2]
    return Warm(
        subprocess.Popen(
            [sys.executable, "-m", "tests.support.warm"],
            cwd=root,
            env=os.environ | {"PYTHONPATH": str(here)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
    )


def warm_processes() -> set[int]:
    """The processes that stay from one test to the next."""
    return {warm.process.pid for warm in _OF_ROOT.values()}


def started_processes() -> set[int]:
    """The processes that they started and that nothing has waited for."""
    return {pid for warm in _OF_ROOT.values() for pid in warm.running}


def main(lines: Iterable[str]) -> None:
    """What comes back as an exception is what a started program ends with."""
    started: set[int] = set()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what it started hears of it, and this one of the end of its input
    for line in lines:
        order = json.loads(line)
        if "poll" in order:
            answer = _poll(order["poll"], started)
        else:
            answer = os.fork()
            if answer == 0:
                _become(**order["start"])
                return
            started.add(answer)
        print(json.dumps(answer), flush=True)
    for pid in started:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _poll(pid: int, started: set[int]) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    if not ended:
        return None
    started.discard(pid)
    return os.waitstatus_to_exitcode(status)


def _become(*, argv: Sequence[str], cwd: str, environ: Mapping[str, str], files: Sequence[str]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, path in enumerate([os.devnull, *files]):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_APPEND | os.O_CREAT
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    random.seed()
    sys.argv = list(argv)
    sys.path[0] = cwd
    runpy.run_module(argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    import svc.app
    import svc.cli
    import svc.commands

    svc.commands.all_commands()
    gc.freeze()  # what is loaded stays, in each that is forked
    main(sys.stdin)
