"""Actions on meetings: plain functions over a transaction."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from svc.clock import Millis
from svc.errors import Conflict, NotFound
from svc.files import File, add_upload
from svc.files import delete as delete_file
from svc.ids import new_id
from svc.meetings import queries
from svc.meetings.model import (
    CHANGED,
    MAX_LINE_CHARS,
    MAX_LINES,
    MAX_SPEAKER_CHARS,
    REMOVED,
    TOPIC,
    AudioFormat,
    Choice,
    Line,
    Meeting,
)
from svc.pages import make_private, tell_of_below
from svc.principal import Principal
from svc.store import BlobRef, Tx

NO_MEETING: Final = "There is no such meeting of yours."
ROOT: Final = "meetings"
MAX_NAMESAKES: Final = 500
"""Pages of one day and title. Beyond: the meeting's own id stands in the path."""

_SLUG_CHARS: Final = 60
_NOT_IN_SLUG: Final = re.compile(r"[^\w]+")


def acting_for(owner_id: str | None) -> Principal:
    """The principal of the service when it finishes a person's meeting."""
    return Principal(user_id=owner_id, device_id="system:meetings", is_admin=False, via="system")


def begin(tx: Tx, *, owner_id: str | None, title: str, format: AudioFormat, rate: int) -> Meeting:
    meeting = Meeting(
        id=new_id("mtg"),
        owner_id=owner_id,
        title=title,
        format=format,
        rate=rate,
        state="recording",
        started_at=tx.now,
        ended_at=None,
        sound_ms=0,
        file_id=None,
        page_id=None,
        problem="",
    )
    tx.run(
        """
        insert into meetings (id, owner_id, title, format, rate, state, started_at)
        values (:id, :owner_id, :title, :format, :rate, 'recording', :now)
        """,
        id=meeting.id,
        owner_id=owner_id,
        title=title,
        format=format,
        rate=rate,
        now=tx.now,
    )
    _tell(tx, meeting.id, owner_id)
    return meeting


def end_recording(tx: Tx, meeting: Meeting, *, sound_ms: int, ended_at: Millis) -> None:
    """Mark the recording as ended. Repeating it changes nothing."""
    tx.run(
        """
        update meetings set state = 'finishing', ended_at = :ended_at, sound_ms = :sound_ms
        where id = :id and state = 'recording'
        """,
        id=meeting.id,
        ended_at=ended_at,
        sound_ms=sound_ms,
    )
    _tell(tx, meeting.id, meeting.owner_id)


def keep_sound(tx: Tx, meeting: Meeting, *, blob: BlobRef, name: str, mime: str) -> str:
    """Make the sound a file of the meeting's owner; returns the file's id."""
    file: File = add_upload(tx, acting_for(meeting.owner_id), blob=blob, name=name, mime=mime)
    tx.run("update meetings set file_id = :file_id where id = :id", id=meeting.id, file_id=file.id)
    _tell(tx, meeting.id, meeting.owner_id)
    return file.id


def add_line(tx: Tx, meeting_id: str, line: Line) -> bool:
    """Add a line to the transcript; ``False`` where it is full."""
    number = queries.line_count(tx, meeting_id)
    if number >= MAX_LINES:
        return False
    tx.run(
        """
        insert into meeting_lines (meeting_id, number, start_ms, end_ms, text, speaker)
        select :id, :number, :start_ms, :end_ms, :text, :speaker where exists (select 1 from meetings where id = :id)
        """,
        id=meeting_id,
        number=number,
        start_ms=line.start_ms,
        end_ms=line.end_ms,
        text=line.text[:MAX_LINE_CHARS],
        speaker=None if line.speaker is None else line.speaker[:MAX_SPEAKER_CHARS],
    )
    return True


def finish(tx: Tx, meeting: Meeting, *, body: str, problem: str) -> str:
    """Make the page and mark the meeting as done. Returns the page's path."""
    principal = acting_for(meeting.owner_id)
    for path in _paths(meeting):
        page_id = make_private(
            tx, principal, owner_id=meeting.owner_id, path=path, title=meeting.title, body=body, grants=()
        )
        if page_id is not None:
            break
    else:
        raise Conflict("There is no free path for the page of this meeting.")
    tell_of_below(tx, principal, path=ROOT, page_id=page_id, audience=meeting.owner_id)
    tx.run(
        "update meetings set state = 'done', page_id = :page_id, problem = :problem where id = :id",
        id=meeting.id,
        page_id=page_id,
        problem=problem,
    )
    _tell(tx, meeting.id, meeting.owner_id)
    return path


