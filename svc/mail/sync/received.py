"""The event of a message that was stored: the spec's ``mail-received``, once for each."""

from __future__ import annotations

from typing import Final

from svc.mail.model import DEVICE_ID, DRAFT, HIDDEN_LABELS, INBOX, is_own
from svc.mail.sync.steps import StoredMessage
from svc.store import Tx

MAIL_RECEIVED: Final = "mail-received"


def record_received(tx: Tx, stored: StoredMessage) -> None:
    """An ingest step. Own copies and backfill are marked, so that rules pass them by; so is what came to the inbox, as
    a message of a muted thread does not."""
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
