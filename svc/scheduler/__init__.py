"""The scheduler: starts everything that must happen at a certain date and time, such as sending a scheduled mail.

Owns the loops of all features' jobs (:class:`svc.job.Job`), and reports the state of each. It stores nothing: all dates
are in the features' own tables.
"""

from svc.scheduler.feature import FEATURE
from svc.scheduler.tasks import Scheduler

__all__ = ["FEATURE", "Scheduler"]
