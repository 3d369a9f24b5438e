"""What a thread's row says of the owner's own newest message: the one sent, and the one drafted.

Owns ``mail_threads.sent``, ``last_sent_at``, ``draft`` and ``last_draft_at``; ``thread_rows.py`` calls
:func:`own_words` with each change to a thread. Sent and Drafts show these columns, in the order of time.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Final, cast

import msgspec

from svc.formats.person import Person
from svc.mail.model import HIDDEN_LABELS, OWN_LISTS, OwnList, Words
from svc.mail.threads import queries as thread_queries
from svc.store import ReadTx, Value, json_array

MAX_RECIPIENTS: Final = 8
"""So many are kept for a row, and how many more there are."""


def own_words(tx: ReadTx, thread_id: str, *, labels: Iterable[str]) -> dict[str, Value]:
    """The columns' values. ``labels``: those of all the thread's messages."""
    carried = set(labels)
    found: dict[str, Value] = {}
    for label, name in OWN_LISTS.items():
        found |= _of(tx, thread_id, label=label, name=name) if label in carried else _nothing(name)
    return found


def _of(tx: ReadTx, thread_id: str, *, label: str, name: OwnList) -> dict[str, Value]:
    """What is thrown away as well counts as neither sent nor drafted."""
    newest = tx.one(
        """
        select sender_address, headers, snippet, sent_at from mail_messages m
        where thread_id = :id and exists (select 1 from json_each(m.labels) where value = :label)
            and not exists (
                select 1 from json_each(m.labels) where value in (select value from json_each(:hiding))
            )
        order by sent_at desc, id desc limit 1
        """,
        id=thread_id,
        label=label,
        hiding=json_array(sorted(HIDDEN_LABELS - {label})),
    )
    if newest is None:
        return _nothing(name)
    sender, encoded, snippet, at = newest
    headers = thread_queries.decode_headers(cast(str, encoded))
    to: list[Person] = list(chain(headers.to, headers.cc, headers.bcc))
    words = Words(
        sender=cast(str, sender),
        to=tuple(to[:MAX_RECIPIENTS]),
        others=max(0, len(to) - MAX_RECIPIENTS),
        snippet=cast(str, snippet),
    )
    return {name: msgspec.json.encode(words).decode(), f"last_{name}_at": at}


def _nothing(name: OwnList) -> dict[str, Value]:
    return {name: None, f"last_{name}_at": None}
