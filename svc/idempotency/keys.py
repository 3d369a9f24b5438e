"""The stored keys: each with its owner, the action that it was used for, and the result."""

from __future__ import annotations

from typing import Final, NamedTuple

from svc.clock import DAY_MS
from svc.principal import Principal
from svc.store import Tx

KEEP_MS: Final = 30 * DAY_MS
"""How long a key is kept: longer than a client may hold an action back (static/offline/queue.js)."""
KEEP_KEYS: Final = 10_000
"""The newest keys of one person are kept."""


class Used(NamedTuple):
    """``fingerprint``: the hash of the procedure and its input; ``result``: the answer, as JSON."""

    fingerprint: bytes
    result: bytes


def used(tx: Tx, principal: Principal, key: str) -> Used | None:
    row = tx.one(
        "select fingerprint, result from idempotency_keys where user_id is :user_id and key = :key",
        user_id=principal.user_id,
        key=key,
    )
    if row is None:
        return None
    fingerprint, result = row
    return Used(fingerprint, result.encode())


def use(tx: Tx, principal: Principal, key: str, this: Used) -> None:
    """Stores the result under the key, and deletes keys that are too old or too many."""
    tx.run(
        """
        insert into idempotency_keys (user_id, key, fingerprint, result, at)
        values (:user_id, :key, :fingerprint, :result, :now)
        """,
        user_id=principal.user_id,
        key=key,
        fingerprint=this.fingerprint,
        result=this.result.decode(),
        now=tx.now,
    )
    tx.run(
        """
        delete from idempotency_keys where user_id is :user_id and (
            at < :oldest
            or id <= (select id from idempotency_keys where user_id is :user_id order by id desc limit 1 offset :keep)
        )
        """,
        user_id=principal.user_id,
        oldest=tx.now - KEEP_MS,
        keep=KEEP_KEYS,
    )


def hand_over(tx: Tx, user_id: str) -> None:
    """Keys from the time before there were users become the first admin's."""
    tx.run("update idempotency_keys set user_id = :user_id where user_id is null", user_id=user_id)
