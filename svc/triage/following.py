"""Triage follows received mail as a durable consumer. A mail that is delivered again changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from svc.mail import MAIL_RECEIVED
from svc.models import Models
from svc.principal import Principal
from svc.rules import mail_prompt
from svc.runs import Dispatcher
from svc.store import Consumer, Event, ReadTx
from svc.triage import actions, queries
from svc.triage.model import THERE
from svc.workspace import Workspace


class _Received(msgspec.Struct, frozen=True, rename="camel"):
    message_id: str
    snippet: str
    backfill: bool


async def follow(workspace: Workspace, events: Sequence[Event]) -> None:
    for came in await workspace.store.read(_looked_at, events):
        given = None
        if came.asks and came.found is not None:
            given = {
                "message": came.message.id,
                "mail": await mail_prompt(workspace, came.found),
                "model": workspace.service(Models).name,
            }
        if await workspace.store.write(actions.take, came, given=given) and given is not None:
            workspace.service(Dispatcher).wake.call()


def _looked_at(tx: ReadTx, events: Sequence[Event]) -> list[actions.Came]:
    if not queries.anybody(tx):
        return []
    found = []
    for event in events:
        said = msgspec.json.decode(event.payload, type=_Received)
        came = None if said.backfill else actions.look(tx, said.message_id, snippet=said.snippet, seq=event.seq)
        if came is not None:
            found.append(came)
    return found


async def sort_what_is_there(workspace: Workspace, principal: Principal) -> None:
    """Sort the newest threads of the inbox when triage is switched on, by rules alone."""
    for thread_id in await workspace.store.read(actions.inbox, principal, limit=THERE):
        came = await workspace.store.read(actions.look_at_newest, principal, thread_id)
        if came is not None:
            await workspace.store.write(actions.take_what_is_there, came)


CONSUMER: Final[Consumer[Workspace]] = Consumer(
    name="triage",
    types=frozenset({MAIL_RECEIVED}),
    summary="Says of what kind the mail is that comes.",
    handle=follow,
)
