"""The wire types of search: the input and output of ``mail.search``, and the cursor between its pages."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Annotated, Final

import msgspec

from svc.errors import Invalid
from svc.mail.search.find import Position
from svc.mail.search.language import MAX_QUERY_CHARS
from svc.mail.search.plan import MAX_ID
from svc.mail.search.snippet import Piece
from svc.mail.threads.wire import ThreadOut
from svc.mail.wire import MAX_LIST_LIMIT, Id
from svc.protocol.rows import Wire

MAX_CURSOR_CHARS: Final = 400
"""The cursor of a search. Beyond: 400 `invalid`, with the name of the field."""
MAX_ZONE_CHARS: Final = 64
"""The name of a time zone. Beyond: 400 `invalid`, with the name of the field."""

_Number = Annotated[int, msgspec.Meta(ge=-MAX_ID, le=MAX_ID)]


class SearchInput(Wire, frozen=True):
    """``time_zone`` is the caller's, such as ``Europe/Berlin``: days begin and end in it. The default is UTC."""

    query: Annotated[str, msgspec.Meta(max_length=MAX_QUERY_CHARS)]
    cursor: Annotated[str, msgspec.Meta(max_length=MAX_CURSOR_CHARS)] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIST_LIMIT)] = 50
    account_id: Id | None = None
    time_zone: Annotated[str, msgspec.Meta(max_length=MAX_ZONE_CHARS)] | None = None


class PieceOut(Wire, frozen=True):
    text: str
    hit: bool


class MatchOut(Wire, frozen=True):
    """Where the words were found: the message, and a passage of it as plain text with the searched words marked."""

    snippet: tuple[PieceOut, ...]
    message_id: str


class FoundThreadOut(ThreadOut, frozen=True):
    match: MatchOut


class SearchOut(Wire, frozen=True):
    """``notices`` are sentences for the person: what was not understood, what could not be searched.
    ``did_you_mean``: the query in another spelling, which finds more where this one finds almost nothing.
    """

    threads: tuple[FoundThreadOut, ...]
    next_cursor: str | None
    notices: tuple[str, ...]
    did_you_mean: str | None = None


class _Cursor(msgspec.Struct, frozen=True, array_like=True):
    asked: str
    top: _Number
    entries: _Number
    high: _Number
    low: _Number | None
    rank: _Number
    after: _Number


def found_thread(thread: ThreadOut, *, message_id: str, snippet: tuple[Piece, ...]) -> FoundThreadOut:
    match = MatchOut(snippet=tuple(PieceOut(text=one.text, hit=one.hit) for one in snippet), message_id=message_id)
    return FoundThreadOut(**msgspec.structs.asdict(thread), match=match)


def encode_cursor(position: Position, wanted: SearchInput) -> str:
    cursor = _Cursor(
        asked=_asked(wanted),
        top=position.top,
        entries=position.entries,
        high=position.high,
        low=position.low,
        rank=position.rank,
        after=position.after,
    )
    return base64.urlsafe_b64encode(msgspec.json.encode(cursor)).decode().rstrip("=")


def decode_cursor(wanted: SearchInput) -> Position | None:
    """Raises :class:`Invalid` for a cursor that this server did not give for the same search."""
    if wanted.cursor is None:
        return None
    try:
        data = base64.urlsafe_b64decode(wanted.cursor + "=" * (-len(wanted.cursor) % 4))
        cursor = msgspec.json.decode(data, type=_Cursor)
    except (ValueError, binascii.Error) as error:
        raise Invalid("The cursor is not one that this server gave.") from error
    if cursor.asked != _asked(wanted):
        raise Invalid("The cursor belongs to another search.")
    return Position(
        top=cursor.top,
        entries=cursor.entries,
        high=cursor.high,
        low=cursor.low,
        rank=cursor.rank,
        after=cursor.after,
    )


def _asked(wanted: SearchInput) -> str:
    return hashlib.sha256(f"{wanted.account_id}\0{wanted.query}".encode()).hexdigest()[:12]


class QueueInput(Wire, frozen=True):
    """``after``: the last message id of the previous batch."""

    after: str = ""


class LeftInput(Wire, frozen=True):
    """``done``: how many messages were queued so far; ``total``: of how many."""

    done: int
    total: int


class ReindexOut(Wire, frozen=True):
    run_id: str


class ReindexProgress(Wire, frozen=True):
    done: int
    total: int


class SearchStateOut(Wire, frozen=True):
    """``run_id``: the run that re-indexes, while there is one; ``progress``: its progress, once it is known."""

    messages: int
    indexed: int
    waiting: int
    run_id: str | None
    progress: ReindexProgress | None
