"""The procedures of accounts as such: which there are, and the names that their mail bears."""

from __future__ import annotations

from svc.mail.accounts import queries as account_queries
from svc.mail.accounts import sender_names
from svc.mail.accounts import wire as account_wire
from svc.mail.accounts.wire import AccountOut, SenderNameInput
from svc.mail.sync.engine import MailEngine
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure
from svc.store import ReadTx
from svc.workspace import RequestContext


async def accounts(context: RequestContext, wanted: Nothing) -> list[AccountOut]:
    found = await context.workspace.store.read(_accounts, context.principal)
    return [_engine(context).with_trouble(account) for account in found]


async def set_sender_name(context: RequestContext, wanted: SenderNameInput) -> Nothing:
    await context.workspace.store.write(
        sender_names.set_sender_name, context.principal, account_id=wanted.account_id, name=wanted.name
    )
    return NOTHING


def _accounts(tx: ReadTx, principal: Principal) -> list[AccountOut]:
    return [account_wire.account_summary(tx, account) for account in account_queries.accounts(tx, principal)]


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
)
