"""What a principal may do with an account as a whole: read it again, or let go of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from svc.errors import Conflict, NotFound
from svc.mail import counters, queries, storing
from svc.mail.accounts import secret_name
from svc.mail.health import erasing
from svc.mail.model import Account
from svc.mail.sending import settling
from svc.principal import Principal
from svc.store import Secrets, SecretUnreadable, Tx

NOT_REVOKED: Final = (
    "Google could not be told that access has ended. Nothing is left of it here; to end it there as well, remove this "
    "app under your Google account's third-party connections."
)
_NOT_SENT: Final = "The account this mail was to be sent from was disconnected."

NO_ACCOUNT: Final = "There is no such account."


@dataclass(frozen=True, kw_only=True)
class LetGo:
    """``tokens``: the account's grant, kept nowhere any more, for the provider to take back; ``None`` where there was
    none. ``notice``: why it can't be taken back."""

    tokens: bytes | None = field(default=None, repr=False)
    notice: str | None = None


def disconnect(tx: Tx, secrets: Secrets, principal: Principal, *, account_id: str, erase: bool) -> LetGo:
    """From this commit on nothing is written that the provider says, and nobody here can ask it any more.

    What waits to be sent from the account fails, and says why. With ``erase`` nobody sees the account any more, and its
    rows follow. Without, its mail stays, and it can be connected again.
    """
    account = queries.account_for(tx, principal, account_id=account_id)
    if account is None:
        raise NotFound(NO_ACCOUNT)
    if account.state == "disconnected" and not erase:
        return LetGo(notice=account.problem)
    let_go = _take_tokens(tx, secrets, account)
    settling.fail_waiting(tx, account_id=account_id, reason=_NOT_SENT)
    if erase:
        erasing.forget_steps(tx, account)
    tx.run(
        """
        update mail_accounts set state = 'disconnected', problem = :notice, cause = null, erasing = :erasing
        where id = :id
        """,
        notice=let_go.notice,
        erasing=int(erase),
        id=account_id,
    )
    if erase:
        _tell_removed(tx, account, principal)
    else:
        counters.emit_account(tx, account_id, device_id=principal.device_id)
    return let_go


def _take_tokens(tx: Tx, secrets: Secrets, account: Account) -> LetGo:
    name = secret_name(account.address)
    try:
        tokens = secrets.read(tx, name)
    except SecretUnreadable:  # the key was lost, and the grant with it: that must not keep the account here
        secrets.delete(tx, name)
        return LetGo(notice=NOT_REVOKED)
    secrets.delete(tx, name)
    return LetGo(tokens=tokens)


def note_still_granted(tx: Tx, *, account_id: str) -> None:
    """Disconnected here, but the provider could not be told: the person can end it there."""
    changed = tx.run(
        "update mail_accounts set problem = :notice where id = :id and state = 'disconnected'",
        notice=NOT_REVOKED,
        id=account_id,
    )
    if changed:
        counters.emit_account(tx, account_id, device_id=storing.DEVICE_ID)


def _tell_removed(tx: Tx, account: Account, principal: Principal) -> None:
    tx.emit(
        topic=counters.ACCOUNTS_TOPIC,
        kind="account.removed",
        id=account.id,
        audience=account.owner_id,
        device_id=principal.device_id,
    )


def resync(tx: Tx, principal: Principal, *, account_id: str) -> None:
    """Let go of the watermark, so that the next step sweeps. A sweep that runs is one already."""
    account = queries.account_for(tx, principal, account_id=account_id)
    if account is None:
        raise NotFound(NO_ACCOUNT)
    if account.state == "disconnected":
        raise Conflict(f"{account.address} is not connected.")
    tx.run("update mail_accounts set history_id = null where id = :id", id=account_id)
    counters.emit_account(tx, account_id, device_id=principal.device_id)
