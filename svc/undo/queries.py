"""Reads a person's steps, and those of them that can still be taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

import msgspec

from svc.clock import DAY_MS
from svc.principal import Principal
from svc.reversal import Reversal, UndoStep
from svc.store import ReadTx

KEEP_STEPS: Final = 50
KEEP_ROWS: Final = 500
"""Rows kept. A step that the client sends in several calls has a row for each."""

KEEP_MS: Final = DAY_MS

Reversals = Mapping[str, Reversal]
"""The reversals, by kind of step."""

_decode_ids = msgspec.json.Decoder(tuple[str, ...]).decode


def undoable(tx: ReadTx, principal: Principal, *, reversals: Reversals) -> list[UndoStep]:
    """The steps that the principal can take back, newest first. The calls of one group count as one step."""
    known = [(step, reversals.get(step.kind)) for step in steps(tx, principal)]
    still_open = [step for step, reversal in known if reversal is not None and reversal.is_open(tx, step)]
    by_group: dict[str | int, list[UndoStep]] = {}
    for step in still_open:
        by_group.setdefault(step.group or step.id, []).append(step)
    return [as_one(rows) for rows in by_group.values()]


def as_one(rows: Sequence[UndoStep]) -> UndoStep:
    """Joins the rows of one step, newest first, into one step."""
    concerns = dict.fromkeys(one for row in reversed(rows) for one in row.concerns)
    return replace(rows[0], concerns=tuple(concerns))


def steps(tx: ReadTx, principal: Principal) -> list[UndoStep]:
    """The rows of the principal's steps, newest first."""
    rows = tx.all(
        """
        select id, kind, what, concerns, inverse, at, group_id from undo_steps
        where user_id is :user_id and at >= :oldest order by id desc limit :keep
        """,
        user_id=principal.user_id,
        oldest=tx.now - KEEP_MS,
        keep=KEEP_ROWS,
    )
    return [
        UndoStep(
            id=cast(int, row[0]),
            kind=cast(str, row[1]),
            what=cast(str, row[2]),
            concerns=_decode_ids(cast(str, row[3])),
            inverse=cast(str, row[4]).encode(),
            at=cast(int, row[5]),
            group=cast("str | None", row[6]),
        )
        for row in rows
    ]
