"""The seam: what a recogniser is handed, and what it tells.

A recogniser listens to one stretch of sound from its beginning to its end, as fast as it likes: the sound is read from
a file that grows, so nobody waits for it. Where it fails, it is asked anew from the end of what it told last.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from svc.meetings.model import AudioFormat


class Sound(Protocol):
    """A stretch of sound, as it comes."""

    @property
    def format(self) -> AudioFormat: ...

    @property
    def rate(self) -> int: ...

    async def next(self) -> Sequence[bytes] | None:
        """The next pieces: samples of ``pcm16``, or packets of Opus. Waits for them; ``None`` at the end."""
        ...


@dataclass(frozen=True, kw_only=True)
class Heard:
    """Something that was said, in seconds from the beginning of the sound. Not ``final``: it may yet be heard
    otherwise, and the next one takes its place."""

    text: str
    start: float
    end: float
    final: bool
    speaker: str | None = None


Tell = Callable[[Heard], Awaitable[None]]


class RecogniserFault(Exception):
    """It does not go on. ``detail`` completes a sentence that begins with whoever it is.

    ``lasting``: to try again is no use before somebody has changed something.
    """

    def __init__(self, detail: str, *, lasting: bool = False) -> None:
        super().__init__(detail)
        self.detail = detail
        self.lasting = lasting


class Listener(Protocol):
    """One recogniser. ``title`` is what people read."""

    @property
    def title(self) -> str: ...

    async def listen(self, sound: Sound, tell: Tell) -> None:
        """Tell all that is said in ``sound``; return when it has ended and all is told. Raises
        :class:`RecogniserFault`."""
        ...
