"""Stores the results of origin checks, and the keys from the DNS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS, Millis
from svc.formats.authentication import Authentication
from svc.store import Tx

AGAIN_MS: Final = 10 * MINUTE_MS
"""After this time a message whose keys could not be asked for is checked again."""
NONE_HERE_MS: Final = HOUR_MS
"""How long a key that was not found counts as missing."""
SHORTEST_MS: Final = 5 * MINUTE_MS
LONGEST_MS: Final = DAY_MS


def keep(tx: Tx, *, message_id: str, found: Authentication, asked: bool) -> None:
    """Store a result. It expires only if a key could not be asked for. Stores nothing if the message is gone by now."""
    pending = asked and any(one.state == "unchecked" for one in found.signatures)
    tx.run(
        """
        insert into mail_authentication (message_id, found, asked, until)
        select id, :found, :asked, :until from mail_messages where id = :message_id
        on conflict do update set found = :found, asked = :asked, until = :until
        """,
        message_id=message_id,
        found=msgspec.json.encode(found).decode(),
        asked=asked,
        until=tx.now + AGAIN_MS if pending else None,
    )


def keep_keys(tx: Tx, *, records: Mapping[str, tuple[bytes | None, Millis]]) -> None:
    """Store keys, and delete those that have expired. ``records``: each record, and how many milliseconds it holds."""
    tx.run("delete from mail_dkim_keys where until <= :now", now=tx.now)
    tx.run_many(
        """
        insert into mail_dkim_keys (name, record, until) values (:name, :record, :until)
        on conflict do update set record = :record, until = :until
        """,
        [
            {
                "name": name,
                "record": record,
                "until": tx.now + (NONE_HERE_MS if record is None else min(max(lasts, SHORTEST_MS), LONGEST_MS)),
            }
            for name, (record, lasts) in records.items()
        ],
    )
