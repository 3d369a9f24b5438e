"""A durable consumer: each mail that arrives is checked then, while its keys are there and before anybody reads it."""

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
    """What came with the whole mailbox is checked when it is read: it may be a hundred thousand."""
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
