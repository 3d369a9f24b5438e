"""The labels that are no folders: those that a user made here, and those that messages carry."""

from __future__ import annotations

from collections.abc import Mapping

from svc.mail.providers.folders import KEYWORD
from svc.mail.providers.imap import labels, roles
from svc.store import ReadTx, Tx


def named(tx: ReadTx, *, account_id: str) -> dict[str, str]:
    """The names of these labels by their ids."""
    rows = tx.all(
        "select distinct value from mail_imap_places, json_each(keywords) where account_id = :id order by value",
        id=account_id,
    )
    made = tx.all("select label, name from mail_imap_keywords where account_id = :id order by label", id=account_id)
    carried = {str(label): roles.keyword_name(str(label)) for (label,) in rows if str(label).startswith(KEYWORD)}
    carried |= {str(label): labels.name_of(str(label)) for (label,) in rows if str(label).startswith(labels.OWN)}
    return carried | {str(label): str(name) for label, name in made}


def store_listed(tx: Tx, *, account_id: str, found: Mapping[str, str]) -> None:
    """Stores the names of all labels that the server lists. ``found``: names by label id."""
    rows = tx.all("select label, name from mail_imap_keywords where account_id = :id", id=account_id)
    before = {str(label): str(name) for label, name in rows}
    if before != found:
        tx.run("delete from mail_imap_keywords where account_id = :id", id=account_id)
        for label, name in found.items():
            make(tx, account_id=account_id, label=label, name=name)


def make(tx: Tx, *, account_id: str, label: str, name: str) -> None:
    tx.run(
        "insert into mail_imap_keywords (account_id, label, name) values (:account_id, :label, :name)",
        account_id=account_id,
        label=label,
        name=name,
    )
