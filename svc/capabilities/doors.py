"""Finds the broker and its doors for a workspace."""

from __future__ import annotations

from collections.abc import Sequence

from svc.capabilities.broker import Broker, Door
from svc.capability import Grants
from svc.feature import Feature
from svc.store import Secrets, Store
from svc.workspace import Workspace


def broker_of(features: Sequence[Feature], *, store: Store, secrets: Secrets) -> Broker:
    """The broker of one boot, with the rows of all features."""
    return Broker(
        store=store,
        secrets=secrets,
        capabilities={row.name: row for feature in features for row in feature.capabilities},
        grants={feature.name: Grants(frozenset(feature.uses)) for feature in features if feature.uses},
    )


def door_of(workspace: Workspace, feature: str) -> Door:
    """The door of the feature of that name."""
    return workspace.service(Broker).door(feature)
