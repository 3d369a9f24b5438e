"""Builds the image proxy, and exports the claim of trusted senders."""

from __future__ import annotations

from svc.mail.images.actions import claim
from svc.mail.images.proxy import ImageProxy
from svc.protocol.pinned import PinnedEgress
from svc.workspace import Workspace

__all__ = ["build", "claim"]


def build(workspace: Workspace) -> None:
    workspace.provide(ImageProxy(PinnedEgress()))
