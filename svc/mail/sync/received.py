"""The event of a message that was stored: the spec's ``mail-received``, once for each."""

from __future__ import annotations

from typing import Final

from svc.mail.model import DEVICE_ID, DRAFT, is_own
from svc.mail.sync.steps import StoredMessage
from svc.store import Tx

MAIL_RECEIVED: Final = "mail-received"


def record_received(tx: Tx, stored: StoredMessage) -> None:
    """An ingest step. Own copies and backfill are marked, so that rules pass them by."""
    if not stored.is_new:
        return
    message = stored.message
    tx.record(
        type=MAIL_RECEIVED,
        payload={
            "sender": message.sender.address,
            "subject": message.subject,
            "snippet": message.snippet,
            "accountId": stored.account.id,
            "messageId": stored.message_id,
            "threadId": stored.thread_id,
            "own": is_own(message.labels) or DRAFT in message.labels,
            "backfill": stored.backfill,
        },
        audience=stored.account.owner_id,
        device_id=DEVICE_ID,
    )
