"""Claims, disconnects and erases the rows of accounts."""

from __future__ import annotations

from svc.erase import Left
from svc.mail.accounts import news as account_news
from svc.mail.model import DEVICE_ID
from svc.store import Tx


def claim(tx: Tx, user_id: str) -> None:
    """Accounts that were connected before the instance was claimed become the first admin's."""
    tx.run("update mail_accounts set owner_id = :user_id where owner_id is null", user_id=user_id)


def still_granted(tx: Tx, *, account_id: str, notice: str) -> None:
    """Note that the account is disconnected here, but the provider could not be told, so the grant still exists."""
    changed = tx.run(
        "update mail_accounts set problem = :notice where id = :id and state = 'disconnected'",
        notice=notice,
        id=account_id,
    )
    if changed:
        account_news.emit_account(tx, account_id, device_id=DEVICE_ID)


def erase(tx: Tx, *, account_id: str) -> Left:
    """Delete the account's row, as the last step: labels, snoozes, references, failures and signature are deleted with
    it."""
    tx.run("delete from mail_accounts where id = :id and erasing", id=account_id)
    return "nothing"
