"""Writes the rows of an account's labels, as its provider lists them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from svc.mail.providers.seam import ProviderLabel
from svc.store import Tx, json_array


def store(tx: Tx, *, account_id: str, label: ProviderLabel) -> None:
    tx.run(
        """
        insert into mail_labels (account_id, label_id, name, system, color)
        values (:account_id, :label_id, :name, :system, :color)
        on conflict do update set name = :name, system = :system, color = :color, gone = 0
        """,
        account_id=account_id,
        label_id=label.id,
        name=label.name,
        system=int(label.system),
        color=label.color,
    )


def store_listing(tx: Tx, *, account_id: str, labels: Iterable[ProviderLabel]) -> int:
    """Store all labels that the provider lists now. User labels that it no longer lists are marked as gone, system
    labels deleted. Returns how many are marked."""
    listed = {label.id: label for label in labels}
    for label in listed.values():
        store(tx, account_id=account_id, label=label)
    here = {"id": account_id, "listed": json_array(listed)}
    missing = "account_id = :id and label_id not in (select value from json_each(:listed))"
    tx.run(f"delete from mail_labels where {missing} and system", **here)
    tx.run(f"update mail_labels set gone = 1 where {missing}", **here)
    tx.run("update mail_accounts set labels_at = :now where id = :id", now=tx.now, id=account_id)
    return cast(int, tx.value("select count(*) from mail_labels where account_id = :id and gone", id=account_id))


def delete(tx: Tx, *, account_id: str, label_id: str) -> None:
    tx.run("delete from mail_labels where account_id = :id and label_id = :label_id", id=account_id, label_id=label_id)
