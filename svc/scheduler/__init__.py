"""The scheduler: what must happen at a time of the wall, such as a scheduled mail, happens from here.

Owns the 30-second tick and the jobs' loops. A feature adds its :class:`Job` when it is built; what is due, and what
becomes of it, is the job's own business. Nothing is kept here: all dates stand in the features' own tables.
"""

from svc.scheduler.feature import FEATURE
from svc.scheduler.tasks import Job, Scheduler

__all__ = ["FEATURE", "Job", "Scheduler"]
