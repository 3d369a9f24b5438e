"""``mail.damage``: which parts of an account's mail are damaged, and why one can't be mended."""

from __future__ import annotations

from typing import Literal

from svc.clock import rfc3339
from svc.errors import NotFound
from svc.mail.accounts import queries as account_queries
from svc.mail.mending import queries
from svc.mail.mending.queries import DamagedPart
from svc.mail.wire import Id
from svc.principal import Principal
from svc.protocol import Procedure
from svc.protocol.rows import Wire
from svc.store import ReadTx
from svc.workspace import RequestContext


class DamageInput(Wire, frozen=True):
    account_id: Id


class DamagedOut(Wire, frozen=True):
    """``part``: which part of the message. ``name``: of an attachment. ``state``: ``waiting`` or ``lost``."""

    thread_id: str
    subject: str
    part: Literal["body", "raw", "attachment"]
    name: str | None
    state: str
    reason: str
    attempts: int
    found_at: str


async def damage(context: RequestContext, wanted: DamageInput) -> list[DamagedOut]:
    return await context.workspace.store.read(_damage, context.principal, account_id=wanted.account_id)


def _damage(tx: ReadTx, principal: Principal, *, account_id: str) -> list[DamagedOut]:
    if account_queries.account_for(tx, principal, account_id=account_id) is None:
        raise NotFound("There is no such account.")
    return [_out(part) for part in queries.damaged_parts(tx, account_id)]


def _out(part: DamagedPart) -> DamagedOut:
    return DamagedOut(
        thread_id=part.thread_id,
        subject=part.subject,
        part=part.part,
        name=part.name,
        state=part.state,
        reason=part.reason,
        attempts=part.attempts,
        found_at=rfc3339(part.found_at),
    )


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.damage",
        kind="query",
        access="authenticated",
        input=DamageInput,
        output=list[DamagedOut],
        call=damage,
        summary="Parts of an account's mail that are damaged on this server and not mended yet, and why.",
    ),
)
