"""``/metrics``: the metrics of all features, for monitoring. Owns no table and stores no metric."""

from svc.metrics.feature import FEATURE

__all__ = ["FEATURE"]
