"""The live update that tells of an account: its state, its progress, its badge."""

from __future__ import annotations

from typing import Final

from svc.mail import wire as mail_wire
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts import wire as account_wire
from svc.store import Tx

ACCOUNTS_TOPIC: Final = "accounts"


def emit_account(tx: Tx, account_id: str, *, device_id: str) -> None:
    """Tell the clients that an account's state, progress or badge moved. Call it once, at the end of a transaction."""
    account = account_queries.account(tx, account_id)
    if account is None or account.erasing:
        return
    tx.emit(
        topic=ACCOUNTS_TOPIC,
        kind="account.changed",
        id=account_id,
        payload={"account": mail_wire.to_builtins(account_wire.account_summary(tx, account))},
        audience=account.owner_id,
        device_id=device_id,
    )
