"""The wire types of accounts."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from svc.clock import rfc3339_or_none
from svc.mail.accounts import own_addresses
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts.access import Access, access_of
from svc.mail.model import Account, AccountState
from svc.mail.providers.kind import SignIn
from svc.mail.providers.kinds import kind_of
from svc.mail.wire import Id
from svc.principal import Principal
from svc.protocol.rows import Wire
from svc.store import ReadTx

# Inputs


class SenderNameInput(Wire, frozen=True):
    """``name`` may be empty: then ``From`` has only the address."""

    account_id: Id
    name: str


class AddressInput(Wire, frozen=True):
    account_id: Id
    address: Annotated[str, msgspec.Meta(max_length=320)]


class NamedAddressInput(AddressInput, frozen=True):
    """``name`` may be empty: then ``From`` has the account's name."""

    name: str = ""


class SharesInput(Wire, frozen=True):
    account_id: Id


class ShareInput(Wire, frozen=True):
    account_id: Id
    user_id: Id
    access: Literal["read", "act"]


class UnshareInput(Wire, frozen=True):
    account_id: Id
    user_id: Id


# Outputs


class ShareOut(Wire, frozen=True):
    user_id: str
    name: str
    address: str
    access: Literal["read", "act"]
    since: str


class AddressOut(Wire, frozen=True):
    """``name`` is empty if ``From`` has the account's name. ``source``: the account itself, its provider, or a person
    who added it. ``confirmed``: mail may be sent from it. ``default``: new mail is sent from it."""

    address: str
    name: str
    source: own_addresses.Source
    confirmed: bool
    default: bool


class Progress(Wire, frozen=True):
    """``listing``: the list of the mailbox is being read, and no message is counted as read yet."""

    done: int
    total: int
    listing: bool


class AccountOut(Wire, frozen=True):
    """``pending``: local changes that are not at the provider yet; ``failed``: skipped messages.

    ``unread_twins``: of ``unread``, the threads that Unified shows (and counts) under another account.
    ``sender_name``: the name in ``From`` of its mail; ``None`` if it has none of its own.
    ``access``: what the caller may do with it. ``owner``: the name of the person who shares it, ``None`` for the
    caller's own account; ``shared_with``: with how many people the caller shares it. ``addresses``: all its addresses,
    only for callers who may send. ``sends``: whether its provider sends mail. ``sign_in``: how it is connected at its
    provider; ``None``: it has none, and is kept on this server alone.
    """

    id: str
    address: str
    provider: str
    state: AccountState
    unread: int
    last_synced_at: str | None
    progress: Progress | None
    problem: str | None
    messages: int
    pending: int
    failed: int
    unread_twins: int
    sender_name: str | None
    access: Access
    owner: str | None
    shared_with: int
    addresses: tuple[AddressOut, ...]
    sends: bool
    sign_in: SignIn | None


# Records to wire types


def account_summary(tx: ReadTx, account: Account, viewer: Principal | None = None) -> AccountOut:
    """The account as ``viewer`` sees it; ``None``: as its owner sees it."""
    access = "own" if viewer is None else access_of(tx, viewer, account) or "read"
    own = access == "own"
    kind = kind_of(account)
    pending, failed = account_queries.pending_counts(tx, [account.id])[account.id]
    return AccountOut(
        id=account.id,
        address=account.address,
        provider=account.provider,
        state=account.state,
        unread=account.unread_threads,
        last_synced_at=rfc3339_or_none(account.last_synced_at),
        progress=_progress(account),
        problem=account.problem,
        messages=account.messages,
        pending=pending,
        failed=failed,
        unread_twins=_unread_duplicates(tx, account, None if own else viewer),
        sender_name=account.sender_name or None,
        access=access,
        owner=None if own else account_queries.owner_name(tx, account),
        shared_with=account_queries.shared_count(tx, account.id) if own else 0,
        addresses=() if access == "read" else tuple(map(_address_out, own_addresses.addresses(tx, account))),
        sends=kind.sends,
        sign_in=kind.sign_in,
    )


def _unread_duplicates(tx: ReadTx, account: Account, member: Principal | None) -> int:
    return (
        account.unread_duplicates if member is None else account_queries.unread_duplicates_for(tx, member, account.id)
    )


def _address_out(one: own_addresses.OwnAddress) -> AddressOut:
    return AddressOut(
        address=one.address, name=one.name, source=one.source, confirmed=one.confirmed, default=one.is_default
    )


def _progress(account: Account) -> Progress | None:
    if account.full_sync_cursor is None and not account.is_listed:
        return None
    total = max(account.progress_total or 0, account.progress_done)
    return Progress(done=account.progress_done, total=total, listing=account.is_listed)
