"""The surface: the public and the internal listener, which join the nursery, the protocol and every feature's rows.

Owns the listeners, the probes, the app shell with its static files, ``/trpc`` and ``/ws``. The features decide what a
request does.
"""

from svc.surface.feature import FEATURE
from svc.surface.listener import Surface

__all__ = ["FEATURE", "Surface"]
