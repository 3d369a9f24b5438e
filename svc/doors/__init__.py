"""Doors: they serve the connections of a port. Also the listeners that only this machine reaches.

Both planes use them, so this folder knows no feature and no database. It joins the nursery and the protocol.
"""

from svc.doors.crowd import Crowd
from svc.doors.door import Door, ToTheLast, max_connections, serve_port
from svc.doors.full import RETRY_AFTER_S, turn_away
from svc.doors.internal import LOOPBACK, Internal
from svc.doors.shortage import Shortage

__all__ = [
    "LOOPBACK",
    "RETRY_AFTER_S",
    "Crowd",
    "Door",
    "Internal",
    "Shortage",
    "ToTheLast",
    "max_connections",
    "serve_port",
    "turn_away",
]
