"""``/metrics``: the numbers of all features, for who watches over the service. Owns no table, and keeps no number."""

from svc.metrics.feature import FEATURE

__all__ = ["FEATURE"]
