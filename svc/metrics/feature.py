"""The rows that metrics contributes."""

from __future__ import annotations

from svc.feature import Feature
from svc.metrics import service_metrics
from svc.metrics.routes import ROUTES

FEATURE = Feature(
    name="metrics",
    summary="The numbers of the running service, for who watches over it.",
    routes=ROUTES,
    metrics=service_metrics.METRICS,
)
