"""Meetings: what is said is recorded as it is said, and written down by whatever speech to text an admin has chosen.

Owns ``/meetings/audio``, the tables ``meetings``, ``meeting_lines`` and ``meeting_settings``, and the files under
``spool/meetings/``. Theory: the sound goes to a file before anything else happens to it, and whoever writes it down
reads that file at a pace of its own. So no slow, broken or missing recogniser can stop or thin a recording, nothing is
queued in memory, and a crash is nothing but a meeting that ends there. Start reading at ``live.py``.
"""

from svc.meetings.feature import FEATURE
from svc.meetings.recognisers.choice import Recognisers
from svc.meetings.recognisers.seam import Heard, Listener, Sound, Tell

__all__ = ["FEATURE", "Heard", "Listener", "Recognisers", "Sound", "Tell"]
