"""The labels that a message carries once what waits for the provider has arrived there."""

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
    """What a message carries once the changes on their way to the provider have arrived there; ``confirmed`` ones have,
    but only after ``labels`` were read there."""
    arrived = [row for row in confirmed if row.provider_message_id == provider_message_id]
    for row in (
        *arrived,
        *change_queries.pending_for(tx, account_id=account.id, provider_message_id=provider_message_id),
    ):
        labels = (labels - row.remove) | row.add
    return labels
