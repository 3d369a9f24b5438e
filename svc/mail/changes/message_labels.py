"""The labels that a message has with its queued changes applied."""

from __future__ import annotations

from collections.abc import Sequence

from svc.mail.changes import queries as change_queries
from svc.mail.model import Account, LabelChange
from svc.store import Tx


def with_pending(
    tx: Tx,
    account: Account,
    *,
    provider_message_id: str,
    labels: frozenset[str],
    confirmed: Sequence[LabelChange] = (),
) -> frozenset[str]:
    """Apply the queued changes of a message to ``labels``, which were read from the provider. ``confirmed``: changes
    that arrived there after the read; they are applied first."""
    arrived = [row for row in confirmed if row.provider_message_id == provider_message_id]
    for row in (
        *arrived,
        *change_queries.pending_for(tx, account_id=account.id, provider_message_id=provider_message_id),
    ):
        labels = (labels - row.remove) | row.add
    return labels
