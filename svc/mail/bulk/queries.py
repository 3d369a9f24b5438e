"""Queries of bulk steps."""

from __future__ import annotations

from typing import Final, cast

import msgspec

from svc.clock import Millis
from svc.mail.bulk.model import BulkAct, BulkState, BulkStep, ChosenThread
from svc.mail.labelling.step import Changes
from svc.principal import Principal
from svc.store import ReadTx

MAX_SHOWN: Final = 20

_STEP: Final = "id, user_id, device_id, state, act, total, taken, passed, created_at"

_act_of = msgspec.json.Decoder(BulkAct).decode
_changes_of = msgspec.json.Decoder(Changes).decode


def step(tx: ReadTx, step_id: str) -> BulkStep | None:
    row = tx.one(f"select {_STEP} from mail_bulk_steps where id = :id", id=step_id)
    return None if row is None else _step(row)


def step_for(tx: ReadTx, principal: Principal, *, step_id: str) -> BulkStep | None:
    """A step of the principal. Nobody sees the steps of others."""
    row = tx.one(
        f"select {_STEP} from mail_bulk_steps where id = :id and user_id is :user_id",
        id=step_id,
        user_id=principal.user_id,
    )
    return None if row is None else _step(row)


def at_work(tx: ReadTx, principal: Principal) -> list[BulkStep]:
    """The principal's steps that are working or being taken back, the newest first."""
    rows = tx.all(
        f"""
        select {_STEP} from mail_bulk_steps
        where user_id is :user_id and state in ('working', 'undoing') order by created_at desc, id limit :limit
        """,
        user_id=principal.user_id,
        limit=MAX_SHOWN,
    )
    return [_step(row) for row in rows]


def next_at_work(tx: ReadTx) -> BulkStep | None:
    """The next step to work on: the one that has waited longest."""
    row = tx.one(
        f"select {_STEP} from mail_bulk_steps where state in ('working', 'undoing') order by moved_at, id limit 1"
    )
    return None if row is None else _step(row)


def worn_out(tx: ReadTx, *, chosen_before: Millis, done_before: Millis) -> str | None:
    """The id of a step that is not needed any more."""
    return cast(
        "str | None",
        tx.value(
            """
            select id from mail_bulk_steps where state = 'dropped'
                or (state in ('choosing', 'chosen') and moved_at < :chosen)
                or (state in ('done', 'stopped', 'undone') and moved_at < :done)
            limit 1
            """,
            chosen=chosen_before,
            done=done_before,
        ),
    )


def next_threads(tx: ReadTx, step_id: str, *, limit: int) -> list[tuple[int, ChosenThread]]:
    """The next threads of a step, each with its position."""
    rows = tx.all(
        """
        select place, thread_id, messages, last_message_at, counted from mail_bulk_threads
        where step_id = :id order by place limit :limit
        """,
        id=step_id,
        limit=limit,
    )
    return [
        (
            place,
            ChosenThread(thread_id=thread_id, messages=messages, last_message_at=at, counted=bool(counted)),
        )
        for place, thread_id, messages, at, counted in rows
    ]


def last_changes(tx: ReadTx, step_id: str) -> tuple[int, int, Changes] | None:
    """The newest batch that is not taken back: its position, how many threads it counted, and its changes."""
    row = tx.one(
        "select place, counted, changes from mail_bulk_changes where step_id = :id order by place desc limit 1",
        id=step_id,
    )
    return None if row is None else (cast(int, row[0]), cast(int, row[1]), _changes_of(cast(str, row[2])))


def _step(row: tuple[object, ...]) -> BulkStep:
    return BulkStep(
        id=cast(str, row[0]),
        user_id=cast("str | None", row[1]),
        device_id=cast(str, row[2]),
        state=cast("BulkState", row[3]),
        act=None if row[4] is None else _act_of(cast(str, row[4])),
        total=cast(int, row[5]),
        taken=cast(int, row[6]),
        passed=cast(int, row[7]),
        created_at=cast(int, row[8]),
    )
