"""The columns of a thread's row about the owner's own newest messages: the one sent, and the one drafted.

Owns ``mail_threads.sent``, ``last_sent_at``, ``draft`` and ``last_draft_at``; ``thread_rows.py`` calls
:func:`own_words` at each change of a thread. Sent and Drafts show these columns, in the order of time.
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
"""How many recipients are kept for a row; of the others only their number."""


def own_words(tx: ReadTx, thread_id: str, *, labels: Iterable[str]) -> dict[str, Value]:
    """The values of the columns. ``labels``: the labels of all the thread's messages."""
    carried = set(labels)
    found: dict[str, Value] = {}
    for label, name in OWN_LISTS.items():
        found |= _of(tx, thread_id, label=label, name=name) if label in carried else _nothing(name)
    return found


def _of(tx: ReadTx, thread_id: str, *, label: str, name: OwnList) -> dict[str, Value]:
    """The columns for one label. A message that is also in spam or trash does not count, nor does a draft as sent."""
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
