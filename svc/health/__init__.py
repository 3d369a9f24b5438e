"""Health: checks the service, its home and its surroundings, and says what to do about faults.

Runs the checks of all features (:class:`svc.check.Check`), for ``/readyz``, for ``svc doctor`` and for the app's
settings. Owns the checks of the service itself: home, disk, ports, database, subsystems, consumers, tools.
"""

from svc.health.engine import engine_state
from svc.health.feature import FEATURE
from svc.health.model import CheckOut, Found, check_out
from svc.health.reaching import reachable, reached
from svc.health.routes import CHECK_PATH, Report
from svc.health.running import checks_of, context_of, run_checks

__all__ = [
    "CHECK_PATH",
    "FEATURE",
    "CheckOut",
    "Found",
    "Report",
    "check_out",
    "checks_of",
    "context_of",
    "engine_state",
    "reachable",
    "reached",
    "run_checks",
]
