"""One call as a process group: gives it its input, reads its output within limits, and returns the result."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trio

from svc.gitops.git.faults import GitFault, copy_is_gone, fault_of, lacks_program, too_large
from svc.nursery import autojump_held, process_group

TOKEN_FD: Final = "SVC_GIT_TOKEN_FD"  # noqa: S105  the name of a variable that holds a number
_ASKED_AT_MOST: Final = 16
_MAX_TOKEN_BYTES: Final = 3_000
"""The limit for all answers together: they fit into a pipe's buffer, so writing them never waits."""
_STDERR_KEPT: Final = 16 * 1024


@dataclass(kw_only=True)
class Call:
    """``token`` is the answer to each password prompt, through an inherited pipe. ``statuses``: the exit statuses that
    are no error."""

    command: Sequence[str]
    environ: Mapping[str, str]
    directory: Path
    input: bytes
    at_most_bytes: int
    token: str | None = field(default=None, repr=False)
    statuses: Container[int] = (0,)
    _out: bytearray = field(default_factory=bytearray)
    _err: bytearray = field(default_factory=bytearray)
    _too_large: bool = False

    async def run(self) -> bytes:
        """Run it and return its output. Raises :class:`GitFault`."""
        with autojump_held(), self._token_pipe() as (environ, inherited):
            try:
                async with process_group(
                    self.command, environ=environ, directory=self.directory, inherited=inherited
                ) as process:
                    status = await self._follow(process)
            except OSError as error:
                if error.filename is not None and os.fspath(error.filename) == str(self.directory):
                    raise copy_is_gone(self.directory) from error
                raise lacks_program(str(error)) from error
        if self._too_large:
            raise too_large(self.at_most_bytes)
        if status not in self.statuses:
            raise fault_of(status, bytes(self._err), secret=self.token, directory=self.directory)
        return bytes(self._out)

    @contextmanager
    def _token_pipe(self) -> Iterator[tuple[dict[str, str], tuple[int, ...]]]:
        """A pipe that holds the answers to git's password prompts, and its end for the child."""
        if self.token is None:
            yield dict(self.environ), ()
            return
        line = self.token.encode() + b"\n"
        if len(line) > _MAX_TOKEN_BYTES or b"\n" in line[:-1]:
            raise GitFault("refused", "The token is no token: it is too long, or has more than one line.")
        reading, writing = os.pipe()
        try:
            try:
                os.write(writing, line * _ASKED_AT_MOST)
            finally:
                os.close(writing)
            yield {**self.environ, TOKEN_FD: str(reading)}, (reading,)
        finally:
            os.close(reading)

    async def _follow(self, process: trio.Process) -> int:
        """Write its input and read its output until it ends, or its output is too long. Returns its status."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._feed, process)
            nursery.start_soon(self._read_errors, process)
            nursery.start_soon(self._read, process, nursery.cancel_scope)
        if self._too_large:
            return 0
        return await process.wait()  # its pipes are closed, so all who inherited one have ended

    async def _feed(self, process: trio.Process) -> None:
        assert process.stdin is not None, "it was asked for"
        with suppress(trio.BrokenResourceError):  # it may end without reading all of it: its status says why
            async with process.stdin:
                await process.stdin.send_all(self.input)

    async def _read(self, process: trio.Process, scope: trio.CancelScope) -> None:
        assert process.stdout is not None, "it was asked for"
        async for piece in process.stdout:
            if len(self._out) + len(piece) > self.at_most_bytes:
                self._too_large = True
                scope.cancel()
                return
            self._out += piece

    async def _read_errors(self, process: trio.Process) -> None:
        """Keep the end of the error output. All of it is read, because git would otherwise wait for a reader."""
        assert process.stderr is not None, "it was asked for"
        async for piece in process.stderr:
            self._err += piece
            del self._err[:-_STDERR_KEPT]
