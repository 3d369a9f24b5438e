"""The rows that the description contributes."""

from __future__ import annotations

from svc.description import routes
from svc.feature import Feature

FEATURE = Feature(
    name="description",
    summary="What strangers need to know of the service: its routes and procedures, described and shown.",
    routes=routes.ROUTES,
    build=routes.build,
)
