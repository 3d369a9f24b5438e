"""Builds the unsubscriber."""

from __future__ import annotations

from svc.mail.authentication.checking import Authenticator
from svc.mail.sending.tasks import Delivery
from svc.mail.unsubscribing import actions
from svc.mail.unsubscribing.unsubscriber import Unsubscriber
from svc.protocol.pinned import PinnedEgress
from svc.workspace import Workspace


def build(workspace: Workspace) -> None:
    workspace.service(Delivery).before_forgetting.append(actions.note_end)
    workspace.provide(
        Unsubscriber(
            store=workspace.store,
            authenticator=workspace.service(Authenticator),
            delivery=workspace.service(Delivery),
            egress=PinnedEgress(),
        )
    )
