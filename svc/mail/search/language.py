"""The query language of search: parses what a person typed.

    budget "exact words" -without from:ann subject:"the plan" has:attachment before:2026-11-01 in:inbox is:unread a OR b

There are no syntax errors: what is not an operator is searched as words, and a notice says so. Words and values match
without case and diacritics. The last word also matches longer words that begin with it, because it may not be finished.

The app repeats some of these words: ``static/mail/operators.js`` suggests them, ``static/mail/query_words.js`` finds
them for its filters. If they differ, this module is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, tzinfo
from typing import Final

from svc.clock import DAY_MS, Millis
from svc.formats.text import clean_line, cut
from svc.formats.words.text import typed
from svc.mail.search.matching import CURRENCIES
from svc.mail.search.model import (
    COLUMNS,
    Before,
    Column,
    HasAttachment,
    HasLabel,
    InAccount,
    InPlace,
    InState,
    Place,
    Query,
    State,
    Term,
    Text,
)

MAX_QUERY_CHARS: Final = 500
"""The text of a search. Beyond: 400 `invalid`, with the name of the field."""
MAX_TERMS: Final = 32
"""Terms of a search. Beyond: the first ones are searched for, and a notice says so."""
MAX_QUOTED_CHARS: Final = 40
"""The part of a search that a notice quotes because it was not understood. Beyond: it is cut."""

FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 2999

_PIECE: Final = re.compile(
    r"""\s*(?P<minus>-(?!-))?(?:(?P<name>[A-Za-z_]+):)?(?:"(?P<quoted>[^"]*)(?:"|$)|(?P<bare>[^\s"]+)|(?=\s|"|$))"""
)
_QUOTES: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "‟": '"', "＂": '"', "：": ":"})
_SIGN_APART: Final = re.compile(rf'(?<![^\s"])([§№{CURRENCIES}])\s+(?=\d)|(?<=\d)\s+([%°{CURRENCIES}]+)(?![^\s"])')
"""``50 €``, ``§ 12``: a number and its sign are joined, with or without a space."""

_DAY: Final = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?")
_AGE: Final = re.compile(r"(\d{1,4})([dwmy])")
_UNIT_MS: Final = {"d": DAY_MS, "w": 7 * DAY_MS, "m": 30 * DAY_MS, "y": 365 * DAY_MS}
_IN_COLUMN: Final[dict[str, Column]] = {
    "from": "sender",
    "to": "recipient",
    "cc": "cc",
    "bcc": "bcc",
    "subject": "subject",
    "filename": "files",
    "body": "body",
}
_PLACES: Final[dict[str, Place]] = {
    "inbox": "inbox",
    "skipped": "skipped",
    "archive": "archive",
    "archived": "archive",
    "sent": "sent",
    "spam": "spam",
    "junk": "spam",
    "trash": "trash",
    "bin": "trash",
    "draft": "drafts",
    "drafts": "drafts",
    "snoozed": "snoozed",
    "anywhere": "anywhere",
    "all": "anywhere",
}
_STATES: Final[dict[str, State]] = {
    "unread": "unread",
    "read": "read",
    "starred": "starred",
    "snoozed": "snoozed",
    "muted": "muted",
}
_EARLIER: Final = frozenset({"before", "older", "older_than"})
_LATER: Final = frozenset({"after", "newer", "newer_than"})
_NO_OPERATORS: Final = frozenset({"http", "https", "mailto", "re", "fwd", "fw", "aw", "wg", "sv"})
"""Words that are often followed by a colon but are not operators: no notice for them."""


def parse(query: str, *, now: Millis, zone: tzinfo = UTC) -> Query:
    """Parse ``query``. Days begin and end in ``zone``. Never raises."""
    reader = _Reader(now=now, zone=zone)
    unfinished = not query[-1:].isspace()
    line = clean_line(query[:MAX_QUERY_CHARS]).translate(_QUOTES)
    line = _SIGN_APART.sub(r"\1\2", line)
    for piece in _pieces(line):
        reader.take(piece, unfinished=unfinished and piece.end == len(line))
    return Query(groups=tuple(reader.groups), notices=tuple(dict.fromkeys(reader.notices)))


@dataclass(frozen=True, kw_only=True)
class _Piece:
    source: str
    negated: bool
    name: str
    value: str
    quoted: bool
    end: int


def _pieces(line: str) -> Iterator[_Piece]:
    position = 0
    while (match := _PIECE.match(line, position)) and match.end() > position:
        position = match.end()
        if match["minus"] or match["name"] or match["quoted"] or match["bare"]:
            yield _Piece(
                source=match[0].strip(),
                negated=bool(match["minus"]),
                name=(match["name"] or "").lower(),
                value=match["quoted"] or match["bare"] or "",
                quoted=match["quoted"] is not None,
                end=position,
            )


