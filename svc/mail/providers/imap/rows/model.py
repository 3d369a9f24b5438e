"""The records for the stored state of a mailbox."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from svc.clock import Millis
from svc.mail.providers.folders import Place
from svc.store import Value, texts_of

UNFINISHED: Final = -1
"""As the number of messages: only some of the folder's were read so far, under its UIDVALIDITY."""


@dataclass(frozen=True, kw_only=True)
class FolderRow:
    id: int
    name: bytes
    label: str
    shown: str
    uid_validity: int
    uid_next: int
    modseq: int
    messages: int
    looked_at: Millis

    @property
    def is_read(self) -> bool:
        """Whether it was read to its end."""
        return self.uid_validity != 0 and self.messages != UNFINISHED

    @property
    def was_looked_at(self) -> bool:
        """Whether a look was done with it at least once: it was read to its end, or could not be opened. It stays true
        if the folder is gone."""
        return self.looked_at != 0


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The stored place of a message. ``uid`` is ``None`` if it is lost or not filed yet. ``is_ours``: it is a copy of a
    draft that is kept here, and is never reported to sync."""

    id: str
    folder_id: int
    folder_name: bytes
    uid: int | None
    uid_validity: int
    size: int
    mark: str
    is_ours: bool
    place: Place
    server_id: str | None = None
    server_thread: str = ""


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """A message that was not known in its folder. ``name``: the mark of its Message-ID alone. ``filings``: that mark,
    and the mark of the Message-ID it was sent with. ``is_ours``: it is a copy of a draft that is kept here.
    ``keywords``: the ids of all its labels beside the folder's. ``server_id`` and ``server_thread``: the server's own
    ids of message and thread, if it has them."""

    uid: int
    mark: str
    name: str | None = None
    filings: frozenset[str]
    is_ours: bool = False
    arrived_at: Millis
    size: int
    seen: bool
    flagged: bool
    keywords: frozenset[str]
    server_id: str | None = None
    server_thread: str = ""


@dataclass(frozen=True, kw_only=True)
class Flags:
    """``keywords``: ``None`` if the server did not send them."""

    uid: int
    seen: bool
    flagged: bool
    keywords: frozenset[str] | None


def folder_of(row: tuple[Value, ...]) -> FolderRow:
    numbers = [cast(int, value) for value in (row[0], *row[4:])]
    return FolderRow(
        id=numbers[0],
        name=cast(bytes, row[1]),
        label=str(row[2]),
        shown=str(row[3]),
        uid_validity=numbers[1],
        uid_next=numbers[2],
        modseq=numbers[3],
        messages=numbers[4],
        looked_at=numbers[5],
    )


def kept_of(row: tuple[Value, ...]) -> Kept:
    return Kept(
        id=str(row[0]),
        folder_id=cast(int, row[1]),
        folder_name=cast(bytes, row[2]),
        uid=cast("int | None", row[3]),
        size=cast(int, row[4]),
        uid_validity=cast(int, row[10]),
        mark=str(row[11]),
        is_ours=bool(row[12]),
        server_id=None if row[13] is None else str(row[13]),
        server_thread=str(row[14]),
        place=Place(
            folder=str(row[5]),
            seen=bool(row[6]),
            flagged=bool(row[7]),
            came_from=str(row[8]),
            keywords=frozenset(texts_of(str(row[9]))),
        ),
    )
