"""Proposals of another time for a meeting whose organizer is a person of this server: the possible answers, and their
texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from svc.errors import Conflict
from svc.formats.invitations import Answer
from svc.mail.invitations.viewing import View, asked

MAYBE: Final = "Another time is taken or not. Accept or decline it."
NOT_YOURS: Final = "Only the organizer can answer this, and only to whom the proposal came from."
IN_A_CALENDAR: Final = (
    "This meeting can’t be moved from here: the invitation to it is not in this mailbox, or it is a series. Move it in "
    "your calendar, or decline."
)


@dataclass(frozen=True, kw_only=True)
class Told:
    """The content of a mail that gives an answer. ``method``: of the attached calendar file."""

    method: str
    filename: str
    to: tuple[str, ...]
    subject: str
    words: str


def check(shown: View, answer: Answer) -> None:
    """Raises ``Conflict`` where the person can't answer the proposal, or can't give this answer."""
    if shown.invited is None or shown.proposer is None:
        raise Conflict(NOT_YOURS)
    if answer == "tentative":
        raise Conflict(MAYBE)
    if answer == "accepted" and shown.planned is None:
        raise Conflict(IN_A_CALENDAR)


def next_number(shown: View) -> int:
    """The sequence number of the moved version."""
    assert shown.planned is not None
    return max(shown.version.found.sequence, shown.planned.found.sequence) + 1


def told(shown: View, answer: Answer) -> Told:
    one = shown.version.found
    if answer == "declined":
        return Told(
            method="DECLINECOUNTER",
            filename="declined.ics",
            to=(shown.proposer or "",),
            subject=f"Not moved: {one.summary}",
            words=f"{shown.invited} keeps the time of this meeting.",
        )
    assert shown.planned is not None
    return Told(
        method="REQUEST",
        filename="invite.ics",
        to=asked(shown.planned),
        subject=f"Moved: {one.summary}",
        words=f"{shown.invited} has moved this meeting to the time that {shown.proposer} proposed.",
    )
