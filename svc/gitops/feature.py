"""The rows that gitops contributes."""

from __future__ import annotations

from svc.feature import Feature
from svc.gitops import service
from svc.gitops.checks import CHECKS
from svc.gitops.commands import COMMANDS
from svc.gitops.conflict_procedures import PROCEDURES as ON_CONFLICTS
from svc.gitops.migrations import MIGRATIONS
from svc.gitops.model import TOKEN, TOPIC
from svc.gitops.procedures import PROCEDURES
from svc.gitops.settings import SETTINGS
from svc.gitops.webhook import ROUTES, SECRET

FEATURE = Feature(
    name="gitops",
    summary="Follows a git repository: its pages are managed pages here.",
    settings=SETTINGS,
    migrations=MIGRATIONS,
    tables=("gitops_state", "gitops_files", "gitops_conflicts"),
    routes=ROUTES,
    procedures=(*PROCEDURES, *ON_CONFLICTS),
    topics=(TOPIC,),
    checks=CHECKS,
    commands=COMMANDS,
    uses=(TOKEN, SECRET),
    build=service.build,
    boot=service.boot,
    subsystems=service.subsystems,
)
