"""The writers of a thread, for its row: each once, in the order of their first mails. Owns ``mail_threads.writers``.

The senders of drafts, spam and trash count only in a thread that has no other mail. The column is empty if only one
person wrote: the row already names the sender. Which of the writers is "me" depends on the viewer, so it is decided
when the row is shown.
"""

from __future__ import annotations

from typing import Final

import msgspec

from svc.mail.model import Writer
from svc.store import ReadTx

AT_EACH_END: Final = 8
"""How many of the first writers, and of the last, are kept. A row names three."""

_decode: Final = msgspec.json.Decoder(tuple[Writer, ...]).decode


def writers_of(tx: ReadTx, thread_id: str, *, messages: int, visible: int) -> str:
    """The column's value. ``messages``: how many the thread has; ``visible``: how many of them are shown as mail."""
    if messages < 2:
        return "[]"
    # In SQLite, the bare columns come from the row that has the minimum.
    rows = tx.all(
        """
        select name, address, own, bulk from (
            select sender_name as name, sender_address as address, own, coalesce(headers ->> '$.bulk', 0) as bulk,
                min(printf('%020d', sent_at) || id) as first, count(*) over () as total,
                row_number() over (order by min(printf('%020d', sent_at) || id)) as place
            from mail_messages where thread_id = :id and (visible or :visible = 0)
            group by lower(sender_address)
        ) where place <= :most or place > total - :most order by place
        """,
        id=thread_id,
        visible=visible,
        most=AT_EACH_END,
    )
    if len(rows) < 2:
        return "[]"
    found = [Writer(name=name, address=address, own=bool(own), bulk=bool(bulk)) for name, address, own, bulk in rows]
    return msgspec.json.encode(found).decode()


def decode_writers(column: str) -> tuple[Writer, ...]:
    return () if column == "[]" else _decode(column)
