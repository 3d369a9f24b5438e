"""The inputs and outputs of the procedures of invitations."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from svc.clock import rfc3339
from svc.formats.invitations import Answer
from svc.mail.invitations.viewing import State, View
from svc.mail.wire import Id
from svc.protocol.rows import Wire

MAX_COMMENT_CHARS: Final = 2_000


class InvitationInput(Wire, frozen=True):
    message_id: Id


class AnswerInvitationInput(Wire, frozen=True):
    message_id: Id
    answer: Answer
    comment: Annotated[str, msgspec.Meta(max_length=MAX_COMMENT_CHARS)] = ""


class InvitedOut(Wire, frozen=True):
    """``answer``: ``needs-action``, ``accepted``, ``tentative``, ``declined``, or another of RFC 5545."""

    name: str
    address: str
    answer: str


class OrganizerOut(Wire, frozen=True):
    name: str
    address: str


class ConflictOut(Wire, frozen=True):
    """A date of another accepted meeting that conflicts; ``message_id``: the invitation to it."""

    uid: str
    summary: str
    start: str
    end: str
    message_id: str


class PlannedOut(Wire, frozen=True):
    start: str
    end: str


class InvitationOut(Wire, frozen=True):
    """``method``: ``REQUEST``, ``CANCEL``, ``REPLY``, ``COUNTER`` or another of RFC 5546.

    ``start`` and ``end``: dates where it is ``all_day``, else instants in UTC; a time without ``Z`` is in an unknown
    time zone (``zone_known``). ``recurrence``: in words; ``recurrence_id``: the single date that it is about.
    ``invited``: the address by which the owner is invited or, for a ``COUNTER``, is the organizer. ``proposer``: who
    sent the ``COUNTER``; ``planned``: when the meeting is now, where it can be accepted here. ``warnings``: sentences.
    """

    uid: str
    method: str
    summary: str
    start: str
    end: str
    all_day: bool
    timezone: str | None
    zone_known: bool
    location: str
    organizer: OrganizerOut | None
    attendees: tuple[InvitedOut, ...]
    recurrence: str | None
    recurrence_id: str | None
    comment: str
    conflicts: tuple[ConflictOut, ...]
    state: State
    answer: Answer | None
    invited: str | None
    warnings: tuple[str, ...]
    proposer: str | None = None
    planned: PlannedOut | None = None


class AnswerInvitationOut(Wire, frozen=True):
    outgoing_id: str


def invitation_out(shown: View) -> InvitationOut:
    one = shown.version.found
    return InvitationOut(
        uid=one.uid,
        method=one.method,
        summary=one.summary,
        start=one.start.text,
        end=one.end.text,
        all_day=one.all_day,
        timezone=one.timezone,
        zone_known=one.zone_known,
        location=one.location,
        organizer=None
        if one.organizer is None
        else OrganizerOut(name=one.organizer.name, address=one.organizer.address),
        attendees=tuple(InvitedOut(name=it.name, address=it.address, answer=it.answer) for it in one.attendees),
        recurrence=one.recurrence,
        recurrence_id=one.recurrence_id or None,
        comment=one.comment,
        conflicts=tuple(
            ConflictOut(
                uid=it.uid,
                summary=it.summary,
                start=rfc3339(it.starts),
                end=rfc3339(it.ends),
                message_id=it.message_id,
            )
            for it in shown.conflicts
        ),
        state=shown.state,
        answer=shown.answer,
        invited=shown.invited,
        warnings=shown.warnings,
        proposer=shown.proposer,
        planned=None
        if shown.planned is None
        else PlannedOut(start=shown.planned.found.start.text, end=shown.planned.found.end.text),
    )
