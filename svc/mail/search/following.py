"""What fills the index's queue: a durable consumer of ``mail-received``.

Queued in the transaction that moves the cursor, so that each stored message is queued once, whatever dies in between.
It is quick, a row a message: of a mailbox that is being read, what arrives meanwhile is queued a moment later, as the
newest, and thus found first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from svc.mail.search import actions
from svc.mail.sync.received import MAIL_RECEIVED
from svc.mail.sync.steps import StoredMessage
from svc.store import Consumer, Event, Tx
from svc.workspace import Workspace


class _Received(msgspec.Struct, frozen=True, rename="camel"):
    message_id: str


def queue_received(tx: Tx, events: Sequence[Event]) -> None:
    received = [msgspec.json.decode(one.payload, type=_Received).message_id for one in events]
    actions.queue(tx, message_ids=received)


def follow_joined(tx: Tx, stored: StoredMessage) -> None:
    """An ingest step: what is indexed of threads that were joined is found under the one that they are now."""
    if stored.joined:
        tx.run(
            """
            update mail_search set thread_id = :thread_id
            where message_id in (select id from mail_messages where thread_id = :thread_id)
            """,
            thread_id=stored.thread_id,
        )


CONSUMER: Final[Consumer[Workspace]] = Consumer(
    name=actions.CONSUMER_NAME,
    types=frozenset({MAIL_RECEIVED}),
    summary="Queues stored messages for the search index.",
    apply=queue_received,
)
