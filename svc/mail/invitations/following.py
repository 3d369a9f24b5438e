"""A durable consumer that reads the calendar files of mail when it arrives, so that the dates of cancelled meetings are
free again at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from svc.mail.invitations import queries
from svc.mail.invitations.reading import InvitationReader
from svc.mail.sync.received import MAIL_RECEIVED
from svc.principal import system
from svc.store import Consumer, Event
from svc.workspace import Workspace

_LOOP: Final = system("mail-invitations")


class _Received(msgspec.Struct, frozen=True, rename="camel"):
    message_id: str
    own: bool


async def read_received(workspace: Workspace, events: Sequence[Event]) -> None:
    received = [msgspec.json.decode(event.payload, type=_Received) for event in events]
    message_ids = [one.message_id for one in received if not one.own]
    for message_id in await workspace.store.read(queries.with_calendars, message_ids=message_ids):
        await workspace.service(InvitationReader).read_received(_LOOP, message_id)


CONSUMER: Final[Consumer[Workspace]] = Consumer(
    name="mail-invitations",
    types=frozenset({MAIL_RECEIVED}),
    summary="Reads the invitations in mail that arrives.",
    handle=read_received,
)
