"""A program that is not trusted to end: it and all that it starts are one group, which is ended whole."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import trio

GRACE_S: Final = 2.0
"""Between TERM and KILL."""
_PIECE: Final = 64 * 1024
LEASH: Final = (
    "trap '' TERM; read -r _; kill -TERM $1 || exit; "
    "for _ in 1 2 3 4 5 6 7 8 9 10; do sleep 1; kill -0 $1 || exit; done; kill -KILL -$1"
)
"""Reads until nobody is at the other end of its input any more, then ends a program, by force after ten seconds."""


@asynccontextmanager
async def process_group(
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    directory: Path,
    stdin: int = subprocess.PIPE,
    inherited: Sequence[int] = (),
) -> AsyncIterator[trio.Process]:
    """The program, with its outputs as pipes, in a session of its own. Raises :class:`OSError` where it can't start.

    Whatever happens inside, nothing of its group is left afterwards: unless it was waited for, the group gets TERM and,
    after a moment, KILL. ``inherited``: descriptors that it gets as they are numbered here.
    """
    process = await trio.lowlevel.open_process(
        command,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=inherited,
        env=environ,
        cwd=directory,
    )
    try:
        yield process
    finally:
        with trio.CancelScope(shield=True):  # bounded by GRACE_S: nothing survives a kill
            if process.returncode is None:
                await _end(process)
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    await trio.aclose_forcefully(stream)


@asynccontextmanager
async def leash(process: trio.Process) -> AsyncIterator[None]:
    """Where we are killed inside, ``process``, which leads a group, is ended all the same. A shell that reads from a
    pipe of ours sees to it: the pipe ends with us, however we end. Raises :class:`OSError` where it can't start."""
    watcher = await trio.lowlevel.open_process(
        ["/bin/sh", "-c", LEASH, "sh", str(process.pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={"PATH": os.defpath},
        cwd="/",
    )
    try:
        yield
    finally:
        with trio.CancelScope(shield=True):  # nothing survives a kill
            kill_group(watcher)
            await watcher.wait()
            if watcher.stdin is not None:
                await trio.aclose_forcefully(watcher.stdin)


def kill_group(process: trio.Process) -> None:
    """KILL to the program and all that it has left."""
    _signal(process, signal.SIGKILL)


async def _end(process: trio.Process) -> None:
    """It is waited for last: as long as nobody has, the group's number can't become another's."""
    _signal(process, signal.SIGTERM)
    with trio.move_on_after(GRACE_S):
        await _until_nobody_has_it(process.stderr)
    kill_group(process)
    await process.wait()


async def _until_nobody_has_it(stream: trio.abc.ReceiveStream | None) -> None:
    assert stream is not None, "it was asked for"
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        while await stream.receive_some(_PIECE):
            pass


def _signal(process: trio.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
