"""The live updates of an account: its state, its progress, its badge; and the list of people who get updates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from svc.mail import wire as mail_wire
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts import wire as account_wire
from svc.mail.model import DEVICE_ID, Account
from svc.principal import Principal
from svc.store import ReadTx, Tx

ACCOUNTS_TOPIC: Final = "accounts"


def viewers(tx: ReadTx, account: Account) -> Iterator[tuple[str | None, Principal | None]]:
    """The people who get the account's updates: the audience, and the principal to read data for; ``None`` for the
    owner. Each gets a separate event, because they see different other accounts."""
    yield account.owner_id, None
    for user_id in account_queries.members(tx, account.id):
        yield user_id, Principal(user_id=user_id, device_id=DEVICE_ID, is_admin=False, via="session")


def emit_account(tx: Tx, account_id: str, *, device_id: str) -> None:
    """Notify clients that an account's state, progress or badge changed. Call it once, at the end of a transaction."""
    account = account_queries.account(tx, account_id)
    if account is None or account.erasing:
        return
    for audience, viewer in viewers(tx, account):
        tx.emit(
            topic=ACCOUNTS_TOPIC,
            kind="account.changed",
            id=account_id,
            payload={"account": mail_wire.to_builtins(account_wire.account_summary(tx, account, viewer))},
            audience=audience,
            device_id=device_id,
        )


def emit_removed(tx: Tx, account_id: str, *, audience: str | None, device_id: str) -> None:
    """Notify a person who saw the account that they can't see it any more."""
    tx.emit(topic=ACCOUNTS_TOPIC, kind="account.removed", id=account_id, audience=audience, device_id=device_id)