def bring_back(tx: Tx, meeting: Meeting, lines: Sequence[Line]) -> None:
    """Add a meeting as it was in another home. Repeating the same id changes nothing."""
    if queries.meeting(tx, meeting.id) is not None:
        return
    tx.run(
        """
        insert into meetings (
            id, owner_id, title, format, rate, state, started_at, ended_at, sound_ms, file_id, page_id, problem
        ) values (
            :id, :owner_id, :title, :format, :rate, 'done', :started_at, :ended_at, :sound_ms, :file_id, :page_id,
            :problem
        )
        """,
        id=meeting.id,
        owner_id=meeting.owner_id,
        title=meeting.title,
        format=meeting.format,
        rate=meeting.rate,
        started_at=meeting.started_at,
        ended_at=meeting.ended_at,
        sound_ms=meeting.sound_ms,
        file_id=meeting.file_id,
        page_id=meeting.page_id,
        problem=meeting.problem,
    )
    tx.run_many(
        """
        insert into meeting_lines (meeting_id, number, start_ms, end_ms, text, speaker)
        values (:id, :number, :start_ms, :end_ms, :text, :speaker)
        """,
        [
            {
                "id": meeting.id,
                "number": number,
                "start_ms": line.start_ms,
                "end_ms": line.end_ms,
                "text": line.text[:MAX_LINE_CHARS],
                "speaker": line.speaker,
            }
            for number, line in enumerate(lines[:MAX_LINES])
        ],
    )


def discard(tx: Tx, meeting: Meeting) -> None:
    """Delete the meeting: nothing was recorded."""
    tx.run("delete from meetings where id = :id", id=meeting.id)
    _tell(tx, meeting.id, meeting.owner_id, kind=REMOVED)


def remove(tx: Tx, principal: Principal, *, meeting_id: str) -> None:
    """Delete the recording and the transcript of a meeting of the caller's. Its page is the caller's own, and stays."""
    meeting = queries.own_meeting(tx, principal, meeting_id)
    if meeting is None:
        raise NotFound(NO_MEETING)
    if meeting.state != "done":
        raise Conflict("This meeting is not over yet.")
    if meeting.file_id is not None and _file_is_there(tx, meeting.file_id):
        delete_file(tx, acting_for(meeting.owner_id), file_id=meeting.file_id)
    tx.run("delete from meetings where id = :id", id=meeting.id)
    _tell(tx, meeting.id, meeting.owner_id, kind=REMOVED)


def rename(tx: Tx, principal: Principal, *, meeting_id: str, title: str) -> None:
    """Rename a meeting, also while it is recorded: then its page gets that title."""
    meeting = queries.own_meeting(tx, principal, meeting_id)
    if meeting is None:
        raise NotFound(NO_MEETING)
    tx.run("update meetings set title = :title where id = :id", id=meeting.id, title=title)
    _tell(tx, meeting.id, meeting.owner_id)


def choose(tx: Tx, choice: Choice) -> None:
    tx.run(
        """
        insert into meeting_settings (id, recogniser, server_url, model, language)
        values (1, :recogniser, :server_url, :model, :language) on conflict (id) do update set
            recogniser = excluded.recogniser, server_url = excluded.server_url, model = excluded.model,
            language = excluded.language
        """,
        recogniser=choice.recogniser,
        server_url=choice.server_url,
        model=choice.model,
        language=choice.language,
    )


def claim(tx: Tx, user_id: str) -> None:
    """Give the first admin the meetings that have no owner."""
    tx.run("update meetings set owner_id = :user_id where owner_id is null", user_id=user_id)


def _paths(meeting: Meeting) -> list[str]:
    """The possible paths of the page: ``meetings/<date>-<title>``, and with a number after it where that is taken."""
    day = datetime.fromtimestamp(meeting.started_at / 1_000, UTC).strftime("%Y-%m-%d")
    slug = _NOT_IN_SLUG.sub("-", unicodedata.normalize("NFC", meeting.title).lower()).strip("-_")[:_SLUG_CHARS]
    first = f"{ROOT}/{day}-{slug.strip('-') or 'meeting'}"
    numbered = [f"{first}-{number}" for number in range(2, MAX_NAMESAKES + 1)]
    return [first, *numbered, f"{first}-{meeting.id}"]


def _file_is_there(tx: Tx, file_id: str) -> bool:
    return tx.value("select 1 from files where id = :id", id=file_id) is not None


def _tell(tx: Tx, meeting_id: str, owner_id: str | None, *, kind: str = CHANGED) -> None:
    tx.emit(topic=TOPIC, kind=kind, id=meeting_id, audience=owner_id, device_id="system:meetings")
