"""The rows that the export contributes."""

from svc.export.commands import COMMANDS
from svc.export.routes import ROUTES
from svc.feature import Feature

FEATURE = Feature(
    name="export",
    summary="Everything in open formats, out and into an empty home.",
    routes=ROUTES,
    commands=COMMANDS,
)
