"""The procedures of health. They join data from the database with data that only the running loops have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import trio

from svc.connections import credentials_of
from svc.errors import Conflict, NotFound
from svc.mail.accounts import queries as account_queries
from svc.mail.connecting.connection import Connections
from svc.mail.health import actions, queries, wire
from svc.mail.health.queries import Counts
from svc.mail.health.tasks import Eraser
from svc.mail.health.wire import (
    AccountInput,
    DisconnectedOut,
    DisconnectInput,
    FailureOut,
    HealthInput,
    HealthOut,
    PendingOut,
    QuotaOut,
)
from svc.mail.model import Account
from svc.mail.sync.engine import MailEngine
from svc.mail.sync.tasks import AccountLoop
from svc.mail.threads import wire as thread_wire
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure
from svc.store import ReadTx
from svc.workspace import RequestContext

STOP_DEADLINE_S: Final = 10.0
RETRY_ANSWER_S: Final = 20.0
"""How long a caller waits for a retry, which goes on in the background after that."""


async def health(context: RequestContext, wanted: HealthInput) -> list[HealthOut]:
    found = await context.workspace.store.read(_accounts, context.principal, account_id=wanted.account_id)
    engine = context.workspace.service(MailEngine)
    return [_with_loop(engine, account, counts) for account, counts in found]


async def failures(context: RequestContext, wanted: AccountInput) -> list[FailureOut]:
    return await context.workspace.store.read(_failures, context.principal, account_id=wanted.account_id)


async def pending(context: RequestContext, wanted: AccountInput) -> list[PendingOut]:
    return await context.workspace.store.read(_pending, context.principal, account_id=wanted.account_id)


async def retry_failures(context: RequestContext, wanted: AccountInput) -> Nothing:
    """Retry what failed. Returns when all is tried again, or after :data:`RETRY_ANSWER_S`, and then it goes on."""
    loop = await _loop(context, wanted.account_id)
    with trio.move_on_after(RETRY_ANSWER_S):
        await loop.retry_failures()
    return NOTHING


async def resync(context: RequestContext, wanted: AccountInput) -> Nothing:
    """Read the whole mailbox again, and correct what differs. Data that exists only here stays."""
    loop = await _loop(context, wanted.account_id)
    await context.workspace.store.write(actions.resync, context.principal, account_id=wanted.account_id)
    loop.hurry()
    return NOTHING


async def disconnect(context: RequestContext, wanted: DisconnectInput) -> DisconnectedOut:
    """Disconnect first, then revoke the grant, then erase: so svc has no access even after a crash in between."""
    workspace = context.workspace
    let_go = await workspace.store.write(
        actions.disconnect,
        credentials_of(workspace),
        context.principal,
        account_id=wanted.account_id,
        erase=wanted.erase,
    )
    with trio.move_on_after(STOP_DEADLINE_S, shield=True):
        await workspace.service(MailEngine).retire(wanted.account_id)
    workspace.service(Eraser).look()
    notice = let_go.notice
    connecting = workspace.service(Connections).kinds.get(let_go.provider)
    if let_go.tokens is not None and not (connecting and await connecting.grants.revoke(let_go.tokens)):
        notice = actions.NOT_REVOKED
        await workspace.store.write(actions.note_still_granted, account_id=wanted.account_id)
    return DisconnectedOut(revoked=notice is None, notice=notice)


async def _loop(context: RequestContext, account_id: str) -> AccountLoop:
    """The running loop of one of the caller's accounts."""
    account = await context.workspace.store.read(account_queries.account_for, context.principal, account_id=account_id)
    if account is None:
        raise NotFound(actions.NO_ACCOUNT)
    loop = context.workspace.service(MailEngine).loop(account_id)
    if loop is None:
        raise Conflict(f"{account.address} is not connected.")
    return loop


def _accounts(tx: ReadTx, principal: Principal, *, account_id: str | None) -> list[tuple[Account, Counts]]:
    found: Sequence[Account] = account_queries.own_accounts(tx, principal)
    if account_id is not None:
        found = [_account(tx, principal, account_id)]
    return [(account, queries.counts(tx, account_id=account.id)) for account in found]


def _with_loop(engine: MailEngine, account: Account, counts: Counts) -> HealthOut:
    loop = engine.loop(account.id)
    if loop is None:
        return wire.health_out(account, counts=counts, eta_s=None, quota=None, next_attempt_at=None, left_out=())
    if loop.storage_problem is not None:
        account = replace(account, state="waiting", problem=loop.storage_problem, cause="other")
    left = max(0, (account.progress_total or 0) - account.progress_done)
    quota = engine.quota(account.id)
    return wire.health_out(
        account,
        counts=counts,
        eta_s=loop.sync.rate.seconds_for(left),
        quota=None if quota is None else QuotaOut(used_last_minute=quota.used, limit_per_minute=quota.limit),
        next_attempt_at=loop.next_attempt_at,
        left_out=engine.left_out(account.id),
    )


def _failures(tx: ReadTx, principal: Principal, *, account_id: str) -> list[FailureOut]:
    account = _account(tx, principal, account_id)
    return [wire.failure_out(one) for one in queries.failures(tx, account_id=account.id)]


def _pending(tx: ReadTx, principal: Principal, *, account_id: str) -> list[PendingOut]:
    account = _account(tx, principal, account_id)
    known = thread_wire.labels_out(tx, account.id)
    return [wire.pending_out(one, known) for one in queries.pending(tx, account_id=account.id)]


def _account(tx: ReadTx, principal: Principal, account_id: str) -> Account:
    account = account_queries.account_for(tx, principal, account_id=account_id)
    if account is None:
        raise NotFound(actions.NO_ACCOUNT)
    return account


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.health",
        kind="query",
        access="authenticated",
        input=HealthInput,
        output=list[HealthOut],
        call=health,
        summary="How each account's sync stands: progress, counts, quota, trouble and its cause.",
    ),
    Procedure(
        name="mail.failures",
        kind="query",
        access="authenticated",
        input=AccountInput,
        output=list[FailureOut],
        call=failures,
        summary="Messages that failed alone and were passed over, and changes that were taken back.",
    ),
    Procedure(
        name="mail.retryFailures",
        kind="mutation",
        access="authenticated",
        input=AccountInput,
        output=Nothing,
        call=retry_failures,
        summary="Ask the provider now, also for everything that was passed over.",
    ),
    Procedure(
        name="mail.pending",
        kind="query",
        access="authenticated",
        input=AccountInput,
        output=list[PendingOut],
        call=pending,
        summary="Changes made here that the provider has not confirmed, the oldest first.",
    ),
    Procedure(
        name="mail.resync",
        kind="mutation",
        access="authenticated",
        input=AccountInput,
        output=Nothing,
        call=resync,
        summary="Read an account's whole mailbox again.",
    ),
    Procedure(
        name="mail.disconnect",
        kind="mutation",
        access="authenticated",
        input=DisconnectInput,
        output=DisconnectedOut,
        call=disconnect,
        summary="Let go of an account: its access is taken back, its local mail stays or is erased.",
    ),
)
