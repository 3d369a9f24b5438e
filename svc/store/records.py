"""What was recorded (``events``) and what is told live (``outbox``), for those who hand it over or take words out.

The store owns both tables and ``meta``. Their sequences only grow: what followers count on stays when words go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from svc.store.arrays import json_array
from svc.store.transaction import ReadTx, Tx

LOOKED_AT_A_BATCH: Final = 5_000


def adopt(tx: Tx, user_id: str) -> None:
    """What happened before there was anybody happened to the first admin."""
    tx.run("update events set audience = :user_id where audience is null", user_id=user_id)
    tx.run("update outbox set audience = :user_id where audience is null", user_id=user_id)


def erase_events(tx: Tx, *, types: str, field: str, value: str, after: int) -> int | None:
    """Delete the events whose type begins with ``types`` and whose payload has ``value`` in ``field``, some rows at a
    time. Returns where to go on, if there is more."""
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
    """Replace what live updates of these kinds say by ``payload``, where one of ``fields`` has ``value``, some rows at
    a time; ``kinds`` also says what each is called then. The rows stay: a gap would mean that something was missed.
    Returns where to go on, if there is more."""
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
    """What live updates still tell ``audience`` where one of ``fields`` has ``value`` is told to nobody any more, also
    to who comes back and asks what was missed."""
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
    """One step of a walk over numbered rows; its place is kept under ``key`` until it has come to the end.

    ``step`` is told after which number to go on, and says up to which it came, or ``None`` at the end. Returns whether
    there is more.
    """
    until = step(int(noted(tx, key) or 0))
    if until is None:
        tx.run("delete from meta where key = :key", key=key)
        return False
    note(tx, key=key, value=str(until))
    return True


def noted(tx: ReadTx, key: str) -> str | None:
    """What was kept under ``key``: a small thing that somebody goes on with after a restart."""
    value: str | None = tx.value("select value from meta where key = :key", key=key)
    return value


def note(tx: Tx, *, key: str, value: str) -> None:
    tx.run(
        "insert into meta (key, value) values (:key, :value) on conflict do update set value = :value",
        key=key,
        value=value,
    )
