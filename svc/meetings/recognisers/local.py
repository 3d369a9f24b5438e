"""Speech to text on this machine, without a key: PocketSphinx, which includes its model of American English.

Needs ``pip install 'svc[speech]'``. Its text is rough and often wrong; an admin who has a better recogniser should
choose that. It runs as a program beside the service, and ends with the meeting.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import trio

from svc.meetings.recognisers.seam import Heard, RecogniserFault, Sound, Tell
from svc.nursery import open_task_group, process_group

RATE: Final = 16_000
SILENT_S: Final = 300.0
"""Time until the program has taken a piece of sound, or has ended after the last one. Beyond: it is killed, and started
again."""
MAX_LINE_BYTES: Final = 256 * 1024
"""The program's output for one utterance. Beyond: it is killed."""

_READ_BYTES: Final = 16 * 1024
_PROGRAM: Final = Path(__file__).with_name("local_program.py")


class _Told(msgspec.Struct):
    text: str
    start: float
    end: float
    final: bool


_decode: Final = msgspec.json.Decoder(_Told).decode


def is_installed() -> bool:
    return importlib.util.find_spec("pocketsphinx") is not None


@dataclass(frozen=True, kw_only=True)
class Local:
    """``directory``: where the program runs; it writes nothing there."""

    directory: Path
    title: str = "The recogniser of this machine"

    async def listen(self, sound: Sound, tell: Tell) -> None:
        if not is_installed():
            raise RecogniserFault("is not installed (it needs svc[speech])", lasting=True)
        if sound.format != "pcm16" or sound.rate != RATE:
            raise RecogniserFault("takes pcm16 at 16,000 samples a second only", lasting=True)
        command = (sys.executable, "-I", str(_PROGRAM))
        environ = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
        try:
            async with (
                process_group(command, environ=environ, directory=self.directory) as process,
                open_task_group() as nursery,
            ):
                assert process.stdin is not None
                assert process.stdout is not None
                assert process.stderr is not None
                nursery.start_soon(_speak, process.stdin, sound)
                nursery.start_soon(_drop, process.stderr)
                await _hear(process.stdout, tell)
                with trio.move_on_after(SILENT_S):
                    if await process.wait() == 0:
                        nursery.cancel_scope.cancel()
                        return
                raise RecogniserFault("ended with a fault")
        except OSError as error:
            raise RecogniserFault("can't be started") from error


async def _speak(stdin: trio.abc.SendStream, sound: Sound) -> None:
    async with stdin:
        while (pieces := await sound.next()) is not None:
            for piece in pieces:
                with trio.move_on_after(SILENT_S) as scope:
                    try:
                        await stdin.send_all(piece)
                    except (trio.BrokenResourceError, trio.ClosedResourceError):
                        return  # it ended: the reader of its output reports how
                if scope.cancelled_caught:
                    raise RecogniserFault("does not go on")


async def _hear(stdout: trio.abc.ReceiveStream, tell: Tell) -> None:
    rest = b""
    while data := await stdout.receive_some(_READ_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        if len(rest) > MAX_LINE_BYTES:
            raise RecogniserFault("says more than it should")
        for line in lines:
            try:
                told = _decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise RecogniserFault("says something that can't be read") from error
            await tell(Heard(text=told.text, start=told.start, end=told.end, final=told.final))


async def _drop(stderr: trio.abc.ReceiveStream) -> None:
    while await stderr.receive_some(_READ_BYTES):
        pass
