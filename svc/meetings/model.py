"""The records of meetings, and their limits. All frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from svc.clock import Millis
from svc.errors import Invalid
from svc.pages import page_title

AudioFormat = Literal["pcm16", "opus"]
State = Literal["recording", "finishing", "done"]
"""``finishing``: the recording has ended, and the rest is being transcribed."""
RecogniserName = Literal["none", "vendor", "server", "local"]

TOPIC: Final = "meetings"
CHANGED: Final = "meeting.changed"
REMOVED: Final = "meeting.removed"

MAX_MEETING_S: Final = 6 * 3_600
"""One recording, in seconds of sound. Beyond: it ends there, is kept and transcribed, and its person is told."""
MAX_MEETING_BYTES: Final = 2 * 1024 * 1024 * 1024
"""One recording. Beyond: it ends there, as one that is too long does."""
MAX_FRAME_BYTES: Final = 64 * 1024
"""One frame of sound. Beyond: the socket is closed with 1009; what came before is kept."""
MAX_AT_ONCE: Final = 16
"""Meetings that are recorded at a time. Beyond: 503 before the handshake."""
MAX_OF_ONE: Final = 3
"""Meetings that one person records at a time. Beyond: 409 before the handshake."""
MAX_AHEAD_S: Final = 600.0
"""Sound that a recorder may send faster than in real time, for example after a lost connection. Beyond: it is read as
fast as it was spoken."""
MAX_SILENT_S: Final = 1_800.0
"""Time without any sound, for example while a recording is paused. Beyond: it ends there, is kept and transcribed."""
RESUME_S: Final = 300.0
"""Time until a recorder with a lost connection is back. Beyond: the meeting ends with the last sound that came."""
SYNC_S: Final = 0.5
"""The interval at which the sound is synced to the disk."""
FINISH_S: Final = 2 * 3_600.0
"""Time to transcribe the rest after a recording has ended. Beyond: the page says from which time on text is missing."""
MIN_RATE: Final = 8_000
MAX_RATE: Final = 48_000
"""Samples a second. Beyond: 400 `invalid` before the handshake."""
MAX_TITLE_CHARS: Final = 160
"""The title of a meeting. Beyond: 400 `invalid` before the handshake."""
MAX_LINES: Final = 20_000
"""Lines of one transcript. Beyond: the rest is not transcribed, and the page says so."""
MAX_LINE_CHARS: Final = 4_000
"""One line of a transcript. Beyond: it is cut."""
MAX_SPEAKER_CHARS: Final = 80
"""The name that a recogniser gives a speaker. Beyond: it is cut."""

DEFAULT_TITLE: Final = "Meeting"
DEFAULT_RATE: Final = 16_000


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """``sound_ms``: its length, known when the recording has ended. ``file_id``: its sound; ``page_id``: its page.

    ``problem``: what a reader should know about its sound or its text, in one sentence or a few; empty if all is
    complete.
    """

    id: str
    owner_id: str | None
    title: str
    format: AudioFormat
    rate: int
    state: State
    started_at: Millis
    ended_at: Millis | None
    sound_ms: int
    file_id: str | None
    page_id: str | None
    problem: str


@dataclass(frozen=True, kw_only=True)
class Line:
    """One utterance without a pause, with its times from the beginning of the sound."""

    start_ms: int
    end_ms: int
    text: str
    speaker: str | None


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The recogniser that an admin chose. ``model`` and ``language`` are "" where the recogniser decides."""

    recogniser: RecogniserName = "none"
    server_url: str = ""
    model: str = ""
    language: str = ""


def meeting_title(text: str) -> str:
    """The title of a meeting, and of its page. Raises :class:`Invalid`."""
    title = " ".join(text.split()) or DEFAULT_TITLE
    try:
        if len(title) > MAX_TITLE_CHARS:
            raise Invalid
        return page_title(title, path="")
    except Invalid as error:
        raise Invalid(f"A title has at most {MAX_TITLE_CHARS} characters, and no control characters.") from error
