"""Fills the queue with new mail: a durable consumer of ``mail-received``. A trigger queues pages.

Mail from a mailbox's past (a backfill) is skipped: it may be a million messages, and a run shows the cost before it
reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec

from svc.mail import MAIL_RECEIVED
from svc.meaning import queue
from svc.meaning.form import form_of
from svc.store import Consumer, Event
from svc.workspace import Workspace

NAME: Final = "meaning"


class _Received(msgspec.Struct, frozen=True, rename="camel"):
    message_id: str
    backfill: bool


async def follow(workspace: Workspace, events: Sequence[Event]) -> None:
    """At least once: an item that is already queued, or has its vectors, is not queued again."""
    received = [msgspec.json.decode(event.payload, type=_Received) for event in events]
    message_ids = [one.message_id for one in received if not one.backfill]
    is_on: bool = await workspace.store.read_small(queue.is_on_for_anybody)
    if message_ids and is_on:
        await workspace.store.write(partial(queue.queue_mail, run_id="", form=form_of(workspace).name), message_ids)


CONSUMER: Final[Consumer[Workspace]] = Consumer(
    name=NAME,
    types=frozenset({MAIL_RECEIVED}),
    summary="Queues mail that comes for search by meaning.",
    handle=follow,
)
