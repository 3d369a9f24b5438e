"""Invariants of runs, steps and approvals, checked by ``svc fsck``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from svc.store import Invariant, ReadTx

_SHOWN: Final = 20


def _leases(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select id from runs where state = 'running'
            and (worker is null or token_digest is null or due_at is null or epoch = 0) limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"{run_id} is running without a lease" for (run_id,) in rows]


def _turns(tx: ReadTx) -> Iterable[str]:
    """A queued run has a due time. A waiting run has a due time, or a child that has not ended."""
    rows = tx.all(
        """
        select id, state from runs r where due_at is null and (state = 'queued' or state = 'waiting' and not exists (
            select 1 from run_steps s join runs c on c.parent_id = s.run_id and c.parent_key = s.key
            where s.run_id = r.id and s.state = 'waiting' and c.state in ('queued', 'running', 'waiting')
        )) limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"{run_id} is {state}, and nothing would ever take it up" for run_id, state in rows]


def _ends(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select id, state from runs where (state in ('done', 'failed', 'cancelled')) <> (ended_at is not null)
            or (state in ('failed', 'cancelled')) <> (error is not null)
            or (state in ('done', 'failed', 'cancelled') and due_at is not null)
        limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"{run_id} is {state}, and says of its end what can't be" for run_id, state in rows]


def _steps(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select run_id, key from run_steps s where (state = 'waiting') <> (ended_at is null)
            or (state = 'failed') <> (error is not null and state <> 'waiting')
            or (state = 'done' and output is null)
            or not exists (select 1 from runs r where r.id = s.run_id)
        limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"the step {key} of {run_id} says of itself what can't be" for run_id, key in rows]


def _attempts(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select distinct run_id, key from run_attempts a
        where not exists (select 1 from run_steps s where s.run_id = a.run_id and s.key = a.key) limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"{run_id} has tries of a step {key} that is not there" for run_id, key in rows]


def _children(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select c.id, c.parent_id from runs c left join runs p on p.id = c.parent_id
        where c.parent_id is not null and c.state in ('queued', 'running', 'waiting') and (
            p.id is null or p.state in ('done', 'failed', 'cancelled') or not exists (
                select 1 from run_steps s where s.run_id = p.id and s.key = c.parent_key and s.state = 'waiting'))
        limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"{run_id} goes on for {parent_id}, which does not wait for it" for run_id, parent_id in rows]


def _approvals(tx: ReadTx) -> Iterable[str]:
    """An approval is open exactly while its step waits. When the run ends, both are closed."""
    rows = tx.all(
        """
        select a.id, a.state from approvals a left join run_steps s on s.run_id = a.run_id and s.key = a.key
            left join runs r on r.id = a.run_id
        where (a.state = 'open' and (s.state is not 'waiting' or r.state not in ('queued', 'running', 'waiting')))
            or (a.state in ('approved', 'declined', 'expired') and s.state is 'waiting')
            or (a.state = 'open') <> (a.decided_at is null)
        limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"{approval_id} is {state}, and its step says otherwise" for approval_id, state in rows]


INVARIANTS: Final = (
    Invariant(name="runs.leases", check=_leases),
    Invariant(name="runs.turns", check=_turns),
    Invariant(name="runs.ends", check=_ends),
    Invariant(name="runs.steps", check=_steps),
    Invariant(name="runs.attempts", check=_attempts),
    Invariant(name="runs.children", check=_children),
    Invariant(name="runs.approvals", check=_approvals),
)
