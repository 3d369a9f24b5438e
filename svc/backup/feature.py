"""The feature rows of backup."""

from __future__ import annotations

from svc.backup import service
from svc.backup.archive import TOPIC
from svc.backup.checks import CHECKS
from svc.backup.commands import COMMANDS
from svc.backup.procedures import PROCEDURES, ROUTES
from svc.backup.service import NAME
from svc.backup.settings import SETTINGS, rule
from svc.clock import HOUR_MS, SECOND_MS
from svc.feature import Feature
from svc.job import Job

FEATURE = Feature(
    name=NAME,
    summary="The database is archived continuously, and any moment of the last 14 days can be had back.",
    settings=SETTINGS,
    rules=(rule,),
    routes=ROUTES,
    procedures=PROCEDURES,
    topics=(TOPIC,),
    checks=CHECKS,
    commands=COMMANDS,
    jobs=(
        Job(name="base-backup", summary="Sends a whole copy of the database each night.", run=service.nightly),
        Job(
            name="archive-look",
            summary="Checks whether the archive has all that a restore needs.",
            run=service.check,
            every_s=HOUR_MS / SECOND_MS,
        ),
    ),
    build=service.build,
    boot=service.boot,
    subsystems=service.subsystems,
)
