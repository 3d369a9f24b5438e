"""Deletes the imports when an account is erased."""

from __future__ import annotations

from svc.erase import Left
from svc.store import Tx


def erase(tx: Tx, *, account_id: str) -> Left:
    """Delete the account's imports. The imported uploads stay: they are the person's own files."""
    tx.run("delete from mail_imports where account_id = :id", id=account_id)
    return "nothing"
