"""The metrics of mail: the states of accounts, failed messages, and waiting changes. No account is named."""

from __future__ import annotations

from collections import Counter

from svc.mail.accounts import queries
from svc.metric import Metric, Values
from svc.store import ReadTx
from svc.workspace import Workspace


async def _accounts(workspace: Workspace) -> Values:
    return await workspace.store.read(_states)


def _states(tx: ReadTx) -> Values:
    states = Counter((account.provider, account.state) for account in queries.connected_accounts(tx))
    return {(provider, state): count for (provider, state), count in states.items()}


async def _failed(workspace: Workspace) -> Values:
    return {(): (await workspace.store.read(_pending))[1]}


async def _waiting(workspace: Workspace) -> Values:
    return {(): (await workspace.store.read(_pending))[0]}


def _pending(tx: ReadTx) -> tuple[int, int]:
    counts = queries.pending_counts(tx, [account.id for account in queries.connected_accounts(tx)]).values()
    return sum(waiting for waiting, _ in counts), sum(failed for _, failed in counts)


METRICS = (
    Metric(
        name="svc_mail_accounts",
        kind="gauge",
        help="Mail accounts by the kind of their provider and the state of their sync.",
        read=_accounts,
        labels=("provider", "state"),
    ),
    Metric(name="svc_mail_failed_messages", kind="gauge", help="Messages that sync passed over.", read=_failed),
    Metric(name="svc_mail_waiting_changes", kind="gauge", help="Changes on their way to providers.", read=_waiting),
)
