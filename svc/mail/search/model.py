"""What a search asks for, as read from what a person typed. All frozen; none knows SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from svc.clock import Millis

Column = Literal["subject", "sender", "recipient", "cc", "bcc", "files", "body"]
COLUMNS: Final[tuple[Column, ...]] = ("subject", "sender", "recipient", "cc", "bcc", "files", "body")
INFLECTED: Final[tuple[Column, ...]] = ("subject", "files", "body")
"""Here a word is also found by its other forms: names and addresses are what they are."""

NAMED: Final[tuple[Column, ...]] = ("subject", "sender", "recipient", "cc", "bcc")
"""A hit in one of these comes before one in the body."""

Place = Literal["inbox", "skipped", "archive", "sent", "spam", "trash", "drafts", "snoozed", "anywhere"]
State = Literal["unread", "read", "starred", "snoozed", "muted"]


@dataclass(frozen=True, kw_only=True)
class Text:
    """Words that stand one after the other in one of these columns; ``unfinished``: the last of them may go on.

    ``exact``: as they are written, and in no other form.
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
    """``name`` is an address, or part of some."""

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
    """Each group must hold; of a group, any one of its terms. ``notices`` tell what was not understood."""

    groups: tuple[tuple[Term, ...], ...]
    notices: tuple[str, ...]
