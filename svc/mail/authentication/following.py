"""A durable consumer that checks each mail when it arrives, while its keys still exist and before anybody reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from svc.mail.authentication.checking import Authenticator
from svc.mail.sync.received import MAIL_RECEIVED
from svc.store import Consumer, Event
from svc.workspace import Workspace


class _Received(msgspec.Struct, frozen=True, rename="camel"):
    message_id: str
    own: bool
    backfill: bool


async def check_received(workspace: Workspace, events: Sequence[Event]) -> None:
    """Check new mail. Mail of a backfill is checked when it is read, because it can be a hundred thousand messages."""
    authenticator = workspace.service(Authenticator)
    for event in events:
        received = msgspec.json.decode(event.payload, type=_Received)
        if not (received.own or received.backfill):
            await authenticator.check(received.message_id)


CONSUMER: Final[Consumer[Workspace]] = Consumer(
    name="mail-authentication",
    types=frozenset({MAIL_RECEIVED}),
    summary="Checks who sent the mail that arrives.",
    handle=check_received,
)
