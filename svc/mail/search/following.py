"""Fills the index's queue: a durable consumer of ``mail-received``.

Messages are queued in the transaction that moves the cursor, so that each stored message is queued once, even after a
crash. This is fast, one row per message. While a whole mailbox is read in, newly arrived mail is queued a moment later
as the newest entry, and so is indexed first.
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
    """An ingest step: after threads were joined, their indexed messages are found under the thread that remains."""
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
