"""Queries of the audit."""

from __future__ import annotations

from typing import Final, cast

from svc.capabilities.model import AuditRow, Outcome, Use
from svc.store import ReadTx

PAGE_ROWS: Final = 100


def last_uses(tx: ReadTx) -> dict[str, Use]:
    """By name: when each capability was last acquired, and by whom."""
    rows = tx.all(
        """
        select name, at, actor from capability_audit where seq in (
            select max(seq) from capability_audit where outcome = 'granted' group by name
        )
        """
    )
    return {cast(str, name): Use(cast(int, at), cast(str, actor)) for name, at, actor in rows}


def audit(tx: ReadTx, *, name: str | None, before: int | None) -> list[AuditRow]:
    """The newest acquisitions, of one capability or all; ``before``: the ``seq`` at which the last page ended."""
    rows = tx.all(
        """
        select seq, at, name, actor, purpose, run_id, outcome from capability_audit
        where (:name is null or name = :name) and (:before is null or seq < :before)
        order by seq desc limit :limit
        """,
        name=name,
        before=before,
        limit=PAGE_ROWS,
    )
    return [
        AuditRow(
            seq=cast(int, seq),
            at=cast(int, at),
            name=cast(str, found),
            actor=cast(str, actor),
            purpose=cast(str, purpose),
            run_id=cast("str | None", run_id),
            outcome=cast(Outcome, outcome),
        )
        for seq, at, found, actor, purpose, run_id, outcome in rows
    ]
