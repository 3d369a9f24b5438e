"""The interface of a recogniser: its input and its output.

A recogniser reads one stretch of sound from beginning to end, at its own speed: the sound comes from a growing file, so
the recording never waits for it. After a failure it starts again at the end of its last result.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from svc.meetings.model import AudioFormat


class Sound(Protocol):
    """A stretch of sound that may still grow."""

    @property
    def format(self) -> AudioFormat: ...

    @property
    def rate(self) -> int: ...

    async def next(self) -> Sequence[bytes] | None:
        """The next pieces: samples of ``pcm16``, or packets of Opus. Waits for them; ``None`` at the end."""
        ...


@dataclass(frozen=True, kw_only=True)
class Heard:
    """Recognised speech, with times in seconds from the beginning of the sound. Not ``final``: it may still change, and
    the next one replaces it."""

    text: str
    start: float
    end: float
    final: bool
    speaker: str | None = None


Tell = Callable[[Heard], Awaitable[None]]


class RecogniserFault(Exception):
    """The recogniser stopped. ``detail`` completes a sentence that begins with its name.

    ``lasting``: a retry is useless until a person has changed something.
    """

    def __init__(self, detail: str, *, lasting: bool = False) -> None:
        super().__init__(detail)
        self.detail = detail
        self.lasting = lasting


class Listener(Protocol):
    """One recogniser. ``title`` is the name that people see."""

    @property
    def title(self) -> str: ...

    async def listen(self, sound: Sound, tell: Tell) -> None:
        """Report all speech in ``sound``; return when the sound has ended and all is reported. Raises
        :class:`RecogniserFault`."""
        ...
