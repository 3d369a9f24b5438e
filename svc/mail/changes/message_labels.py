"""The labels that one message carries, and the flags that follow from them."""

from __future__ import annotations

from collections.abc import Sequence

from svc.mail.changes import queries as change_queries
from svc.mail.model import DRAFT, HIDDEN_LABELS, INBOX, UNREAD, Account, LabelChange, is_own
from svc.store import Tx, json_array


def write_labels(tx: Tx, account: Account, *, message_id: str, labels: frozenset[str]) -> None:
    """Set one message's labels and the flags that follow from them. The caller refreshes its thread."""
    flags = flags_of(labels)
    tx.run(
        """
        update mail_messages set labels = :labels, in_inbox = :in_inbox, unread = :unread, visible = :visible,
            own = :own
        where id = :id and account_id = :account_id
        """,
        id=message_id,
        account_id=account.id,
        labels=encoded(labels),
        **flags,
    )


def flags_of(labels: frozenset[str]) -> dict[str, int]:
    hidden = bool(labels & HIDDEN_LABELS)
    return {
        "in_inbox": int(INBOX in labels and DRAFT not in labels),  # what is not sent yet was not received
        "unread": int(UNREAD in labels and not hidden),
        "visible": int(not hidden),
        "own": int(is_own(labels)),
    }


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


def encoded(labels: frozenset[str]) -> str:
    """As the column holds them."""
    return json_array(sorted(labels))
