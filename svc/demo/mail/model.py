"""The records of the demo world: what the fake provider loads, and what its authors write. Records only.

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


# What the fake provider loads


@dataclass(frozen=True, kw_only=True)
class FixtureMessage:
    """One message as a provider holds it; ``raw`` is the whole of it, RFC 5322."""

    provider_id: str
    thread_key: str
    labels: frozenset[str]
    received_at: Millis
    raw: bytes


@dataclass(frozen=True, kw_only=True)
class FixtureMailbox:
    """``labels`` are the user's own; the system's are the provider's business."""

    address: str
    name: str
    labels: tuple[ProviderLabel, ...]
    messages: tuple[FixtureMessage, ...]


# What the authors write


class _Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Person(_Written, frozen=True):
    name: str
    address: str


class FileSpec(_Written, frozen=True):
    """An attachment; the end of its name says what is made of the rest (see ``files``)."""

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

    ``between``: who takes part besides those who write. ``where``: ``INBOX``, ``SPAM``, ``TRASH``, or nothing for what
    was archived. The last ``unread`` letters are new.
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
    """``owner``: a key of the people. ``letters``: the files that are in it."""

    owner: str
    letters: tuple[str, ...]
    labels: tuple[LabelSpec, ...]


class Mailboxes(_Written, frozen=True):
    mailbox: tuple[MailboxSpec, ...]


@dataclass(frozen=True, kw_only=True)
class RawLetter:
    """A message written byte by byte, because no decent mail program would. ``{date}`` in it becomes its date."""

    key: str
    ago: str
    raw: bytes
    where: str = "INBOX"
    unread: bool = True


def span_ms(text: str) -> Millis:
    """``"1y 20d 3h 5m"`` in milliseconds."""
    return sum(int(number) * _UNIT_MS[unit] for number, unit in _SPAN.findall(text))
