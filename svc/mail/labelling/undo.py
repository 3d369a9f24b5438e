"""The undo log: a person's newest steps, each with what it takes to take it back.

Owns the table ``mail_undo``. A step is recorded in the transaction that does it, for the user who did it; the log is
short, so that what is offered is what the person still remembers. How a kind of step is taken back is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import msgspec

from svc.clock import DAY_MS, Millis
from svc.principal import Principal
from svc.store import ReadTx, Tx

KEEP_STEPS: Final = 50
KEEP_MS: Final = DAY_MS

HELD_SEND: Final = "send"

_decode_ids = msgspec.json.Decoder(tuple[str, ...]).decode


@dataclass(frozen=True, kw_only=True)
class UndoRow:
    id: int
    kind: str
    what: str
    thread_ids: tuple[str, ...]
    inverse: bytes
    at: Millis


class HeldSend(msgspec.Struct, frozen=True):
    """A mail that waits a moment before it goes. The step is open as long as it does, whatever ends that."""

    outgoing_id: str


def record_held_send(tx: Tx, principal: Principal, *, outgoing_id: str, thread_id: str | None) -> None:
    inverse = HeldSend(outgoing_id=outgoing_id)
    thread_ids = () if thread_id is None else (thread_id,)
    record(tx, principal, kind=HELD_SEND, what="send", thread_ids=thread_ids, inverse=inverse)


def record(
    tx: Tx, principal: Principal, *, kind: str, what: str, thread_ids: Sequence[str], inverse: msgspec.Struct
) -> None:
    """Remember a step. ``kind`` is a row of ``reversals.py``, which knows what ``inverse`` means."""
    tx.run(
        """
        insert into mail_undo (user_id, kind, what, thread_ids, inverse, at)
        values (:user_id, :kind, :what, :thread_ids, :inverse, :now)
        """,
        user_id=principal.user_id,
        kind=kind,
        what=what,
        thread_ids=msgspec.json.encode(list(thread_ids)).decode(),
        inverse=msgspec.json.encode(inverse).decode(),
        now=tx.now,
    )
    tx.run(
        """
        delete from mail_undo where user_id is :user_id and (at < :oldest or id <= (
            select id from mail_undo where user_id is :user_id order by id desc limit 1 offset :keep
        ))
        """,
        user_id=principal.user_id,
        oldest=tx.now - KEEP_MS,
        keep=KEEP_STEPS,
    )


def forget(tx: Tx, principal: Principal, *, id: int) -> None:
    tx.run("delete from mail_undo where id = :id and user_id is :user_id", id=id, user_id=principal.user_id)


def steps(tx: ReadTx, principal: Principal) -> list[UndoRow]:
    """The person's steps, newest first."""
    rows = tx.all(
        """
        select id, kind, what, thread_ids, inverse, at from mail_undo
        where user_id is :user_id and at >= :oldest order by id desc limit :keep
        """,
        user_id=principal.user_id,
        oldest=tx.now - KEEP_MS,
        keep=KEEP_STEPS,
    )
    return [
        UndoRow(
            id=cast(int, row[0]),
            kind=cast(str, row[1]),
            what=cast(str, row[2]),
            thread_ids=_decode_ids(cast(str, row[3])),
            inverse=cast(str, row[4]).encode(),
            at=cast(int, row[5]),
        )
        for row in rows
    ]


def hand_over(tx: Tx, *, user_id: str) -> None:
    """What was done before there was anybody was done by the first admin."""
    tx.run("update mail_undo set user_id = :user_id where user_id is null", user_id=user_id)
