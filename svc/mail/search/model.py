"""The parsed form of a search query. All classes are frozen; none knows SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from svc.clock import Millis

Column = Literal["subject", "sender", "recipient", "cc", "bcc", "files", "body"]
COLUMNS: Final[tuple[Column, ...]] = ("subject", "sender", "recipient", "cc", "bcc", "files", "body")
INFLECTED: Final[tuple[Column, ...]] = ("subject", "files", "body")
"""The columns in which a word also matches its other forms. Names and addresses have no other forms."""

NAMED: Final[tuple[Column, ...]] = ("subject", "sender", "recipient", "cc", "bcc")
"""A hit in one of these columns is ranked before a hit in the body."""

Place = Literal["inbox", "skipped", "archive", "sent", "spam", "trash", "drafts", "snoozed", "anywhere"]
State = Literal["unread", "read", "starred", "snoozed", "muted"]


@dataclass(frozen=True, kw_only=True)
class Text:
    """Words that follow each other in one of these columns. ``unfinished``: the last word is a prefix. ``exact``: only
    as they are written, in no other form.
    """

    words: str
    columns: tuple[Column, ...] = COLUMNS
    unfinished: bool = False
    exact: bool = False


@dataclass(frozen=True, kw_only=True)
class InPlace:
    place: Place


@dataclass(frozen=True, kw_only=True)
class InState:
    state: State


@dataclass(frozen=True, kw_only=True)
class HasAttachment:
    pass


@dataclass(frozen=True, kw_only=True)
class HasLabel:
    name: str


@dataclass(frozen=True, kw_only=True)
class InAccount:
    """``name`` is the address of an account, or a part of it."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Before:
    """Sent before that instant."""

    at: Millis


Filter = InPlace | InState | HasAttachment | HasLabel | InAccount | Before


@dataclass(frozen=True, kw_only=True)
class Term:
    what: Text | Filter
    negated: bool = False


@dataclass(frozen=True, kw_only=True)
class Query:
    """All groups must match; a group matches if any of its terms does. ``notices`` say what was not understood."""

    groups: tuple[tuple[Term, ...], ...]
    notices: tuple[str, ...]
