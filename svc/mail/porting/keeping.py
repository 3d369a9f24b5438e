"""Puts mails that another feature has in memory into an account kept here: one batch, without a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from svc.errors import Invalid
from svc.mail.accounts import queries as account_queries
from svc.mail.model import Account
from svc.mail.porting import actions
from svc.mail.porting.kept import RunningDestination
from svc.mail.porting.model import Taken
from svc.mail.porting.sources import Item
from svc.mail.porting.storing import store
from svc.mail.porting.taking import LocalPreparer, Taker
from svc.mail.search.tasks import Indexer
from svc.mail.sync.engine import MailEngine
from svc.mail.sync.steps import IngestStep
from svc.principal import Principal
from svc.store import Tx
from svc.workspace import Workspace

MAX_MAILS: Final = 200
"""Mails per call, because they are stored in one transaction: all or none."""


async def keep_mails(
    workspace: Workspace, principal: Principal, *, name: str, mails: Sequence[Item], colors: Mapping[str, str]
) -> str:
    """Create the caller's account of that name if it does not exist, and store these mails if it has none. Returns its
    id. ``colors``: of their user labels, by name."""
    if len(mails) > MAX_MAILS:
        raise Invalid(f"At most {MAX_MAILS} mails at a time.")
    engine = workspace.service(MailEngine)
    account = await workspace.store.write(_account, principal, name=name)
    await engine.start_account(account.id)
    if account.messages:
        return account.id
    taker = Taker(
        preparer=LocalPreparer(
            account_id=account.id,
            blobs=workspace.blobs,
            threads=workspace.threads,
            processes=workspace.processes,
            clock=workspace.clock,
            log=workspace.log,
        ),
        destination=RunningDestination(account_id=account.id, store=workspace.store, engine=engine, colors=colors),
        threads=workspace.threads,
    )
    taken, _ = await taker.take(mails)
    if await workspace.store.write(_store, account_id=account.id, taken=taken, steps=engine.steps):
        await workspace.service(Indexer).stored(account.id, [one.incoming for one in taken if one.incoming is not None])
    return account.id


def _account(tx: Tx, principal: Principal, *, name: str) -> Account:
    account_id = actions.create_local(tx, principal, name=name)
    return actions.import_target(tx, principal, account_id=account_id)


def _store(tx: Tx, *, account_id: str, taken: Sequence[Taken], steps: Sequence[IngestStep]) -> bool:
    """Returns whether the mails were stored: not if another call stored some first."""
    account = account_queries.connected_account(tx, account_id)
    if account is None or account.messages:
        return False
    return store(tx, account_id=account_id, taken=taken, steps=steps).added > 0
