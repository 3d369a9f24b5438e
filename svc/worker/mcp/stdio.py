"""An MCP server that is a program: a child of this process, with only the declared environment, and with the limits of
``sandbox.py``.

A message is a line. The program's standard error is read, so that the program never blocks, and its end is kept for the
words of a fault. The program ends when its standard input closes, or by SIGTERM and SIGKILL, together with all that it
started.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec
import trio

from svc.nursery import open_task_group, process_group
from svc.worker.mcp import protocol
from svc.worker.mcp.client import words
from svc.worker.mcp.sandbox import Sandbox, confined
from svc.worker.mcp.terms import MAX_ANSWER_BYTES, MAX_HEARD_BYTES, ServerFault

GOES_S: Final = 2.0
"""The time between the end of a program's input and SIGTERM."""
MAX_STRAY_LINES: Final = 1_000
"""Lines that are no messages. Beyond: the connection is ended."""
_LAST_WORDS_BYTES: Final = 2_000
_PIECE: Final = 64 * 1024
_DIRECTORY: Final = Path("/")
_GONE: Final = (trio.BrokenResourceError, trio.ClosedResourceError)


@asynccontextmanager
async def started(command: Sequence[str], environ: Mapping[str, str], sandbox: Sandbox) -> AsyncIterator[Stdio]:
    """Raises :class:`ServerFault` if the program does not start."""
    if sandbox.program is None:
        raise ServerFault(f"There is no program {words(command[0])} on the server.")
    try:
        async with (
            process_group(confined(sandbox, command, environ), environ=environ, directory=_DIRECTORY) as process,
            open_task_group() as nursery,
        ):
            channel = Stdio(process)
            nursery.start_soon(channel.hear_errors)
            yield channel
            await channel.end()
            nursery.cancel_scope.cancel()
    except PermissionError:
        raise ServerFault(
            f"{words(command[0])} may not be started: it is no program, or the worker is confined to a process that "
            "may start none."
        ) from None
    except OSError as error:
        raise ServerFault(f"{words(command[0])} does not start: {error.strerror}.") from None


class Stdio:
    def __init__(self, process: trio.Process) -> None:
        assert process.stdin is not None, "it was asked for"
        assert process.stdout is not None, "it was asked for"
        self._process = process
        self._in, self._out = process.stdin, process.stdout
        self._rest = bytearray()
        self._heard = 0
        self._strays = 0
        self._last_words = b""
        self._silent = trio.Event()

    def speaks(self, version: str) -> None:
        """Nothing to do: the program needs no notice of the version."""

    async def tell(self, message: bytes) -> None:
        try:
            await self._in.send_all(message + b"\n")
        except _GONE:
            raise ServerFault(await self._why_gone()) from None

    async def ask(self, id: int, message: bytes, *, about: Mapping[str, str]) -> protocol.Message:
        """``about`` is not used: lines have no headers."""
        await self.tell(message)
        while True:
            line = await self._line()
            try:
                found = protocol.read(line)
            except protocol.Fault:
                self._strays += 1
                if self._strays > MAX_STRAY_LINES:
                    raise ServerFault("What it writes are no messages.") from None
                continue
            if found.method is None and found.id == id:
                return found
            if found.method is not None and found.id is not None:
                await self.tell(answer_to(found))

    async def end(self) -> None:
        """Close the input, and give the program a moment to end by itself."""
        await self._in.aclose()
        with trio.move_on_after(GOES_S):
            await self._silent.wait()

    async def hear_errors(self) -> None:
        assert self._process.stderr is not None, "it was asked for"
        try:
            while piece := await self._process.stderr.receive_some(_PIECE):
                self._last_words = (self._last_words + bytes(piece))[-_LAST_WORDS_BYTES:]
        except _GONE:
            pass
        finally:
            self._silent.set()

    async def _line(self) -> bytes:
        while True:
            end = self._rest.find(b"\n")
            if end >= 0:
                line = bytes(self._rest[:end])
                del self._rest[: end + 1]
                if line.strip():
                    return line
                continue
            try:
                piece = await self._out.receive_some(_PIECE)
            except _GONE:
                piece = b""
            if not piece:
                raise ServerFault(await self._why_gone())
            self._rest += piece
            self._heard += len(piece)
            if len(self._rest) > MAX_ANSWER_BYTES or self._heard > MAX_HEARD_BYTES:
                raise ServerFault(f"It answers more than {MAX_ANSWER_BYTES >> 20} MiB, and was cut off.")

    async def _why_gone(self) -> str:
        with trio.move_on_after(GOES_S):
            await self._silent.wait()
        lines = [line for line in self._last_words.decode("utf-8", "replace").splitlines() if line.strip()]
        last = words(next((line for line in reversed(lines) if "error" in line.lower()), lines[-1] if lines else ""))
        return f"It has ended. The last it said: {last}" if last else "It has ended, and said not why."


def answer_to(asked: protocol.Message) -> bytes:
    """The answer to a server's request: a ping is answered, anything else is not offered."""
    if asked.method == "ping":
        return msgspec.json.encode(protocol.answer(asked.id, {}))
    fault = protocol.Fault(protocol.METHOD_NOT_FOUND, "This client offers nothing.")
    return msgspec.json.encode(protocol.refusal(asked.id, fault))
