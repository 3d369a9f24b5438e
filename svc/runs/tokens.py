"""Run tokens: whoever presents one acts for a run, as long as the token's lease lasts.

They are random, new with each lease, and kept as a digest. The internal token only opens the listener; the run token
identifies the run.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, replace
from typing import Final

from svc.capability import Grants
from svc.errors import Forbidden
from svc.principal import UNCLAIMED, Principal
from svc.protocol import Request
from svc.runs import queries
from svc.runs.model import RunRow
from svc.store import ReadTx
from svc.worker.terms import RUN_HEADER
from svc.workspace import Workspace

_TOKEN_BYTES: Final = 32


@dataclass(frozen=True, kw_only=True)
class RunGrant:
    """The run that a request of the worker plane acts for, and what that run may use."""

    run_id: str
    epoch: int
    principal: Principal
    grants: Grants
    calls: frozenset[str]


async def grant_of(workspace: Workspace, request: Request) -> RunGrant:
    """The run that the request acts for. Raises :class:`svc.errors.Forbidden`."""
    shown = request.headers.all(RUN_HEADER)
    if len(shown) != 1:
        raise Forbidden("This needs the token of a run in X-Svc-Run.", data={"reason": "no_run"})
    return await workspace.store.read(grant_in, shown[0])


def grant_in(tx: ReadTx, token: str) -> RunGrant:
    """The run whose newest lease has this ``token``. Raises :class:`svc.errors.Forbidden`."""
    run_id, _, _ = token.partition(".")
    row = queries.run(tx, run_id)
    if row is None or row.token_digest is None or not hmac.compare_digest(row.token_digest, digest(token)):
        raise Forbidden("No run has this token now.", data={"reason": "unknown_run"})
    return RunGrant(
        run_id=row.id,
        epoch=row.epoch,
        principal=principal_of(tx, row),
        grants=Grants(frozenset(row.capabilities)),
        calls=frozenset(row.calls),
    )


def principal_of(tx: ReadTx, row: RunRow) -> Principal:
    """The run's owner, never with admin rights."""
    return acting_for(tx, row.user_id, device_id=f"run:{row.id}")


def acting_for(tx: ReadTx, user_id: str | None, *, device_id: str) -> Principal:
    """The principal that acts for an owner, never with admin rights. Without an owner it sees everything until there is
    a user, and nothing from then on.
    """
    if user_id is None and tx.value("select 1 from users limit 1") is None:
        return replace(UNCLAIMED, device_id=device_id, is_admin=False)
    return Principal(user_id=user_id, device_id=device_id, is_admin=False, via="run")


def new_token(run_id: str) -> str:
    return f"{run_id}.{secrets.token_urlsafe(_TOKEN_BYTES)}"


def digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
