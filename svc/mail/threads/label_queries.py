"""Queries that find labels: by id, by name, all of an account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from svc.clock import Millis
from svc.mail.model import Label
from svc.mail.threads import queries as thread_queries
from svc.mail.threads.wire import SYSTEM_LABEL_NAMES, shown_name
from svc.store import ReadTx


def labels_of(tx: ReadTx, account_ids: Sequence[str]) -> list[tuple[str, Label]]:
    """``(account id, label)``: the provider's own labels first, then by name."""
    found = [
        (account_id, label) for account_id in account_ids for label in thread_queries.labels(tx, account_id).values()
    ]
    return sorted(found, key=lambda pair: (pair[0], not pair[1].system, shown_name(pair[1]).casefold()))


def label_of(tx: ReadTx, account_id: str, label_id: str) -> Label | None:
    """The label with this id. A system label is known even before the provider's first listing."""
    if label_id in SYSTEM_LABEL_NAMES:
        return Label(id=label_id, name=label_id, system=True, color=None)
    return thread_queries.labels(tx, account_id).get(label_id)


def label_named(tx: ReadTx, account_id: str, name: str) -> Label | None:
    """The label with this name, as people see it. Case does not matter, as at the provider itself."""
    wanted = name.casefold()
    for label in thread_queries.labels(tx, account_id).values():
        if wanted in {label.name.casefold(), shown_name(label).casefold()}:
            return label
    return None


def labels_are_old(tx: ReadTx, account_id: str, *, after_ms: Millis) -> bool:
    """Whether the provider's last listing of labels is that old. Also true if the wall clock has jumped back since."""
    listed_at = cast(int, tx.value("select labels_at from mail_accounts where id = :id", id=account_id) or 0)
    return not listed_at <= tx.now < listed_at + after_ms
