"""The life of a bulk step: select threads, start, work batch by batch, stop, take back, forget.

Each function is a transaction or a part of one, and bounded: no batch changes more than :data:`BATCH` threads, so that
other writers wait no longer than for one batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from svc import undo
from svc.clock import DAY_MS, HOUR_MS, Millis
from svc.errors import Conflict, Invalid, NotFound
from svc.ids import new_id
from svc.mail import wire as mail_wire
from svc.mail.bulk import changing, queries, wire
from svc.mail.bulk.model import BulkAct, BulkState, BulkStep, ChosenThread
from svc.mail.labelling import reversals
from svc.mail.labelling.actions import MAX_SNOOZE_MS
from svc.mail.labelling.step import Changes, Step
from svc.mail.threads.thread_rows import MAIL_TOPIC
from svc.principal import Principal
from svc.reversal import UndoStep
from svc.store import ReadTx, Tx

KIND: Final = "bulk"
BATCH: Final = 40
"""Threads that one transaction changes."""

CHOSEN_A_TIME: Final = 1_000
"""Rows of one transaction that stores or deletes selected threads."""

CHOICES_KEPT: Final = 5
"""Unused selections of one person that are kept, for example in several windows."""

CHOSEN_FOR_MS: Final = HOUR_MS
"""How long an unused selection is kept."""

KEPT_MS: Final = DAY_MS + HOUR_MS
"""How long a finished step is kept: longer than it can be taken back."""


class Inverse(msgspec.Struct, frozen=True):
    """The data of a bulk step in the undo log."""

    step_id: str


# Selecting


def begin_choice(tx: Tx, principal: Principal) -> str:
    """Begin a selection. Returns its id. Drops the person's oldest unused selections."""
    tx.run(
        """
        update mail_bulk_steps set state = 'dropped', moved_at = :now
        where user_id is :user_id and state in ('choosing', 'chosen') and id not in (
            select id from mail_bulk_steps where user_id is :user_id and state in ('choosing', 'chosen')
            order by created_at desc, id limit :kept
        )
        """,
        user_id=principal.user_id,
        kept=CHOICES_KEPT - 1,
        now=tx.now,
    )
    step_id = new_id("blk")
    tx.run(
        """
        insert into mail_bulk_steps (id, user_id, device_id, state, created_at, moved_at)
        values (:id, :user_id, :device_id, 'choosing', :now, :now)
        """,
        id=step_id,
        user_id=principal.user_id,
        device_id=principal.device_id,
        now=tx.now,
    )
    return step_id


def choose(tx: Tx, *, step_id: str, threads: Sequence[ChosenThread], first: int, last: bool) -> None:
    """Store more threads of a selection. ``first``: the position of the first of them. ``last``: they complete it."""
    if not tx.run(
        """
        update mail_bulk_steps set state = :state, total = total + :counted, moved_at = :now
        where id = :id and state = 'choosing'
        """,
        state="chosen" if last else "choosing",
        counted=sum(one.counted for one in threads),
        now=tx.now,
        id=step_id,
    ):
        raise Conflict("Something else was chosen meanwhile.")
    tx.run_many(
        """
        insert into mail_bulk_threads (step_id, place, thread_id, messages, last_message_at, counted)
        values (:step_id, :place, :thread_id, :messages, :at, :counted)
        """,
        [
            {
                "step_id": step_id,
                "place": first + at,
                "thread_id": one.thread_id,
                "messages": one.messages,
                "at": one.last_message_at,
                "counted": int(one.counted),
            }
            for at, one in enumerate(threads)
        ],
    )


# Working


def start(tx: Tx, principal: Principal, *, step_id: str, act: BulkAct, group: str | None = None) -> BulkStep:
    """Start an action on a selection. The first batch is done at once. The same call again returns the same step."""
    chosen = _own(tx, principal, step_id)
    if chosen.state != "chosen":
        if chosen.act == act and chosen.state in {"working", "done"}:
            return chosen
        raise Conflict("Something was done with this choice already. Choose again.")
    if act.do == "snooze" and (act.until is None or not tx.now < act.until <= tx.now + MAX_SNOOZE_MS):
        raise Invalid("A thread can be snoozed until a time to come, within five years.")
    if act.do in {"label", "unlabel", "file"} and not act.label:
        raise Invalid("Which label is meant?")
    tx.run(
        "update mail_bulk_steps set state = 'working', act = :act, moved_at = :now where id = :id",
        act=msgspec.json.encode(act).decode(),
        now=tx.now,
        id=step_id,
    )
    inverse = Inverse(step_id=step_id)
    undo.record(tx, principal, kind=KIND, what=changing.what(act), concerns=(), inverse=inverse, group=group)
    work(tx, _own(tx, principal, step_id))
    return _own(tx, principal, step_id)


def stop(tx: Tx, principal: Principal, *, step_id: str) -> BulkStep:
    """Stop a step. The changes that it has made stay, and can be taken back."""
    step = _own(tx, principal, step_id)
    if step.state == "working":
        _move(tx, step, state="stopped")
    return _own(tx, principal, step_id)


def go_on(tx: Tx) -> bool:
    """Do one batch of the next step, or delete some rows of an old one. Returns whether there may be more to do."""
    step = queries.next_at_work(tx)
    if step is None:
        return forget(tx)
    if step.state == "working":
        work(tx, step)
    else:
        work_back(tx, step)
    return True


