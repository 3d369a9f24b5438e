"""The rows that metrics contributes."""

from __future__ import annotations

from svc.feature import Feature
from svc.metrics import house
from svc.metrics.routes import ROUTES

FEATURE = Feature(
    name="metrics",
    summary="The numbers of the running service, for who watches over it.",
    routes=ROUTES,
    metrics=house.METRICS,
)