@dataclass(kw_only=True)
class _Reader:
    now: Millis
    zone: tzinfo
    groups: list[tuple[Term, ...]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    _or: bool = False
    _terms: int = 0

    def take(self, piece: _Piece, *, unfinished: bool) -> None:
        if piece.source in {"OR", "|"}:
            self._or = bool(self.groups)
        elif piece.source not in {"AND", "-"}:
            term = self._term(piece, unfinished=unfinished and not piece.quoted)
            if term is not None:
                self._add(term)
            self._or = False

    def _add(self, term: Term) -> None:
        self._terms += 1
        if self._terms > MAX_TERMS:
            self.notices.append(f"Only the first {MAX_TERMS} terms are searched for.")
        elif self._or and _may_join(self.groups[-1], term):
            self.groups[-1] = (*self.groups[-1], term)
        else:
            if self._or:
                self.notices.append("OR joins words with words, and filters with filters; here it was taken for AND.")
            self.groups.append((term,))

    def _term(self, piece: _Piece, *, unfinished: bool) -> Term | None:
        if not piece.name:
            return self._text(piece, piece.value, unfinished=unfinished)
        if piece.name in _IN_COLUMN or piece.name in _FILTERS:
            if not piece.value:
                self.notices.append(f'"{piece.name}:" wants a value right after the colon.')
                return None
            if column := _IN_COLUMN.get(piece.name):
                return self._text(piece, piece.value, columns=(column,), unfinished=unfinished)
            if term := _FILTERS[piece.name](self, piece):
                return replace(term, negated=term.negated != piece.negated)
        if piece.name not in _NO_OPERATORS:
            self.notices.append(f"Searched as words: {cut(piece.source, limit=MAX_QUOTED_CHARS)}")
        return self._text(piece, f"{piece.name}:{piece.value}", unfinished=unfinished)

    def _text(
        self, piece: _Piece, words: str, *, unfinished: bool, columns: tuple[Column, ...] = COLUMNS
    ) -> Term | None:
        if not typed(words):
            self.notices.append(f"Nothing to search for in: {cut(piece.source, limit=MAX_QUOTED_CHARS)}")
            return None
        return Term(
            what=Text(words=words, columns=columns, unfinished=unfinished, exact=piece.quoted), negated=piece.negated
        )

    # The filters: each returns the term, or None for a value that it does not know

    def place(self, piece: _Piece) -> Term | None:
        found = _PLACES.get(piece.value.lower())
        return found and Term(what=InPlace(place=found))

    def state(self, piece: _Piece) -> Term | None:
        found = _STATES.get(piece.value.lower())
        return found and Term(what=InState(state=found))

    def has(self, piece: _Piece) -> Term | None:
        known = piece.value.lower() in {"attachment", "attachments", "file", "files"}
        return Term(what=HasAttachment()) if known else None

    def label(self, piece: _Piece) -> Term | None:
        return Term(what=HasLabel(name=piece.value))

    def account(self, piece: _Piece) -> Term | None:
        return Term(what=InAccount(name=piece.value))

    def date(self, piece: _Piece) -> Term | None:
        at = self._instant(piece.value.lower())
        return None if at is None else Term(what=Before(at=at), negated=piece.name in _LATER)

    def _instant(self, value: str) -> Millis | None:
        """``2026-11-01``, ``2026/11``, ``2026``, or a time ago: ``7d``, ``2w``, ``3m`` (30 days each), ``1y``."""
        if age := _AGE.fullmatch(value):
            return self.now - int(age[1]) * _UNIT_MS[age[2]]
        if not (day := _DAY.fullmatch(value)):
            return None
        try:
            found = date(int(day[1]), int(day[2] or 1), int(day[3] or 1))
        except ValueError:
            return None
        if not FIRST_YEAR <= found.year <= LAST_YEAR:
            return None
        return round(datetime(found.year, found.month, found.day, tzinfo=self.zone).timestamp() * 1_000)


_FILTERS: Final[dict[str, Callable[[_Reader, _Piece], Term | None]]] = {
    "in": _Reader.place,
    "is": _Reader.state,
    "has": _Reader.has,
    "label": _Reader.label,
    "account": _Reader.account,
    **dict.fromkeys((*_EARLIER, *_LATER), _Reader.date),
}


def _may_join(group: tuple[Term, ...], term: Term) -> bool:
    """Whether OR may join ``term`` to ``group``: only words with words (none excluded), or filters with filters. The
    cost of other combinations can't be bounded."""
    words = isinstance(term.what, Text)
    if words:
        return not term.negated and all(isinstance(one.what, Text) and not one.negated for one in group)
    return all(not isinstance(one.what, Text) for one in group)
