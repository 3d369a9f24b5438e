"""Changes recorded events (``events``) and live updates (``outbox``) later: to give them to an owner, or to erase
words.

The store owns both tables and ``meta``. Their sequences only grow: the numbers that followers rely on stay when words
are erased.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from svc.store.arrays import json_array
from svc.store.transaction import ReadTx, Tx

LOOKED_AT_A_BATCH: Final = 5_000


def adopt(tx: Tx, user_id: str) -> None:
    """Give the first admin all rows that were recorded before any user existed."""
    tx.run("update events set audience = :user_id where audience is null", user_id=user_id)
    tx.run("update outbox set audience = :user_id where audience is null", user_id=user_id)


def erase_events(tx: Tx, *, types: str, field: str, value: str, after: int) -> int | None:
    """Delete the events whose type begins with ``types`` and whose payload has ``value`` in ``field``, a batch of rows
    per call. Returns where to continue, or ``None`` at the end."""
    until: int | None = tx.value(
        "select max(seq) from (select seq from events where seq > :after order by seq limit :limit)",
        after=after,
        limit=LOOKED_AT_A_BATCH,
    )
    if until is not None:
        tx.run(
            """
            delete from events where seq > :after and seq <= :until and type glob :types || '*'
                and json_extract(payload, '$.' || :field) = :value
            """,
            after=after,
            until=until,
            types=types,
            field=field,
            value=value,
        )
    return until


def empty_news(
    tx: Tx, *, kinds: Mapping[str, str], fields: Sequence[str], value: str, payload: Mapping[str, str], after: int
) -> int | None:
    """Replace the payload of live updates of these kinds by ``payload``, where one of ``fields`` has ``value``, a batch
    of rows per call. ``kinds`` maps each kind to its new one. The rows stay: a gap would mean a missed update. Returns
    where to continue, or ``None`` at the end."""
    until: int | None = tx.value(
        "select max(seq) from (select seq from outbox where seq > :after order by seq limit :limit)",
        after=after,
        limit=LOOKED_AT_A_BATCH,
    )
    if until is not None:
        tx.run(
            """
            update outbox set payload = :payload,
                kind = (select value from json_each(:kinds) where key = outbox.kind)
            where seq > :after and seq <= :until and kind in (select key from json_each(:kinds))
                and :value in (select json_extract(outbox.payload, '$.' || field.value) from json_each(:fields) field)
            """,
            after=after,
            until=until,
            payload=msgspec.json.encode(payload).decode(),
            kinds=msgspec.json.encode(kinds).decode(),
            fields=json_array(fields),
            value=value,
        )
    return until


def withhold_news(tx: Tx, *, audience: str, fields: Sequence[str], value: str) -> None:
    """Live updates to ``audience`` in which one of ``fields`` has ``value`` are no longer sent to anybody, not even to
    a client that reconnects and asks for what it missed."""
    tx.run(
        """
        update outbox set audience = null where audience = :audience
            and :value in (select json_extract(outbox.payload, '$.' || field.value) from json_each(:fields) field)
        """,
        audience=audience,
        fields=json_array(fields),
        value=value,
    )


def walk(tx: Tx, *, key: str, step: Callable[[int], int | None]) -> bool:
    """Do one step of a walk over numbered rows; its position is stored under ``key`` until it reaches the end.

    ``step`` gets the number after which to continue, and returns the last number it reached, or ``None`` at the end.
    Returns whether there is more.
    """
    until = step(int(noted(tx, key) or 0))
    if until is None:
        tx.run("delete from meta where key = :key", key=key)
        return False
    note(tx, key=key, value=str(until))
    return True


def noted(tx: ReadTx, key: str) -> str | None:
    """The value stored under ``key``: a small fact that some code needs after a restart."""
    value: str | None = tx.value("select value from meta where key = :key", key=key)
    return value


def note(tx: Tx, *, key: str, value: str) -> None:
    tx.run(
        "insert into meta (key, value) values (:key, :value) on conflict do update set value = :value",
        key=key,
        value=value,
    )
