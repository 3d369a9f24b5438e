"""The labels that are keywords: those that a person made here, and those that messages carry."""

from __future__ import annotations

from svc.mail.providers.folders import KEYWORD
from svc.mail.providers.imap import roles
from svc.store import ReadTx, Tx


def named(tx: ReadTx, *, account_id: str) -> dict[str, str]:
    """Their names by their ids."""
    rows = tx.all(
        "select distinct value from mail_imap_places, json_each(keywords) where account_id = :id order by value",
        id=account_id,
    )
    made = tx.all("select label, name from mail_imap_keywords where account_id = :id order by label", id=account_id)
    carried = {str(label): roles.keyword_name(str(label)) for (label,) in rows if str(label).startswith(KEYWORD)}
    return carried | {str(label): str(name) for label, name in made}


def make(tx: Tx, *, account_id: str, label: str, name: str) -> None:
    tx.run(
        "insert into mail_imap_keywords (account_id, label, name) values (:account_id, :label, :name)",
        account_id=account_id,
        label=label,
        name=name,
    )
