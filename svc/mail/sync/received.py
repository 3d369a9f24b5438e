"""The event ``mail-received`` of the spec: recorded once for each message that is stored."""

from __future__ import annotations

from typing import Final

from svc.mail.model import DEVICE_ID, DRAFT, HIDDEN_LABELS, INBOX, is_own
from svc.mail.sync.steps import StoredMessage
from svc.store import Tx

MAIL_RECEIVED: Final = "mail-received"


def record_received(tx: Tx, stored: StoredMessage) -> None:
    """An ingest step. The event marks own copies and backfill, so that rules skip them. It also says whether the
    message is in the inbox: a message of a muted thread is not."""
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
            "inbox": INBOX in stored.labels and not stored.labels & HIDDEN_LABELS,
        },
        audience=stored.account.owner_id,
        device_id=DEVICE_ID,
    )
