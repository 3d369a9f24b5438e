"""The inside of the running service, for admins: its tasks, its queues, its stalls and its last errors. Owns no
data."""

from svc.inside.feature import FEATURE

__all__ = ["FEATURE"]
