"""Meetings: records speech as it is spoken, and has it transcribed by the speech-to-text service that an admin has
chosen.

Owns ``/meetings/audio``, the tables ``meetings``, ``meeting_lines`` and ``meeting_settings``, and the files under
``spool/meetings/``. Theory: the sound is first written to a file, and the recogniser reads that file at its own pace.
So a slow, broken or missing recogniser can't stop or thin out a recording, no sound is queued in memory, and after a
crash the meeting simply ends at that point. Start reading at ``live.py``.
"""

from svc.meetings.actions import bring_back
from svc.meetings.feature import FEATURE
from svc.meetings.model import Line, Meeting
from svc.meetings.recognisers.choice import Recognisers
from svc.meetings.recognisers.seam import Heard, Listener, Sound, Tell

__all__ = ["FEATURE", "Heard", "Line", "Listener", "Meeting", "Recognisers", "Sound", "Tell", "bring_back"]
