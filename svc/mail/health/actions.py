"""What a principal may do with an account as a whole: read it again, and (elsewhere) let go of it."""

from __future__ import annotations

from svc.errors import Conflict, NotFound
from svc.mail import counters, queries
from svc.principal import Principal
from svc.store import Tx


def resync(tx: Tx, principal: Principal, *, account_id: str) -> None:
    """Let go of the watermark, so that the next step sweeps. A sweep that runs is one already."""
    account = queries.account_for(tx, principal, account_id=account_id)
    if account is None:
        raise NotFound("There is no such account.")
    if account.state == "disconnected":
        raise Conflict(f"{account.address} is not connected.")
    tx.run("update mail_accounts set history_id = null where id = :id", id=account_id)
    counters.emit_account(tx, account_id, device_id=principal.device_id)
