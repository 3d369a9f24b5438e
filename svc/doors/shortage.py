"""What happens when the system has no descriptor or no memory for a further connection: the port pauses, the log has
one line, however often it is tried again, and the checks know of it for a while.

Connections that are open are served on meanwhile, and new ones wait in the system's own queue.
"""

from __future__ import annotations

import errno
import math
from typing import Final

import trio

from svc.log import Log

PAUSE_S: Final = 0.1
"""Until the next attempt to take a connection after the system had no descriptor for one."""
RECENT_S: Final = 60.0
"""A shortage counts as one as long as the pauses in it are shorter than this."""
_CAUSES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})


class Shortage:
    """The shortage of one port, shared by its listeners."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._last = -math.inf

    @property
    def is_recent(self) -> bool:
        return trio.current_time() - self._last < RECENT_S

    def explains(self, error: OSError) -> bool:
        """Whether accepting failed for this reason, which is then noted. Any other error is the caller's."""
        if error.errno not in _CAUSES:
            return False
        if not self.is_recent:
            self._log.error("http.no_descriptors", reason=errno.errorcode[error.errno])
        self._last = trio.current_time()
        return True
