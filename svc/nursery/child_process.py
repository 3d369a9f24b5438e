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
