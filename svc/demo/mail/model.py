"""The records of the demo world: those that the fake provider loads, and those that its authors write. Records only.

The authors' records are the schema of the TOML files beside this module: a misspelt key there is an error here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import msgspec

from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS, Millis
from svc.mail.providers.seam import ProviderLabel

YEAR_MS: Final = 365 * DAY_MS

_SPAN: Final = re.compile(r"([0-9]+)([ydhm])")
_UNIT_MS: Final = {"y": YEAR_MS, "d": DAY_MS, "h": HOUR_MS, "m": MINUTE_MS}


# Loaded by the fake provider


@dataclass(frozen=True, kw_only=True)
class FixtureMessage:
    """One message as a provider holds it; ``raw`` is the complete RFC 5322 message."""

    provider_id: str
    thread_key: str
    labels: frozenset[str]
    received_at: Millis
    raw: bytes


@dataclass(frozen=True, kw_only=True)
class FixtureMailbox:
    """``labels`` are the user's own; the provider adds the system's."""

    address: str
    name: str
    labels: tuple[ProviderLabel, ...]
    messages: tuple[FixtureMessage, ...]


# Written by the authors


class _Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Person(_Written, frozen=True):
    name: str
    address: str


class FileSpec(_Written, frozen=True):
    """An attachment; the extension of its name decides what is made from the other fields (see ``files``)."""

    name: str
    lines: tuple[str, ...] = ()
    colors: tuple[str, ...] = ()
    size: tuple[int, int] = (320, 200)
    rows: tuple[tuple[str, ...], ...] = ()
    files: tuple[FileSpec, ...] = ()


class Invitation(_Written, frozen=True):
    """To a meeting that begins in ``starts_in`` (as ``"2d 3h"``)."""

    summary: str
    place: str
    starts_in: str
    minutes: int


class Letter(_Written, frozen=True):
    """One message of a conversation. ``ago``: how long before now it arrived, as in ``"2d 3h"``.

    ``page`` names an HTML file in ``pages``. Without one, the text gets an HTML version, as most mail programs send it;
    ``plain`` prevents that. An ``invitation`` is sent the way calendars do. ``headers`` are added as they are.
    """

    sender: str
    ago: str
    text: str
    cc: tuple[str, ...] = ()
    page: str | None = None
    plain: bool = False
    files: tuple[FileSpec, ...] = ()
    invitation: Invitation | None = None
    headers: dict[str, str] = {}


class Conversation(_Written, frozen=True):
    """Letters in order, oldest first. Each goes from its sender to all the others.

    ``between``: people who take part besides the writers. ``where``: ``INBOX``, ``SPAM``, ``TRASH``, or empty for an
    archived conversation. The last ``unread`` letters are unread.
    """

    key: str
    subject: str
    letters: tuple[Letter, ...]
    between: tuple[str, ...] = ()
    where: str = "INBOX"
    labels: tuple[str, ...] = ()
    unread: int = 0
    starred: bool = False


class Letters(_Written, frozen=True):
    """One file of conversations."""

    conversation: tuple[Conversation, ...]


class LabelSpec(_Written, frozen=True):
    id: str
    name: str
    color: str


class MailboxSpec(_Written, frozen=True):
    """``owner``: a key of the people. ``letters``: the names of its files."""

    owner: str
    letters: tuple[str, ...]
    labels: tuple[LabelSpec, ...]


class Mailboxes(_Written, frozen=True):
    mailbox: tuple[MailboxSpec, ...]


@dataclass(frozen=True, kw_only=True)
class RawLetter:
    """A message written byte by byte, because no mail program would make it. ``{date}`` in it becomes its date."""

    key: str
    ago: str
    raw: bytes
    where: str = "INBOX"
    unread: bool = True


def span_ms(text: str) -> Millis:
    """``"1y 20d 3h 5m"`` in milliseconds."""
    return sum(int(number) * _UNIT_MS[unit] for number, unit in _SPAN.findall(text))
