"""The rows that notifications contribute."""

from __future__ import annotations

from svc.capabilities import door_of
from svc.config import Setting, text
from svc.feature import Feature
from svc.notifications import actions
from svc.notifications.arriving import CONSUMER, TOPIC
from svc.notifications.delivering import JOB, Pusher
from svc.notifications.migrations import MIGRATIONS
from svc.notifications.procedures import PROCEDURES
from svc.notifications.vapid import KEY_NAME, Vapid
from svc.protocol.pinned import PinnedEgress
from svc.settings import PUBLIC_ORIGIN
from svc.workspace import Workspace

NAME = "notifications"

CONTACT: Setting[str | None] = Setting(
    name="SVC_PUSH_CONTACT",
    parse=text,
    default=None,
    shown_default="SVC_PUBLIC_ORIGIN where it is https, else the address of the person",
    type="mailto: or https:",
    help="Whom push services can write to about our pushes (RFC 8292). Apple refuses made-up ones.",
)


def _build(workspace: Workspace) -> None:
    vapid = Vapid(
        door=door_of(workspace, NAME),
        store=workspace.store,
        clock=workspace.clock,
        contact=workspace.config[CONTACT] or _https(workspace.config[PUBLIC_ORIGIN]),
    )
    workspace.provide(Pusher(egress=PinnedEgress(), vapid=vapid))


def _https(origin: str | None) -> str | None:
    return origin if origin is not None and origin.startswith("https://") else None


FEATURE = Feature(
    name=NAME,
    summary="People are told of new mail: in the browser that is open, and by Web Push.",
    settings=(CONTACT,),
    migrations=MIGRATIONS,
    tables=("notify_preferences", "notify_accounts", "push_browsers", "push_queue"),
    erases=(actions.erase,),
    procedures=PROCEDURES,
    topics=(TOPIC,),
    uses=(KEY_NAME,),
    consumers=(CONSUMER,),
    jobs=(JOB,),
    build=_build,
)
