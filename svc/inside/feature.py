"""The rows that inside contributes."""

from __future__ import annotations

from svc.feature import Feature
from svc.inside.procedures import PROCEDURES

FEATURE = Feature(
    name="inside",
    summary="What runs in the service right now, what waits, and what went wrong last.",
    procedures=PROCEDURES,
)
