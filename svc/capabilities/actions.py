"""Writes the audit and deletes its old rows."""

from __future__ import annotations

from typing import Final

from svc.capabilities.model import Outcome
from svc.clock import DAY_MS
from svc.store import Tx

KEEP_MS: Final = 90 * DAY_MS
KEEP_ROWS: Final = 100_000
PRUNE_ROWS: Final = 1_000


def note(tx: Tx, *, name: str, actor: str, purpose: str, run_id: str | None, outcome: Outcome) -> None:
    tx.run(
        """
        insert into capability_audit (at, name, actor, purpose, run_id, outcome)
        values (:now, :name, :actor, :purpose, :run_id, :outcome)
        """,
        now=tx.now,
        name=name,
        actor=actor,
        purpose=purpose,
        run_id=run_id,
        outcome=outcome,
    )


def prune(tx: Tx) -> int:
    """Delete a batch of rows that are too old or too many. Returns how many."""
    return tx.run(
        """
        delete from capability_audit where seq in (
            select seq from capability_audit
            where at < :oldest or seq <= (select max(seq) from capability_audit) - :keep
            order by seq limit :limit
        )
        """,
        oldest=tx.now - KEEP_MS,
        keep=KEEP_ROWS,
        limit=PRUNE_ROWS,
    )
