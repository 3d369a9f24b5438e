"""The page of a meeting, as Markdown. Pure.

The transcript is a stranger's text: every character with a meaning within a line of Markdown is escaped, so that no
spoken text becomes a link or shows a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from svc.clock import rfc3339
from svc.meetings.model import Line, Meeting
from svc.pages import MAX_BODY_BYTES

ROOM_BYTES: Final = 2_000
"""Reserved for the sentence that says what did not fit."""

_MARKS: Final = re.compile(r"([\\`*_\[\]<>&~/])")


def page_body(meeting: Meeting, lines: Sequence[Line], *, problem: str) -> str:
    head = [_recording(meeting)]
    if problem:
        head.append(f"*{_escaped(problem)}*")
    return "\n\n".join([*head, *_paragraphs(meeting, lines, room=MAX_BODY_BYTES - ROOM_BYTES - sum(map(_size, head)))])


def clock_time(milliseconds: int) -> str:
    """``4:07``, or ``1:04:07``."""
    seconds = milliseconds // 1_000
    hours, minutes = seconds // 3_600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


def _recording(meeting: Meeting) -> str:
    began = rfc3339(meeting.started_at)
    when = f"{clock_time(meeting.sound_ms)} long, recorded {began[:10]} {began[11:16]} UTC."
    if meeting.file_id is None:
        return f"There is no recording of this meeting; it was {when}"
    return f"[Recording](/files/{meeting.file_id}/content), {when}"


def _paragraphs(meeting: Meeting, lines: Iterable[Line], *, room: int) -> list[str]:
    paragraphs: list[str] = []
    for line in lines:
        paragraph = _paragraph(meeting, line)
        room -= _size(paragraph)
        if room < 0:
            paragraphs.append(f"*A page can't hold more. The rest is [at the meeting](/p/meetings/{meeting.id}).*")
            break
        paragraphs.append(paragraph)
    return paragraphs


def _paragraph(meeting: Meeting, line: Line) -> str:
    time = clock_time(line.start_ms)
    if meeting.file_id is not None:
        time = f"[{time}](/files/{meeting.file_id}/content#t={line.start_ms // 1_000})"
    who = "" if line.speaker is None else f" **{_escaped(line.speaker)}:**"
    return f"{time}{who} {_escaped(line.text)}"


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def _size(paragraph: str) -> int:
    return len(paragraph.encode()) + 2
