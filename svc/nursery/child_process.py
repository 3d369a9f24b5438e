"""Runs a program that may not end by itself: it and all that it starts are one process group, which is killed as a
whole."""

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
"""The time between SIGTERM and SIGKILL."""
_PIECE: Final = 64 * 1024
LEASH: Final = (
    "trap '' TERM; read -r _; kill -TERM $1 || exit; "
    "for _ in 1 2 3 4 5 6 7 8 9 10; do sleep 1; kill -0 $1 || exit; done; kill -KILL -$1"
)
"""A shell command. It reads its input until the other end is closed, then ends a program, by force after ten
seconds."""


@asynccontextmanager
async def process_group(
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    directory: Path,
    stdin: int = subprocess.PIPE,
    inherited: Sequence[int] = (),
) -> AsyncIterator[trio.Process]:
    """The program, with its outputs as pipes, in a session of its own. Raises :class:`OSError` if it can't start.

    On leaving, a program that has not ended gets SIGTERM together with its group and, after :data:`GRACE_S`, SIGKILL.
    ``inherited``: file descriptors that the program gets under the same numbers.
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
        with trio.CancelScope(shield=True):  # bounded by GRACE_S: nothing survives SIGKILL
            if process.returncode is None:
                await _end(process)
            else:
                with suppress(ProcessLookupError, PermissionError):  # usually the program left nothing behind
                    os.killpg(process.pid, signal.SIGKILL)
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    await trio.aclose_forcefully(stream)


@asynccontextmanager
async def leash(process: trio.Process) -> AsyncIterator[None]:
    """Ends ``process``, the leader of a group, even if the service itself is killed meanwhile. A shell does it that
    reads from a pipe of ours: the pipe closes with the service, however that ends. Raises :class:`OSError` if it can't
    start."""
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
        with trio.CancelScope(shield=True):  # nothing survives SIGKILL
            kill_group(watcher)
            await watcher.wait()
            if watcher.stdin is not None:
                await trio.aclose_forcefully(watcher.stdin)


def kill_group(process: trio.Process) -> None:
    """Send SIGKILL to the program and to all that is left of its group."""
    _signal(process, signal.SIGKILL)


async def _end(process: trio.Process) -> None:
    """The program is waited for last: until then no other group can get its number."""
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
