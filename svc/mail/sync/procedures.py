"""The procedures for accounts: they list them, and set the names and addresses that their mail is sent from."""

from __future__ import annotations

from functools import partial

from svc.mail.accounts import addressing, sender_names
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts import wire as account_wire
from svc.mail.accounts.wire import AccountOut, AddressInput, NamedAddressInput, SenderNameInput
from svc.mail.sync.engine import MailEngine
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure
from svc.store import ReadTx
from svc.workspace import RequestContext


async def accounts(context: RequestContext, wanted: Nothing) -> list[AccountOut]:
    who = context.principal
    key = ("mail.accounts", who.user_id, who.sees_everything)
    found = await context.workspace.store.read_kept(key, partial(_accounts, principal=who))
    return [_engine(context).with_trouble(account) for account in found]


async def set_sender_name(context: RequestContext, wanted: SenderNameInput) -> Nothing:
    await context.workspace.store.write(
        sender_names.set_sender_name, context.principal, account_id=wanted.account_id, name=wanted.name
    )
    return NOTHING


async def set_address(context: RequestContext, wanted: NamedAddressInput) -> Nothing:
    await context.workspace.store.write(
        addressing.set_address,
        context.principal,
        account_id=wanted.account_id,
        address=wanted.address,
        name=wanted.name,
    )
    return NOTHING


async def remove_address(context: RequestContext, wanted: AddressInput) -> Nothing:
    await context.workspace.store.write(
        addressing.remove_address, context.principal, account_id=wanted.account_id, address=wanted.address
    )
    return NOTHING


async def set_default_address(context: RequestContext, wanted: AddressInput) -> Nothing:
    await context.workspace.store.write(
        addressing.set_default, context.principal, account_id=wanted.account_id, address=wanted.address
    )
    return NOTHING


def _accounts(tx: ReadTx, principal: Principal) -> list[AccountOut]:
    found = account_queries.accounts(tx, principal)
    return [account_wire.account_summary(tx, account, principal) for account in found]


def _engine(context: RequestContext) -> MailEngine:
    return context.workspace.service(MailEngine)


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.accounts",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[AccountOut],
        call=accounts,
        summary="The caller's mail accounts with their sync state and unread badge.",
    ),
    Procedure(
        name="mail.setSenderName",
        kind="mutation",
        access="authenticated",
        input=SenderNameInput,
        output=Nothing,
        call=set_sender_name,
        summary="The name beside the address in From of an account's mail; empty for none.",
    ),
    Procedure(
        name="mail.setAddress",
        kind="mutation",
        access="authenticated",
        input=NamedAddressInput,
        output=Nothing,
        call=set_address,
        summary="Add another address that an account's mail may be from, or name it anew.",
    ),
    Procedure(
        name="mail.removeAddress",
        kind="mutation",
        access="authenticated",
        input=AddressInput,
        output=Nothing,
        call=remove_address,
        summary="Remove an address that was added to an account by hand.",
    ),
    Procedure(
        name="mail.setDefaultAddress",
        kind="mutation",
        access="authenticated",
        input=AddressInput,
        output=Nothing,
        call=set_default_address,
        summary="Which of an account's addresses its new mail is from.",
    ),
)
