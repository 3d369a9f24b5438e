"""Shares an account with a person and ends that. The owner does both; a member may leave. Both take effect at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, cast

from svc import undo
from svc.clock import Millis
from svc.errors import Conflict, Invalid, NotFound
from svc.mail.accounts import news
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts import shares as share_rows
from svc.mail.model import Account
from svc.mail.sending import settling
from svc.principal import Principal
from svc.store import ReadTx, Tx, records

SharedAccess = Literal["read", "act"]

MAX_MEMBERS: Final = 50
"""People with whom an account is shared. Beyond: 409 `conflict`."""
_FIELDS: Final = ("accountId", "account.id", "draft.accountId", "outgoing.accountId")
"""The fields in which live updates name the account."""

_NOT_SENT: Final = "Whoever asked for this mail may not send from this account any more."

NO_ACCOUNT: Final = "There is no such account."


@dataclass(frozen=True, kw_only=True)
class Share:
    user_id: str
    name: str
    address: str
    access: SharedAccess
    since: Millis


def shares(tx: ReadTx, principal: Principal, *, account_id: str) -> list[Share]:
    """The people with whom one of the caller's own accounts is shared, sorted by name."""
    _own(tx, principal, account_id)
    rows = tx.all(
        """
        select s.user_id, u.name, u.email, s.access, s.since from mail_shares s join users u on u.id = s.user_id
        where s.account_id = :id order by u.name, u.email
        """,
        id=account_id,
    )
    return [
        Share(
            user_id=cast(str, user_id),
            name=cast(str, name),
            address=cast(str, address),
            access=cast(SharedAccess, access),
            since=cast(Millis, since),
        )
        for user_id, name, address, access, since in rows
    ]


def share(tx: Tx, principal: Principal, *, account_id: str, user_id: str, access: SharedAccess) -> None:
    """Let a person read the caller's account, or act in it. A second call replaces the access of the first."""
    account = _own(tx, principal, account_id)
    if account.owner_id is None:
        raise Conflict("Sign in first: as long as nobody has claimed this server, everybody sees all of it.")
    if user_id == account.owner_id:
        raise Invalid("The account is theirs already.")
    if not tx.value("select 1 from users where id = :id", id=user_id):
        raise NotFound("There is no such person.")
    before = tx.value("select access from mail_shares where account_id = :a and user_id = :u", a=account_id, u=user_id)
    if before is None and account_queries.shared_count(tx, account_id) >= MAX_MEMBERS:
        raise Conflict(f"An account can be shared with {MAX_MEMBERS} people.")
    share_rows.put(tx, account_id=account_id, user_id=user_id, access=access)
    if before == "act" and access == "read":
        _end_acting(tx, account_id=account_id, user_id=user_id)
    _record(tx, principal, account, user_id=user_id, access=access)
    news.emit_account(tx, account_id, device_id=principal.device_id)


def unshare(tx: Tx, principal: Principal, *, account_id: str, user_id: str) -> None:
    """End a person's access. After this commit they see nothing of the account: no list, no file, no live update. A
    member may do this for themselves."""
    account = account_queries.account_for(tx, principal, account_id=account_id, to="read")
    if account is None:
        raise NotFound(NO_ACCOUNT)
    if principal.user_id != user_id:
        account = _own(tx, principal, account_id)
    if not share_rows.remove(tx, account_id=account_id, user_id=user_id):
        raise NotFound("The account is not shared with them.")
    _end_acting(tx, account_id=account_id, user_id=user_id)
    records.withhold_news(tx, audience=user_id, fields=_FIELDS, value=account_id)
    news.emit_removed(tx, account_id, audience=user_id, device_id=principal.device_id)
    _record(tx, principal, account, user_id=user_id, access=None)
    news.emit_account(tx, account_id, device_id=principal.device_id)


def _own(tx: ReadTx, principal: Principal, account_id: str) -> Account:
    account = account_queries.account_for(tx, principal, account_id=account_id)
    if account is None:
        raise NotFound(NO_ACCOUNT)
    return account


def _end_acting(tx: Tx, *, account_id: str, user_id: str) -> None:
    """End a member's right to act: their mail that waits to be sent from the account fails, and they can't undo their
    steps there any more."""
    settling.fail_waiting(tx, account_id=account_id, reason=_NOT_SENT, sent_by=user_id)
    concerned = set(_threads_with_steps(tx, user_id))
    rows = tx.all(
        "select distinct thread_id from mail_acts where account_id = :a and user_id = :u", a=account_id, u=user_id
    )
    undo.forget_concerning(tx, user_id=user_id, ids=concerned & {cast(str, thread_id) for (thread_id,) in rows})


def _threads_with_steps(tx: ReadTx, user_id: str) -> Iterator[str]:
    for (one,) in tx.each(
        "select distinct c.value from undo_steps u, json_each(u.concerns) c where u.user_id = :user_id", user_id=user_id
    ):
        yield cast(str, one)


def _record(tx: Tx, principal: Principal, account: Account, *, user_id: str, access: SharedAccess | None) -> None:
    """Write an event for the owner. ``access`` is ``None`` where the account is not shared with them any more."""
    tx.record(
        type="mail-account-shared",
        payload={"accountId": account.id, "userId": user_id, "access": access, "by": principal.user_id},
        audience=account.owner_id,
        device_id=principal.device_id,
    )
