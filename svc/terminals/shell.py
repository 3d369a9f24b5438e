"""Runs a program on a pseudoterminal, and ends it with everything that it has started there.

Theory (POSIX, "General Terminal Interface"). The program leads a session of its own, and the terminal controls that
session: it turns ^C into a signal for the foreground group, and its hang-up goes to the session. A shell puts each job
into its own process group, so ending all of them needs the members of the session, which only ``/proc`` lists (Linux).
Elsewhere the leader's group and the foreground group are signalled; the other jobs get the hang-up from the shell. The
ids of a session and of a group are not reused while a process is in them.

Owns the two ends of the terminal and the process. It never interprets the output.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import struct
import sys
import termios
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trio

from svc.nursery import ThreadPool, autojump_held

GRACE_S: Final = 2.0
"""The time between HUP and KILL, for all processes of a terminal that ends. Beyond: killed."""
KILLED_WITHIN_S: Final = 2.0
"""The time in which a killed process has ended, unless the system holds it. Beyond: left to the system."""
_LOOK_EVERY_S: Final = 0.02
_LEADER: Final = Path(__file__).with_name("leader.py")
_PROC: Final = Path("/proc")


@dataclass(frozen=True, kw_only=True)
class Size:
    """The size of a terminal, in characters."""

    cols: int
    rows: int


class Shell:
    """A running program. :meth:`start` makes it; its owner must call :meth:`close` in the end."""

    def __init__(self, *, process: trio.Process, terminal: int, threads: ThreadPool) -> None:
        self._process = process
        self._stream = trio.lowlevel.FdStream(terminal)
        self._threads = threads

    @classmethod
    async def start(
        cls, program: Path, *, environ: Mapping[str, str], directory: Path, size: Size, threads: ThreadPool
    ) -> Shell:
        """Starts the program. Raises :class:`OSError` if no terminal or no process can be created."""
        ours, theirs = os.openpty()
        try:
            _set_size(theirs, size)
            process = await trio.lowlevel.open_process(
                [sys.executable, "-I", "-S", str(_LEADER), str(program)],
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                start_new_session=True,
                env=environ,
                cwd=directory,
            )
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        return cls(process=process, terminal=ours, threads=threads)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def read(self, at_most: int) -> bytes:
        """The next output; empty once no process can write any more (Linux reports that as EIO)."""
        try:
            return bytes(await self._stream.receive_some(at_most))
        except trio.BrokenResourceError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.EIO:
                return b""
            raise

    async def write(self, data: bytes) -> None:
        """Types ``data``. Waits while the program reads nothing; does nothing once it has ended."""
        with suppress(trio.BrokenResourceError):
            await self._stream.send_all(data)

    def resize(self, size: Size) -> None:
        with suppress(OSError):  # it has ended
            _set_size(self._stream.fileno(), size)

    def redraw(self) -> None:
        """Makes the program in the foreground draw its screen again."""
        if (group := self._foreground_group()) is not None:
            with suppress(OSError):
                os.killpg(group, signal.SIGWINCH)

    def foreground(self) -> str | None:
        """The name of the program in the foreground, if it can be known."""
        with suppress(OSError):
            return (_PROC / str(self._foreground_group()) / "comm").read_text(errors="replace").strip() or None
        return None

    async def wait(self) -> int:
        """Waits for the end. Returns the exit status, or the negative number of the signal that ended it."""
        return await self._process.wait()

    async def end(self) -> None:
        """Ends all processes in it: HUP first, and KILL for those that still run after a moment."""
        with trio.move_on_after(GRACE_S):
            await self._signal(signal.SIGHUP, signal.SIGCONT)  # a stopped process receives it only once it continues
            while await self._anybody():  # noqa: ASYNC110  no system tells that a session is empty
                await trio.sleep(_LOOK_EVERY_S)
            return
        await self._kill()

    async def close(self) -> None:
        """Releases the terminal. None of its processes runs on afterwards, whatever happens."""
        with trio.CancelScope(shield=True):  # bounded: KILLED_WITHIN_S
            if await self._anybody():
                await self._kill()
            with trio.move_on_after(KILLED_WITHIN_S), autojump_held():
                await self._process.wait()
        await self._stream.aclose()

    async def _kill(self) -> None:
        """Kills repeatedly, since a process that is about to be killed may just have started another one."""
        with trio.move_on_after(KILLED_WITHIN_S):
            while await self._anybody():
                await self._signal(signal.SIGKILL)
                await trio.sleep(_LOOK_EVERY_S)

    async def _signal(self, *numbers: signal.Signals) -> None:
        found = await self._members()
        for pid in found:
            for number in numbers:
                with suppress(
                    ProcessLookupError, PermissionError
                ):  # ended meanwhile; or another user's process, as by sudo
                    os.kill(pid, number)
        if not found:
            self._signal_groups(numbers)

    async def _anybody(self) -> bool:
        return bool(await self._members()) or self._process.returncode is None

    async def _members(self) -> list[int]:
        return await self._threads.run(members_of, self.pid)

    def _signal_groups(self, numbers: Iterable[signal.Signals]) -> None:
        leaders = self.pid if self._process.returncode is None else None
        for group in {leaders, self._foreground_group()} - {None}:
            assert group is not None, "it was taken out"
            for number in numbers:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(group, number)

    def _foreground_group(self) -> int | None:
        try:
            group = os.tcgetpgrp(self._stream.fileno())
        except OSError:
            return None
        return group if group > 1 else None  # 0 would mean our own group


def members_of(session: int) -> list[int]:
    """The processes of a session, without those that have ended. Empty where there is no ``/proc``. Blocks for a
    moment."""
    try:
        pids = [name for name in os.listdir(_PROC) if name.isdigit()]
    except OSError:
        return []
    return [int(pid) for pid in pids if _session_of(pid) == session]


def _session_of(pid: str) -> int | None:
    try:
        stat = (_PROC / pid / "stat").read_bytes()
    except OSError:
        return None
    state, _parent, _group, session = stat.rpartition(b")")[2].split()[:4]
    return None if state in b"ZX" else int(session)


def _set_size(terminal: int, size: Size) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size.rows, size.cols, 0, 0))
