"""Reads and answers invitations in mail: iCalendar (RFC 5545) in the form for scheduling (RFC 5546 and 6047).

Pure, on bytes from strangers: limited in size, events, people and dates, and run in worker processes with a deadline,
because a recurrence rule can ask for anything. ``reading`` reads, ``replying`` writes the answer, ``countering`` writes
an organizer's answer to a proposed new time, ``model`` has records and limits.
"""

from svc.formats.invitations.countering import write_kept, write_moved
from svc.formats.invitations.model import Answer, Attendee, Invitation, Moment
from svc.formats.invitations.reading import read_invitations
from svc.formats.invitations.replying import write_reply

__all__ = ["Answer", "Attendee", "Invitation", "Moment", "read_invitations", "write_kept", "write_moved", "write_reply"]
