"""The rows that gitops contributes."""

from __future__ import annotations

from svc.feature import Feature

FEATURE = Feature(
    name="gitops",
    summary="Follows a git repository: its pages are managed pages here.",
)
