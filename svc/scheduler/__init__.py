"""The scheduler: what must happen at a time of the wall, such as a scheduled mail, happens from here.

Owns the loops of all features' jobs (:class:`svc.job.Job`), and says how each fares. Nothing is kept here: all dates
stand in the features' own tables.
"""

from svc.scheduler.feature import FEATURE
from svc.scheduler.tasks import Scheduler

__all__ = ["FEATURE", "Scheduler"]
