"""What is kept of a look at a message's origin, and of what the DNS said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS, Millis
from svc.formats.authentication import Authentication
from svc.store import Tx

AGAIN_MS: Final = 10 * MINUTE_MS
"""When a message is looked at again whose keys could not be asked for."""
NONE_HERE_MS: Final = HOUR_MS
"""For so long a key that is not there is believed to be missing."""
SHORTEST_MS: Final = 5 * MINUTE_MS
LONGEST_MS: Final = DAY_MS


def keep(tx: Tx, *, message_id: str, found: Authentication, asked: bool) -> None:
    """For good, unless a key could not be asked for. Nothing where the message has gone meanwhile."""
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
    """``records``: what is there, and for how many milliseconds. What has passed its time goes on the way."""
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
