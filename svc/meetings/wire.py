"""The inputs and outputs of the meetings procedures."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from typing import Annotated, Final, Literal

import msgspec

from svc.clock import rfc3339, rfc3339_or_none
from svc.errors import Invalid
from svc.meetings.model import MAX_TITLE_CHARS, Choice, Line, Meeting, RecogniserName, State
from svc.meetings.queries import Cursor
from svc.protocol import Wire

MAX_LIST_LIMIT: Final = 100
"""Meetings of one page of a list. Beyond: 400 `invalid`, with the name of the field."""
MAX_URL_CHARS: Final = 500
"""The address of a transcription server. Beyond: 400 `invalid`, with the name of the field."""
MAX_NAME_CHARS: Final = 100
"""The name of a model or a language. Beyond: 400 `invalid`, with the name of the field."""

_MAX_INSTANT: Final = 2**63
_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9._:/@-]*$|^$"

Id = Annotated[str, msgspec.Meta(max_length=100)]
Name = Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS, pattern=_NAME)]


class ListInput(Wire, frozen=True):
    cursor: Annotated[str, msgspec.Meta(max_length=300)] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIST_LIMIT)] = 50


class MeetingInput(Wire, frozen=True):
    id: Id


class RenameInput(Wire, frozen=True):
    id: Id
    title: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TITLE_CHARS)]


class MeetingOut(Wire, frozen=True):
    """``seconds`` is the length of its sound, 0 while it is recorded. ``fileId``, ``path``: its sound and its page,
    while they exist. ``problem``: what is missing of either."""

    id: str
    title: str
    state: State
    started_at: str
    ended_at: str | None
    seconds: float
    file_id: str | None
    path: str | None
    problem: str


class MeetingsOut(Wire, frozen=True):
    """``recogniser``: the name of the recogniser; ``null`` if there is none."""

    meetings: tuple[MeetingOut, ...]
    next_cursor: str | None
    recogniser: str | None


class LineOut(Wire, frozen=True):
    """Times in seconds from the beginning of the sound."""

    start: float
    end: float
    text: str
    speaker: str | None


class TranscriptOut(Wire, frozen=True):
    meeting: MeetingOut
    lines: tuple[LineOut, ...]


class OptionOut(Wire, frozen=True):
    """``missing``: what must be done before it can be used; empty where it is ready."""

    name: RecogniserName
    title: str
    about: str
    missing: str


class SettingsOut(Wire, frozen=True):
    """``standIn``: the recogniser used instead of the chosen one, as under the fakes."""

    recogniser: RecogniserName
    server_url: str
    model: str
    language: str
    options: tuple[OptionOut, ...]
    stand_in: str | None


class ChooseInput(Wire, frozen=True):
    """``model`` and ``language``: empty where the recogniser decides."""

    recogniser: Literal["none", "vendor", "server", "local"]
    server_url: Annotated[str, msgspec.Meta(max_length=MAX_URL_CHARS)] = ""
    model: Name = ""
    language: Name = ""


def meeting_out(meeting: Meeting, *, file_id: str | None, path: str | None) -> MeetingOut:
    return MeetingOut(
        id=meeting.id,
        title=meeting.title,
        state=meeting.state,
        started_at=rfc3339(meeting.started_at),
        ended_at=rfc3339_or_none(meeting.ended_at),
        seconds=meeting.sound_ms / 1_000,
        file_id=file_id,
        path=path,
        problem=meeting.problem,
    )


def lines_out(lines: Iterable[Line]) -> tuple[LineOut, ...]:
    return tuple(
        LineOut(start=line.start_ms / 1_000, end=line.end_ms / 1_000, text=line.text, speaker=line.speaker)
        for line in lines
    )


def choice_of(wanted: ChooseInput, *, server_url: str) -> Choice:
    return Choice(recogniser=wanted.recogniser, server_url=server_url, model=wanted.model, language=wanted.language)


def encode_cursor(meeting: Meeting) -> str:
    return base64.urlsafe_b64encode(f"{meeting.started_at}:{meeting.id}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> Cursor | None:
    """The cursor of a request. Raises :class:`Invalid` for one that this server did not make."""
    if cursor is None:
        return None
    try:
        instant, _, meeting_id = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().partition(":")
        started_at = int(instant)
    except (ValueError, binascii.Error) as error:
        raise Invalid("The cursor is not one that this server gave.") from error
    if not 0 <= started_at < _MAX_INSTANT:
        raise Invalid("The cursor is not one that this server gave.")
    return Cursor(started_at=started_at, id=meeting_id)
