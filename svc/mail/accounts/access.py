"""The access rule of mail: who may read an account, and who may act in it.

An account belongs to its owner. The owner may share it with named people, to read or to act; this shares nothing else
of the owner. ``own`` is needed for the account itself: its settings, its state, and its shares. Every statement that
finds mail for a person contains :data:`MAY_SEE`. Code that changes something calls :func:`access_of`, or gets the
account by ``account_for``, which requires ``own`` unless the caller asks for less.
"""

from __future__ import annotations

from typing import Final, Literal, cast

from svc.errors import Forbidden
from svc.mail.model import Account
from svc.principal import Principal
from svc.store import ReadTx, Value

Access = Literal["own", "act", "read"]
"""In order from most to least: each includes those after it."""

ORDER: Final[tuple[Access, ...]] = ("own", "act", "read")

# A device paired before the claim has no user yet.
MAY_SEE: Final = """
    (
        :everything or owner_id is :user_id
        or id in (select account_id from mail_shares where mail_shares.user_id = :user_id)
    ) and not erasing
"""
"""A condition on a row of ``mail_accounts``, which must have no alias in the statement."""

OWN: Final = "(:everything or owner_id is :user_id) and not erasing"
"""The same, for the caller's own accounts only."""

READABLE: Final = f"(select id from mail_accounts where {MAY_SEE})"
"""A subquery for the ids of the accounts that the caller may read."""

ACTABLE: Final = """
    (
        select id from mail_accounts where :everything or owner_id is :user_id
        union all select account_id from mail_shares where user_id = :user_id and access = 'act'
    )
"""

_REFUSALS: Final[dict[Access, str]] = {
    "own": "This account is shared with you: only its owner may do that.",
    "act": "This account is shared with you to read, not to change anything in it.",
    "read": "",
}


def who(principal: Principal) -> dict[str, Value]:
    """The parameters of the conditions above."""
    return {"everything": int(principal.sees_everything), "user_id": principal.user_id}


def access_of(tx: ReadTx, principal: Principal, account: Account) -> Access | None:
    """What the caller may do with the account; ``None``: to the caller it does not exist."""
    if principal.sees_everything or principal.user_id == account.owner_id:
        return "own"
    return cast(
        "Access | None",
        tx.value(
            "select access from mail_shares where account_id = :id and user_id = :user_id",
            id=account.id,
            user_id=principal.user_id,
        ),
    )


def allows(granted: Access | None, needed: Access) -> bool:
    return granted is not None and ORDER.index(granted) <= ORDER.index(needed)


def refuse(needed: Access) -> Forbidden:
    """The error for a person who may see the account, but not do this."""
    return Forbidden(_REFUSALS[needed])


def writer_of(principal: Principal, account: Account) -> str | None:
    """The owner of a draft in the account: the account's owner, or the member who writes it."""
    return account.owner_id if principal.sees_everything else principal.user_id
