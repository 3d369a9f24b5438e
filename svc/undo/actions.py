"""Records steps, and takes the newest one back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import msgspec

from svc.principal import Principal
from svc.reversal import UndoStep
from svc.store import Tx, json_array
from svc.undo.queries import KEEP_MS, KEEP_ROWS, KEEP_STEPS, Reversals, as_one, steps


@dataclass(frozen=True, kw_only=True)
class TakenBack:
    step: UndoStep
    draft_id: str | None


def record(
    tx: Tx,
    principal: Principal,
    *,
    kind: str,
    what: str,
    concerns: Sequence[str],
    inverse: msgspec.Struct,
    group: str | None = None,
) -> None:
    """Records a step of ``kind``, and deletes steps that are too old or too many. ``group``: the client's own name for
    a step that it sends in several calls."""
    tx.run(
        """
        insert into undo_steps (user_id, kind, what, concerns, inverse, at, group_id)
        values (:user_id, :kind, :what, :concerns, :inverse, :now, :group_id)
        """,
        user_id=principal.user_id,
        kind=kind,
        what=what,
        concerns=json_array(concerns),
        inverse=msgspec.json.encode(inverse).decode(),
        now=tx.now,
        group_id=group,
    )
    _forget_old(tx, principal)


def _forget_old(tx: Tx, principal: Principal) -> None:
    """Deletes old steps. A group is kept or deleted as a whole, except for one that alone has more rows than
    are kept."""
    tx.run(
        """
        delete from undo_steps where user_id is :user_id and (
            at < :oldest
            or coalesce(group_id, id) in (
                select coalesce(group_id, id) from undo_steps where user_id is :user_id
                group by coalesce(group_id, id) order by max(id) desc limit -1 offset :keep
            )
            or id <= (select id from undo_steps where user_id is :user_id order by id desc limit 1 offset :rows)
        )
        """,
        user_id=principal.user_id,
        oldest=tx.now - KEEP_MS,
        keep=KEEP_STEPS,
        rows=KEEP_ROWS,
    )


def take_back(tx: Tx, principal: Principal, *, reversals: Reversals) -> TakenBack | None:
    """Takes back the newest step that can be taken back, with all the calls of its group; ``None`` if there is none.
    Steps that can no longer be taken back are deleted."""
    taken: list[UndoStep] = []
    draft_id: str | None = None
    for step in steps(tx, principal):
        if taken and (step.group is None or step.group != taken[0].group):
            continue
        tx.run("delete from undo_steps where id = :id", id=step.id)
        reversal = reversals.get(step.kind)
        if reversal is not None and reversal.is_open(tx, step):
            draft_id = reversal.take_back(tx, principal, step) or draft_id
            taken.append(step)
        if taken and step.group is None:
            break
    return TakenBack(step=as_one(taken), draft_id=draft_id) if taken else None


def forget_concerning(tx: Tx, *, user_id: str | None, ids: Collection[str]) -> None:
    """Deletes the steps that concern only these ids: they can't be taken back any more."""
    tx.run(
        """
        delete from undo_steps where user_id is :user_id and json_array_length(concerns) > 0 and not exists (
            select 1 from json_each(undo_steps.concerns) c where c.value not in (select value from json_each(:ids))
        )
        """,
        user_id=user_id,
        ids=json_array(sorted(ids)),
    )


def hand_over(tx: Tx, user_id: str) -> None:
    """Steps from the time before there were users become the first admin's."""
    tx.run("update undo_steps set user_id = :user_id where user_id is null", user_id=user_id)
