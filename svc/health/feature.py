"""The rows that health contributes."""

from __future__ import annotations

from svc.feature import Feature
from svc.health import engine, installation, kept, tools
from svc.health.procedures import PROCEDURES
from svc.health.routes import ROUTES

FEATURE = Feature(
    name="health",
    summary="Whether the service and its surroundings are well, and what to do where they are not.",
    routes=ROUTES,
    procedures=PROCEDURES,
    checks=(*installation.CHECKS, *kept.CHECKS, *engine.CHECKS, *tools.CHECKS),
)
