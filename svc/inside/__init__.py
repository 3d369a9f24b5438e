"""What an admin sees of the running service: its tasks, its lines, its stalls and its last errors. Owns no data."""

from svc.inside.feature import FEATURE

__all__ = ["FEATURE"]
