"""Invitations in mail: iCalendar (RFC 5545) as scheduling sends it (RFC 5546 and 6047), read and answered.

Pure, on bytes from strangers: bounded in size, events, people and dates, and run in worker processes with a deadline,
for a rule of recurrence can ask for anything. ``reading`` reads, ``replying`` writes the answer, ``countering``
what an organizer says to another time, ``model`` has records and bounds.
"""

from svc.formats.invitations.countering import write_kept, write_moved
from svc.formats.invitations.model import Answer, Attendee, Invitation, Moment
from svc.formats.invitations.reading import read_invitations
from svc.formats.invitations.replying import write_reply

__all__ = ["Answer", "Attendee", "Invitation", "Moment", "read_invitations", "write_kept", "write_moved", "write_reply"]
