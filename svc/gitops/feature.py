"""The rows that gitops contributes."""

from __future__ import annotations

from svc.feature import Feature
from svc.gitops.migrations import MIGRATIONS
from svc.gitops.settings import SETTINGS

FEATURE = Feature(
    name="gitops",
    summary="Follows a git repository: its pages are managed pages here.",
    settings=SETTINGS,
    migrations=MIGRATIONS,
    tables=("gitops_state", "gitops_files"),
)
