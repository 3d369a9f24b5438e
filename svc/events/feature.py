"""The rows that events contribute: one procedure, and the housekeeping of the outbox and of the database."""

from __future__ import annotations

from typing import Annotated, Final, cast

import msgspec

from svc.clock import DAY_MS, HOUR_MS, SECOND_MS, rfc3339
from svc.feature import Feature
from svc.job import Job
from svc.principal import Principal
from svc.protocol import Procedure, Wire
from svc.store import PRUNE_ROWS, ReadTx, prune, records
from svc.workspace import RequestContext, Workspace

OUTBOX_KEEP_MS: Final = 7 * DAY_MS
OUTBOX_KEEP_ROWS: Final = 50_000
PRUNE_S: Final = 600.0
ANALYSE_S: Final = HOUR_MS / SECOND_MS
MAX_SEQ: Final = 2**63 - 1  # the largest integer of SQLite


class RecentInput(Wire, frozen=True):
    """``after``: only events with a larger ``seq``; without it, the newest ``limit``."""

    type: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    after: Annotated[int, msgspec.Meta(ge=0, le=MAX_SEQ)] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 100


class EventOut(Wire, frozen=True):
    seq: int
    type: str
    at: str
    device_id: str
    payload: msgspec.Raw


def recent(tx: ReadTx, principal: Principal, *, wanted: RecentInput) -> list[EventOut]:
    """Oldest first."""
    newest_first = wanted.after is None
    rows = tx.all(
        f"""
        select seq, type, at, device_id, payload from events
        where seq > :after and (:type is null or type = :type)
            and (:everything or audience = :user_id or audience = '*')
        order by seq {"desc" if newest_first else "asc"} limit :limit
        """,
        after=wanted.after or 0,
        type=wanted.type,
        everything=int(principal.sees_everything),
        user_id=principal.user_id,
        limit=wanted.limit,
    )
    found = [
        EventOut(
            seq=cast(int, seq),
            type=cast(str, type_),
            at=rfc3339(cast(int, at)),
            device_id=cast(str, device_id),
            payload=msgspec.Raw(cast(str, payload).encode()),
        )
        for seq, type_, at, device_id, payload in rows
    ]
    return found[::-1] if newest_first else found


async def _recent(context: RequestContext, wanted: RecentInput) -> list[EventOut]:
    return await context.workspace.store.read(recent, context.principal, wanted=wanted)


async def _prune(workspace: Workspace) -> None:
    """Prunes the outbox of live updates, which serves clients that were away for a while. The events themselves
    stay."""
    while await workspace.store.write(prune, keep_ms=OUTBOX_KEEP_MS, keep_rows=OUTBOX_KEEP_ROWS) >= PRUNE_ROWS:
        pass


async def _analyse(workspace: Workspace) -> None:
    await workspace.store.analyse()


FEATURE = Feature(
    name="events",
    summary="The durable record of what happened.",
    claim=records.adopt,
    jobs=(
        Job(name="outbox", summary="Removes live updates that nobody asks for any more.", run=_prune, every_s=PRUNE_S),
        Job(
            name="statistics",
            summary="Tells the database how full its tables are, so that it finds rows in the shortest way.",
            run=_analyse,
            every_s=ANALYSE_S,
        ),
    ),
    procedures=(
        Procedure(
            name="events.recent",
            kind="query",
            access="authenticated",
            input=RecentInput,
            output=list[EventOut],
            call=_recent,
            summary="The newest events, or those after a sequence number, oldest first.",
        ),
    ),
)
