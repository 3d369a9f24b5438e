"""Actions of a principal on a whole account: sync it anew, or disconnect it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from svc.connections import Credentials
from svc.errors import Conflict, NotFound
from svc.mail.accounts import letting_go, progress
from svc.mail.accounts import news as account_news
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts.actions import secret_name
from svc.mail.health import erasing
from svc.mail.model import Account
from svc.mail.providers.kinds import BY_PASSWORD, kind_of
from svc.mail.sending import settling
from svc.principal import Principal
from svc.store import SecretUnreadable, Tx

NOT_REVOKED: Final = (
    "The provider could not be told that access has ended. Nothing is left of it here; to end it there as well, remove "
    "this app from the third-party connections of your account at the provider."
)
_NOT_SENT: Final = "The account this mail was to be sent from was disconnected."

NO_ACCOUNT: Final = "There is no such account."


@dataclass(frozen=True, kw_only=True)
class LetGo:
    """``tokens``: the account's grant, which is stored nowhere any more, so that the caller can revoke it at
    ``provider``; ``None`` where there was none. ``notice``: why it can't be revoked."""

    tokens: bytes | None = field(default=None, repr=False)
    notice: str | None = None
    provider: str = ""


def disconnect(tx: Tx, credentials: Credentials, principal: Principal, *, account_id: str, erase: bool) -> LetGo:
    """Disconnect an account. After this commit nothing from the provider is stored, and svc has no access to it.

    Mail that waits to be sent from the account fails, with the reason. With ``erase`` nobody sees the account any more,
    and its rows are deleted later. Without it, its mail stays, and it can be connected again.
    """
    account = account_queries.account_for(tx, principal, account_id=account_id)
    if account is None:
        raise NotFound(NO_ACCOUNT)
    if account.state == "disconnected" and not erase:
        return LetGo(notice=account.problem)
    let_go = _take_tokens(tx, credentials, account)
    settling.fail_waiting(tx, account_id=account_id, reason=_NOT_SENT)
    if erase:
        erasing.forget_steps(tx, account)
    progress.move(tx, account, "disconnect", problem=let_go.notice, erasing=erase)
    if erase:
        _tell_removed(tx, account, principal)
    else:
        account_news.emit_account(tx, account_id, device_id=principal.device_id)
    return let_go


def _take_tokens(tx: Tx, credentials: Credentials, account: Account) -> LetGo:
    if kind_of(account).sign_in == "password":
        credentials.remove(tx, BY_PASSWORD.secret_name(account.address))
        return LetGo()
    name = secret_name(account.address)
    try:
        tokens = credentials.read(tx, name)
    except SecretUnreadable:  # the key was lost, and the grant with it: the account can be disconnected all the same
        credentials.remove(tx, name)
        return LetGo(notice=NOT_REVOKED)
    credentials.remove(tx, name)
    return LetGo(tokens=tokens, provider=account.provider)


def note_still_granted(tx: Tx, *, account_id: str) -> None:
    """Note that the account is disconnected, but the grant could not be revoked: the person can end it there."""
    letting_go.still_granted(tx, account_id=account_id, notice=NOT_REVOKED)


def _tell_removed(tx: Tx, account: Account, principal: Principal) -> None:
    for audience, _ in account_news.viewers(tx, account):
        account_news.emit_removed(tx, account.id, audience=audience, device_id=principal.device_id)


def resync(tx: Tx, principal: Principal, *, account_id: str) -> None:
    """Delete the sync cursor, so that the next step is a full sync. A full sync that already runs goes on."""
    account = account_queries.account_for(tx, principal, account_id=account_id)
    if account is None:
        raise NotFound(NO_ACCOUNT)
    if account.state == "disconnected":
        raise Conflict(f"{account.address} is not connected.")
    progress.forget_cursor(tx, account_id=account_id)
    account_news.emit_account(tx, account_id, device_id=principal.device_id)