def give_up(tx: Tx) -> None:
    """End the next step, because its batch can't be done, so that other people's steps go on."""
    step = queries.next_at_work(tx)
    if step is not None:
        _move(tx, step, state="stopped" if step.state == "working" else "undone")


def work(tx: Tx, step: BulkStep) -> None:
    """Do the next batch of a step."""
    assert step.act is not None
    rows = queries.next_threads(tx, step.id, limit=BATCH)
    passed = 0
    doing = Step(tx=tx, principal=principal_of(step))
    for _, chosen in rows:
        done = _change(doing, chosen, step.act)
        passed += not done and chosen.counted
    counted = sum(chosen.counted for _, chosen in rows)
    _keep(tx, step, doing.close(changing.what(step.act)), place=rows[0][0] if rows else 0, counted=counted)
    tx.run(
        "delete from mail_bulk_threads where step_id = :id and place <= :place",
        id=step.id,
        place=rows[-1][0] if rows else -1,
    )
    _move(tx, step, state="working" if len(rows) == BATCH else "done", taken=counted, passed=passed)


def work_back(tx: Tx, step: BulkStep) -> None:
    """Take back the newest batch that is not taken back yet."""
    found = queries.last_changes(tx, step.id)
    if found is None:
        _move(tx, step, state="undone")
        return
    place, counted, changes = found
    reversals.take_back(tx, principal_of(step), changes)
    tx.run("delete from mail_bulk_changes where step_id = :id and place = :place", id=step.id, place=place)
    _move(tx, step, state="undoing" if queries.last_changes(tx, step.id) else "undone", taken=-counted)


def principal_of(step: BulkStep) -> Principal:
    """The person who made the selection, without admin rights. Each batch checks anew what they may do."""
    return Principal(
        user_id=step.user_id,
        device_id=step.device_id,
        is_admin=False,
        via="unclaimed" if step.user_id is None else "session",
    )


def _change(doing: Step, chosen: ChosenThread, act: BulkAct) -> bool:
    """Change one thread. Returns whether it was done: not where the thread got new mail after it was selected."""
    opened = doing.thread(chosen.thread_id)
    if opened is None:
        return False
    row = opened.row
    if row.messages - row.drafts > chosen.messages or row.last_message_at > chosen.last_message_at:
        return False
    return changing.change(doing, opened, act)


def _keep(tx: Tx, step: BulkStep, changes: Changes, *, place: int, counted: int) -> None:
    if changes.messages or changes.snoozes or changes.mutes:
        tx.run(
            """
            insert into mail_bulk_changes (step_id, place, counted, changes)
            values (:step_id, :place, :counted, :changes)
            """,
            step_id=step.id,
            place=place,
            counted=counted,
            changes=msgspec.json.encode(changes).decode(),
        )


# Taking back


def take_back(tx: Tx, principal: Principal, undone: UndoStep) -> None:
    """Undo a step; it stops if it still works. The newest batch is taken back at once, the others one by one."""
    step = queries.step(tx, _step_id(undone))
    assert step is not None
    _move(tx, step, state="undoing")
    work_back(tx, step)


def is_open(tx: ReadTx, undone: UndoStep) -> bool:
    step = queries.step(tx, _step_id(undone))
    return step is not None and step.state in {"working", "done", "stopped"}


# Forgetting


def forget(tx: Tx) -> bool:
    """Delete some rows of a step that is not needed any more. Returns whether there was one."""
    now: Millis = tx.now
    step_id = queries.worn_out(tx, chosen_before=now - CHOSEN_FOR_MS, done_before=now - KEPT_MS)
    if step_id is None:
        return False
    gone = tx.run(
        """
        delete from mail_bulk_threads where step_id = :id and place in (
            select place from mail_bulk_threads where step_id = :id limit :limit
        )
        """,
        id=step_id,
        limit=CHOSEN_A_TIME,
    )
    gone += tx.run(
        """
        delete from mail_bulk_changes where step_id = :id and place in (
            select place from mail_bulk_changes where step_id = :id limit :limit
        )
        """,
        id=step_id,
        limit=BATCH,
    )
    if not gone:
        tx.run("delete from mail_bulk_steps where id = :id", id=step_id)
    return True


def claim(tx: Tx, user_id: str) -> None:
    """Give the steps that were made before the server had users to the first admin."""
    tx.run("update mail_bulk_steps set user_id = :user_id where user_id is null", user_id=user_id)


# Helpers


def _own(tx: ReadTx, principal: Principal, step_id: str) -> BulkStep:
    step = queries.step_for(tx, principal, step_id=step_id)
    if step is None or step.state in {"choosing", "dropped"}:
        raise NotFound("What was chosen is not known any more. Choose again.")
    return step


def _move(tx: Tx, step: BulkStep, *, state: BulkState, taken: int = 0, passed: int = 0) -> None:
    tx.run(
        """
        update mail_bulk_steps set state = :state, taken = max(0, taken + :taken), passed = passed + :passed,
            moved_at = :now
        where id = :id
        """,
        state=state,
        taken=taken,
        passed=passed,
        now=tx.now,
        id=step.id,
    )
    moved = queries.step(tx, step.id)
    assert moved is not None
    tx.emit(
        topic=MAIL_TOPIC,
        kind="bulk.changed",
        id=step.id,
        payload={"step": mail_wire.to_builtins(wire.bulk_out(moved))},
        audience=step.user_id,
        device_id=step.device_id,
    )


def _step_id(undone: UndoStep) -> str:
    return msgspec.json.decode(undone.inverse, type=Inverse).step_id
