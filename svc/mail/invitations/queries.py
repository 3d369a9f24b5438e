"""Statements that read invitations, their versions, the answers to them, and the dates of accepted meetings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import msgspec

from svc.clock import Millis
from svc.formats.invitations import Answer, Invitation
from svc.store import ReadTx, json_array

MAX_VERSIONS: Final = 500
MAX_BUSY: Final = 2_000
"""Dates of other meetings that are searched for conflicts."""

_decode: Final = msgspec.json.Decoder(Invitation).decode


@dataclass(frozen=True, kw_only=True)
class Version:
    """One event, as one message describes it. ``genuine``: that message came from its organizer or, for an answer, from
    an attendee."""

    message_id: str
    genuine: bool
    file_sha256: str
    found: Invitation

    @property
    def place(self) -> tuple[int, Millis]:
        """The version with the greatest value is the latest and counts (RFC 5546, 2.1.5)."""
        return self.found.sequence, self.found.stamp


@dataclass(frozen=True, kw_only=True)
class Answered:
    sequence: int
    answer: Answer
    outgoing_id: str


@dataclass(frozen=True, kw_only=True)
class Busy:
    """A date of a meeting that was accepted here."""

    uid: str
    summary: str
    message_id: str
    starts: Millis
    ends: Millis


def of_message(tx: ReadTx, *, message_id: str) -> list[Version]:
    """The events in a message's calendar files, the whole series first."""
    rows = tx.all(
        """
        select message_id, genuine, file_sha256, found from mail_invitations
        where message_id = :message_id order by recurrence_id
        """,
        message_id=message_id,
    )
    return [_version(row) for row in rows]


def with_calendars(tx: ReadTx, *, message_ids: Sequence[str]) -> list[str]:
    """The messages that may have a calendar file, in their order. Every message that has one is among them."""
    rows = tx.all(
        """
        select m.id from json_each(:ids) wanted join mail_messages m on m.id = wanted.value
        where m.headers like '%text/calendar%' or m.headers like '%application/ics%' or m.headers like '%.ics%'
        order by wanted.key
        """,
        ids=json_array(message_ids),
    )
    return [str(message_id) for (message_id,) in rows]


def versions(tx: ReadTx, *, account_id: str, uid: str) -> list[Version]:
    """All versions of one meeting, the latest first."""
    rows = tx.all(
        """
        select message_id, genuine, file_sha256, found from mail_invitations
        where account_id = :account_id and uid = :uid order by sequence desc, stamp desc limit :limit
        """,
        account_id=account_id,
        uid=uid,
        limit=MAX_VERSIONS,
    )
    return [_version(row) for row in rows]


def answered(tx: ReadTx, *, account_id: str, uid: str, recurrence_id: str) -> Answered | None:
    """The answer that was given, unless it was held back before it was sent."""
    row = tx.one(
        """
        select a.sequence, a.answer, a.outgoing_id from mail_invitation_answers a
        join mail_outgoing o on o.id = a.outgoing_id
        where a.account_id = :account_id and a.uid = :uid and a.recurrence_id = :recurrence_id
            and o.state <> 'cancelled'
        """,
        account_id=account_id,
        uid=uid,
        recurrence_id=recurrence_id,
    )
    if row is None:
        return None
    return Answered(sequence=cast(int, row[0]), answer=cast(Answer, row[1]), outgoing_id=cast(str, row[2]))


def organizers_answered(tx: ReadTx, *, account_id: str, uid: str) -> set[str]:
    """The addresses, in lower case, of organizers whose invitation to this meeting was answered."""
    rows = tx.all(
        """
        select distinct organizer from mail_invitation_answers
        where account_id = :account_id and uid = :uid and organizer <> '' limit :limit
        """,
        account_id=account_id,
        uid=uid,
        limit=MAX_VERSIONS,
    )
    return {str(address).lower() for (address,) in rows}


def proposal_answered(tx: ReadTx, *, message_id: str, uid: str, recurrence_id: str) -> Answered | None:
    """The organizer's answer to a proposal of another time, unless it was held back before it was sent."""
    row = tx.one(
        """
        select a.answer, a.outgoing_id from mail_proposal_answers a
        join mail_outgoing o on o.id = a.outgoing_id
        where a.message_id = :message_id and a.uid = :uid and a.recurrence_id = :recurrence_id
            and o.state <> 'cancelled'
        """,
        message_id=message_id,
        uid=uid,
        recurrence_id=recurrence_id,
    )
    return None if row is None else Answered(sequence=0, answer=cast(Answer, row[0]), outgoing_id=cast(str, row[1]))


def busy(tx: ReadTx, *, account_ids: Sequence[str], but_uid: str, starts: Millis, ends: Millis) -> list[Busy]:
    """Dates of meetings that were accepted in these accounts and overlap this span, except for one meeting."""
    rows = tx.all(
        """
        select t.uid, a.summary, a.message_id, t.starts, t.ends
        from mail_invitation_times t
        join mail_invitation_answers a using (account_id, uid, recurrence_id)
        join mail_outgoing o on o.id = a.outgoing_id
        where t.account_id in (select value from json_each(:account_ids)) and t.uid <> :uid
            and t.starts < :ends and t.ends > :starts and a.answer = 'accepted' and o.state <> 'cancelled'
        order by t.starts limit :limit
        """,
        account_ids=json_array(account_ids),
        uid=but_uid,
        starts=starts,
        ends=ends,
        limit=MAX_BUSY,
    )
    return [
        Busy(
            uid=cast(str, row[0]),
            summary=cast(str, row[1]),
            message_id=cast(str, row[2]),
            starts=cast(int, row[3]),
            ends=cast(int, row[4]),
        )
        for row in rows
    ]


def _version(row: tuple[object, ...]) -> Version:
    return Version(
        message_id=cast(str, row[0]),
        genuine=bool(row[1]),
        file_sha256=cast(str, row[2]),
        found=_decode(cast(str, row[3])),
    )
