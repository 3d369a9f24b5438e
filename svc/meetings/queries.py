"""Queries of meetings, their lines and the choice of a recogniser. Those that take a principal check the owner in their
``where``; the others are for the service itself, or come after that check.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from svc.clock import Millis
from svc.meetings.model import AudioFormat, Choice, Line, Meeting, RecogniserName, State
from svc.principal import Principal
from svc.store import ReadTx, Row, Value

_MEETING: Final = """
    m.id, m.owner_id, m.title, m.format, m.rate, m.state, m.started_at, m.ended_at, m.sound_ms, m.file_id, m.page_id,
    m.problem
"""
OWN: Final = "(:everything or m.owner_id = :user_id)"


@dataclass(frozen=True, kw_only=True)
class Cursor:
    """A position in a list, newest first: the list continues after this meeting."""

    started_at: Millis
    id: str


def who(principal: Principal) -> dict[str, Value]:
    """The parameters of :data:`OWN`."""
    return {"everything": int(principal.sees_everything), "user_id": principal.user_id}


def meetings_of(tx: ReadTx, principal: Principal, *, cursor: Cursor | None, limit: int) -> list[Meeting]:
    """The caller's own, newest first, from ``cursor`` on."""
    params: dict[str, Value] = {"limit": limit}
    if not principal.sees_everything:
        params |= {"user_id": principal.user_id}
    if cursor is not None:
        params |= {"started_at": cursor.started_at, "id": cursor.id}
    rows = tx.all(
        f"""
        select {_MEETING} from meetings m
        where {"true" if principal.sees_everything else "m.owner_id is :user_id"}
            {"and (m.started_at, m.id) < (:started_at, :id)" if cursor is not None else ""}
        order by m.started_at desc, m.id desc limit :limit
        """,
        **params,
    )
    return [_meeting(row) for row in rows]


def own_meeting(tx: ReadTx, principal: Principal, meeting_id: str) -> Meeting | None:
    row = tx.one(f"select {_MEETING} from meetings m where m.id = :id and {OWN}", id=meeting_id, **who(principal))
    return None if row is None else _meeting(row)


def meeting(tx: ReadTx, meeting_id: str) -> Meeting | None:
    """A meeting of any owner, for the service itself."""
    row = tx.one(f"select {_MEETING} from meetings m where m.id = :id", id=meeting_id)
    return None if row is None else _meeting(row)


def unfinished(tx: ReadTx) -> list[Meeting]:
    return [_meeting(row) for row in tx.all(f"select {_MEETING} from meetings m where m.state <> 'done' order by m.id")]


def lines_of(tx: ReadTx, meeting_id: str) -> list[Line]:
    rows = tx.all(
        "select start_ms, end_ms, text, speaker from meeting_lines where meeting_id = :id order by number",
        id=meeting_id,
    )
    return [
        Line(
            start_ms=cast(int, row[0]),
            end_ms=cast(int, row[1]),
            text=cast(str, row[2]),
            speaker=cast("str | None", row[3]),
        )
        for row in rows
    ]


def written_until_ms(tx: ReadTx, meeting_id: str) -> int:
    """The position that the transcript has reached."""
    found = tx.value("select max(end_ms) from meeting_lines where meeting_id = :id", id=meeting_id)
    return cast("int | None", found) or 0


def line_count(tx: ReadTx, meeting_id: str) -> int:
    return cast(int, tx.value("select count(*) from meeting_lines where meeting_id = :id", id=meeting_id))


def choice(tx: ReadTx) -> Choice:
    row = tx.one("select recogniser, server_url, model, language from meeting_settings where id = 1")
    if row is None:
        return Choice()
    return Choice(
        recogniser=cast(RecogniserName, row[0]),
        server_url=cast(str, row[1]),
        model=cast(str, row[2]),
        language=cast(str, row[3]),
    )


def _meeting(row: Row) -> Meeting:
    return Meeting(
        id=cast(str, row[0]),
        owner_id=cast("str | None", row[1]),
        title=cast(str, row[2]),
        format=cast(AudioFormat, row[3]),
        rate=cast(int, row[4]),
        state=cast(State, row[5]),
        started_at=cast(int, row[6]),
        ended_at=cast("int | None", row[7]),
        sound_ms=cast(int, row[8]),
        file_id=cast("str | None", row[9]),
        page_id=cast("str | None", row[10]),
        problem=cast(str, row[11]),
    )
